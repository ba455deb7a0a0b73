/**
 * Takes the scheduled backups of a member on this machine: room is checked, the member's state is
 * written to a process that makes the backup of it. What the rule does not keep is removed by
 * itself, so that a file which stays harms no backup.
 *
 * Made by `server.ts` where the config names a directory. Everything that stands against a backup
 * is an Error with a sentence; the schedule logs it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PeerId } from '@rookery/protocol';
import type { BackupTaker, PrunedBackups, SavedBackup } from '../driver/backup-schedule.js';
import { defaultReserve, type MeasureSpace } from '../driver/write-bounds.js';
import {
  backupsIn,
  encodedBackup,
  expiredBackups,
  type KeepRule,
  makeDirectory,
  type OpenedBackup,
  removeBackups,
} from '../offline/index.js';

interface BackupKeeperOptions {
  readonly id: PeerId;
  readonly directory: string;
  readonly rule: KeepRule;
  /** `diskReserveBytes`. */
  readonly reserveBytes: number | null;
  readonly spaceOf: MeasureSpace;
  readonly wallMs: () => number;
}

const PROCESS = '@rookery/server/backup-process';
/** A backup that takes longer has hung. */
const LONGEST_MS = 3 * 3_600_000;
const REASON_CHARACTERS_MAX = 1000;

export class BackupKeeper implements BackupTaker {
  readonly #options: BackupKeeperOptions;
  readonly #stopping = new AbortController();

  constructor(options: BackupKeeperOptions) {
    this.#options = options;
  }

  async newestMs(): Promise<number | null> {
    const found = await backupsIn(this.#options.directory).catch(() => null);
    return (found?.backups ?? []).reduce<number | null>(
      (newest, { writtenMs }) => Math.max(newest ?? 0, writtenMs),
      null,
    );
  }

  async save(open: () => Promise<OpenedBackup>, treeBytes: number): Promise<SavedBackup> {
    const { directory } = this.#options;
    await makeDirectory(directory);
    await this.#requireRoom(treeBytes);
    const source = await open();
    try {
      const path = join(directory, `snapshot.${source.zxid.toString(16)}.gz`);
      return { ...(await this.#write(source, path)), path };
    } finally {
      await source.close();
    }
  }

  async prune(): Promise<PrunedBackups> {
    const { directory, rule, wallMs } = this.#options;
    // It is made for the first backup.
    if (!existsSync(directory)) return { removed: 0, left: [], passedOver: [] };
    const entries = await readdir(directory, { withFileTypes: true });
    const files = entries.filter((each) => each.isFile()).map(({ name }) => name);
    const parts = files.filter((name) => this.#isPart(name));
    const { backups, passedOver } = await backupsIn(directory);
    const expired = expiredBackups(backups, rule, wallMs());
    const left = await removeBackups([
      ...parts.map((name) => ({ path: join(directory, name) })),
      ...expired,
    ]);
    return { removed: parts.length + expired.length - left.length, left, passedOver };
  }

  /**
   * A process that was killed leaves its file behind. The next one has another name, because such a
   * file may be one that cannot be removed.
   */
  get #partStem(): string {
    return `.member-${this.#options.id}`;
  }

  #isPart(name: string): boolean {
    const stem = this.#partStem;
    return (name.startsWith(`${stem}-`) || name.startsWith(`${stem}.`)) && name.endsWith('.part');
  }

  stop(): void {
    this.#stopping.abort(new Error('the member stops'));
  }

  /** A backup is at most as large as the tree in memory; the disk keeps its reserve. */
  async #requireRoom(treeBytes: number): Promise<void> {
    const { directory, reserveBytes, spaceOf } = this.#options;
    const space = await spaceOf(directory);
    if (space === null) return;
    const { freeBytes, totalBytes } = space;
    const reserve = reserveBytes ?? defaultReserve(totalBytes);
    const needed = reserve + treeBytes;
    if (freeBytes >= needed) return;
    throw new Error(
      `the disk of ${directory} has ${freeBytes} bytes free: a backup may take ${treeBytes}, ` +
        `and ${reserve} stay free`,
    );
  }

  async #write(source: OpenedBackup, path: string): Promise<Omit<SavedBackup, 'path'>> {
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(LONGEST_MS)]);
    const file = createRequire(import.meta.url).resolve(PROCESS);
    const { directory, wallMs } = this.#options;
    const part = join(directory, `${this.#partStem}-${wallMs()}.part`);
    const child = spawn(process.execPath, [file, path, part], {
      signal,
      killSignal: 'SIGKILL',
      stdio: 'pipe',
    });
    // Without a free file descriptor there are no streams either, and the error comes by itself.
    if (child.pid === undefined) throw (await once(child, 'error').catch((error) => [error]))[0];
    let answer = '';
    let reason = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      reason = (reason + text).slice(0, REASON_CHARACTERS_MAX);
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', (error) => reject(signal.aborted ? this.#abortedBecause() : error));
      child.once('close', (code, killedBy) => {
        if (code === 0) resolve();
        else reject(new Error(reason.trim() || endOf(killedBy)));
      });
    });
    // The message of the process says more than the error that its input was closed.
    const [written, end] = await Promise.allSettled([
      // What the process does with it afterwards needs nothing of the member's log.
      pipeline(Readable.from(encodedBackup(source)), child.stdin).finally(() => source.close()),
      ended,
    ]);
    if (end.status === 'rejected') throw end.reason;
    if (written.status === 'rejected') throw written.reason;
    return parsed(answer);
  }

  #abortedBecause(): Error {
    if (this.#stopping.signal.aborted) return new Error('the member stops');
    return new Error('it had not ended after three hours, as where no processor is ever idle');
  }
}

function parsed(answer: string): Omit<SavedBackup, 'path'> {
  const { zxid, znodes, bytes }: Record<string, unknown> = JSON.parse(answer);
  return { zxid: Number(zxid), znodes: Number(znodes), bytes: Number(bytes) };
}

/** Why a process has ended that said nothing, by the signal that ended it. */
function endOf(killedBy: NodeJS.Signals | null): string {
  const what = 'the process that writes the backup';
  if (killedBy === null) return `${what} has ended without a reason`;
  const ended = `${what} was ended by ${killedBy}`;
  if (killedBy !== 'SIGKILL') return ended;
  return `${ended}: mostly the kernel does so where memory ends, and it holds a copy of the tree`;
}
