/**
 * The directories of private copies: they are made, marked with their owner, and removed when the
 * owner has ended.
 *
 * A mark names the process that made the directory and its host. A directory without our mark is
 * never removed, nor is one that was made by a living process, another user, or another host that
 * shares the directory. The mark is written before anything else, so the next run finds what is
 * left of a run that is killed at any time. workspace.ts and the programs that make workspaces call
 * it.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'rookery-mutants-';
const MARK = 'owner.json';
const EXIT_INTERRUPTED = 130;
/** A program that was killed at this moment may still have written a file. */
const RETRIES_MAX = 5;

interface Owner {
  readonly pid: number;
  readonly host: string;
}

/** Makes a new directory below `parent`, marked as this process's own. */
export function newCopy(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, PREFIX));
  const owner: Owner = { pid: process.pid, host: hostname() };
  writeFileSync(join(folder, MARK), `${JSON.stringify(owner)}\n`);
  return folder;
}

/** Removes the copies of processes that have ended; returns which. */
export function removeLeftovers(parent = tmpdir()): readonly string[] {
  return removeWhere(parent, ({ pid }) => !isAlive(pid));
}

/**
 * Whatever ends this process, short of SIGKILL, also removes its copies. SIGINT and SIGTERM end it
 * with exit code 130.
 */
export function removeCopiesAtExit(): void {
  process.once('exit', () => removeWhere(tmpdir(), ({ pid }) => pid === process.pid));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(EXIT_INTERRUPTED));
  }
}

function removeWhere(parent: string, isRemoved: (owner: Owner) => boolean): readonly string[] {
  const folders = readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.startsWith(PREFIX))
    .map(({ name }) => join(parent, name))
    .filter((folder) => {
      const owner = ownerOf(folder);
      return owner !== null && owner.host === hostname() && isRemoved(owner);
    });
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true, maxRetries: RETRIES_MAX });
  }
  return folders;
}

/** Null for a directory without a mark, or with one that another user could have made. */
function ownerOf(folder: string): Owner | null {
  const mark = join(folder, MARK);
  // Another run that starts at the same time may remove the same leftovers.
  if (!existsSync(mark) || statSync(mark).uid !== process.getuid?.()) return null;
  try {
    const { pid, host }: Partial<Owner> = JSON.parse(readFileSync(mark, 'utf8'));
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host } : null;
  } catch {
    // The mark is incomplete, or gone by now: nobody can tell whose it was.
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
