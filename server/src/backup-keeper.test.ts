// The process that writes a scheduled backup is killed: the reason says by what, and why mostly.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BackupKeeper } from './backup-keeper.js';

const RULE = { newest: 1, days: 0 };

/** Kills the process whose arguments name the directory. Needs Linux's /proc. */
function killWriterInto(directory: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) !== process.pid && commandOf(pid).includes(directory)) {
      process.kill(Number(pid), 'SIGKILL');
    }
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // It has ended meanwhile.
  }
}

it.runIf(process.platform === 'linux')(
  'a backup whose process is killed names memory',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'backup-keeper-'));
    const keeper = new BackupKeeper({
      id: 1,
      directory,
      rule: RULE,
      reserveBytes: null,
      spaceOf: () => Promise.resolve(null),
      wallMs: () => 0,
    });
    let closed = 0;
    const open = () =>
      Promise.resolve({
        zxid: 1,
        digest: null,
        async *records() {
          killWriterInto(directory);
          yield [];
        },
        async *batches() {},
        close: () => {
          closed += 1;
          return Promise.resolve();
        },
      });
    try {
      await expect(keeper.save(open, 0)).rejects.toThrow(/ended by SIGKILL: .* where memory ends/);
      expect(closed).toBeGreaterThan(0);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);
