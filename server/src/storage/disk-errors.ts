/**
 * Turns an error of the file system into a StorageFault, and tells a full disk from other faults.
 *
 * Knows the codes of the operating system and the texts that LevelDB puts in their place;
 * level-errors.ts adds what only LevelDB reports. Called by whatever in storage opens files and
 * directories; log-disk.ts and trash.ts below it throw the system's own errors.
 */
import { StorageFault } from './errors.js';

const FULL_CODES = ['ENOSPC', 'EDQUOT'];
const FULL = /No space left on device|Disk quota exceeded/;

/** Runs `action` and turns everything that it throws into a StorageFault. */
export async function orFault<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw faultOf(path, error);
  }
}

/** Returns the error itself if it is a StorageFault. */
export function faultOf(path: string, error: unknown): StorageFault {
  if (error instanceof StorageFault) return error;
  const reason = isFull(error) ? 'disk full' : 'input/output';
  return new StorageFault(reason, `${reason} error at ${path}: ${textOf(error)}`, error);
}

export function isFull(error: unknown): boolean {
  return (
    codesOf(error).some((code) => FULL_CODES.includes(String(code))) || FULL.test(textOf(error))
  );
}

/** The messages along the chain of causes, without repetitions. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = textOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

export function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  return ['code' in error ? error.code : undefined, ...codesOf(error.cause)];
}
