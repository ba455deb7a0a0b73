/**
 * Turns LevelDB's and the file system's errors into ours: damage, a full disk, or another fault.
 *
 * The only place that reads the text of LevelDB's errors.
 */
import { DamagedError, StorageFault } from './errors.js';

/**
 * How LevelDB reports a table that is cut short, a file that is named but missing, and a sector
 * that cannot be read.
 */
const UNREADABLE = new RegExp(
  String.raw`IO error: .*(\.(ldb|sst|log)|CURRENT|MANIFEST-\d+): ` +
    '(Invalid argument|Input/output error|No such file or directory)',
);
const FULL_CODES = ['ENOSPC', 'EDQUOT'];
const FULL = /No space left on device|Disk quota exceeded/;

/** Runs `action`; throws DamagedError or StorageFault for whatever it throws. */
export async function guarded<T>(path: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    if (isDamage(error)) {
      throw new DamagedError(`${path} is damaged: ${textOf(error)}`, { cause: error });
    }
    throw faultOf(path, error);
  }
}

export function faultOf(path: string, error: unknown): StorageFault {
  const reason = isFull(error) ? 'disk full' : 'input/output';
  return new StorageFault(reason, `${reason} error at ${path}: ${textOf(error)}`, error);
}

/** The file is there or named, but cannot be what was written. */
export function isDamage(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_CORRUPTION') || UNREADABLE.test(textOf(error));
}

export function isFull(error: unknown): boolean {
  return (
    codesOf(error).some((code) => FULL_CODES.includes(String(code))) || FULL.test(textOf(error))
  );
}

export function isLocked(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_LOCKED');
}

/** All messages down the chain of causes, but for one that says the same again. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const cause = textOf(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message}: ${cause}`;
}

export function codesOf(error: unknown): readonly unknown[] {
  if (!(error instanceof Error)) return [];
  return ['code' in error ? error.code : undefined, ...codesOf(error.cause)];
}
