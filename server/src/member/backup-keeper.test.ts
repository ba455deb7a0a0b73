/**
 * Scheduled backups against what the machine does to them: the process that writes one is killed,
 * and files that should go, or be replaced, cannot be.
 */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeSnapshot } from '../offline/index.js';
import { ReplicatedState } from '../state/replicated-state.js';
import { BackupKeeper } from './backup-keeper.js';

const RULE = { newest: 1, days: 0 };

function keeperOf(directory: string): BackupKeeper {
  return new BackupKeeper({
    id: 1,
    directory,
    rule: RULE,
    reserveBytes: null,
    spaceOf: () => Promise.resolve(null),
    wallMs: () => 0,
  });
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'backup-keeper-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

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
    const directory = temporaryDirectory();
    const keeper = keeperOf(directory);
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
    await expect(keeper.save(open, 0)).rejects.toThrow(/ended by SIGKILL: .* where memory ends/);
    expect(closed).toBeGreaterThan(0);
  },
);

it('what cannot be removed is named, and everything else that should go is gone', async () => {
  const directory = temporaryDirectory();
  // No file system removes a directory as a file.
  mkdirSync(join(directory, 'snapshot.1.gz.sha256'));
  const others = [
    'snapshot.1.gz',
    'snapshot.2.gz',
    'snapshot.2.gz.sha256',
    '.member-1.part',
    '.member-1-8.part',
  ];
  const kept = ['.member-12.part', 'snapshot.3.gz', 'notes'];
  for (const name of [...others, ...kept]) writeFileSync(join(directory, name), '');
  const { removed, left } = await keeperOf(directory).prune();
  expect(removed).toBe(3);
  expect(left.map(({ path }) => path)).toEqual([join(directory, 'snapshot.1.gz')]);
  expect(left[0]?.reason).toMatch(/directory/);
  expect(readdirSync(directory).toSorted()).toEqual([...kept, 'snapshot.1.gz.sha256'].toSorted());
});

it('a link or a directory with the name of a backup takes the place of none', async () => {
  const directory = temporaryDirectory();
  const keeper = keeperOf(directory);
  for (const name of ['snapshot.7.gz', '.member-1-7.part']) mkdirSync(join(directory, name));
  symlinkSync('/dev/null', join(directory, 'snapshot.8.gz'));
  symlinkSync('snapshot.1.gz', join(directory, 'snapshot.9.gz'));
  symlinkSync('snapshot.1.gz', join(directory, '.member-1-9.part'));
  expect(await keeper.newestMs()).toBeNull();
  const path = join(directory, 'snapshot.1.gz');
  writeFileSync(path, '');
  utimesSync(path, 1, 1);
  expect(await keeper.newestMs()).toBe(1000);
  const { removed, left, passedOver } = await keeper.prune();
  const names = passedOver.map((each) => each.slice(directory.length + 1));
  expect(names).toEqual(['snapshot.7.gz', 'snapshot.8.gz', 'snapshot.9.gz']);
  expect([removed, left, readdirSync(directory).length]).toEqual([0, [], 6]);
});

it('a directory that is not there yet has nothing to remove', async () => {
  const keeper = keeperOf(join(temporaryDirectory(), 'later'));
  expect(await keeper.prune()).toEqual({ removed: 0, left: [], passedOver: [] });
});

/** Whether this process can make files immutable here. */
function canLock(): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'backup-lock-'));
  try {
    setImmutable(directory, true);
    setImmutable(directory, false);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function setImmutable(path: string, isImmutable: boolean): void {
  execFileSync('chattr', [isImmutable ? '+i' : '-i', path], { stdio: 'ignore' });
}

it.runIf(canLock())('a backup that is there already and is immutable counts as saved', async () => {
  const directory = temporaryDirectory();
  const keeper = keeperOf(directory);
  const state = new ReplicatedState();
  const path = join(directory, 'snapshot.0.gz');
  await writeSnapshot({ state }, path, { withChecksum: true });
  setImmutable(path, true);
  onTestFinished(() => setImmutable(path, false));
  await writeSnapshot({ state }, path, { withChecksum: true, part: join(directory, 'part') });
  expect(readdirSync(directory)).toEqual(['snapshot.0.gz', 'snapshot.0.gz.sha256']);
  // Another content is another backup, which cannot have the name.
  setImmutable(path, false);
  writeFileSync(path, 'other');
  setImmutable(path, true);
  await expect(writeSnapshot({ state }, path, { withChecksum: true })).rejects.toThrow(/not perm/);
  expect((await keeper.prune()).left).toEqual([]);
});
