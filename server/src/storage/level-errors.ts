/**
 * Turns LevelDB's errors into ours: damage, a lock that another process holds, or a fault.
 *
 * The only place that reads the text of LevelDB's errors, but for that of a full disk.
 */
import { codesOf, faultOf, textOf } from './disk-errors.js';
import { DamagedError } from './errors.js';

/**
 * How LevelDB reports a table that is cut short, a file that is named but missing, and a sector
 * that cannot be read.
 */
const UNREADABLE = new RegExp(
  String.raw`(?:\.(?:ldb|sst|log)|CURRENT|MANIFEST-\d+): ` +
    '(?:Invalid argument|Input/output error|No such file or directory)',
);

/** Runs `action` and turns everything that it throws into DamagedError or StorageFault. */
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

/** Whether a file exists, or is named, but cannot be what was written. */
export function isDamage(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_CORRUPTION') || isUnreadable(textOf(error));
}

function isUnreadable(text: string): boolean {
  return text.includes('IO error: ') && UNREADABLE.test(text);
}

export function isLocked(error: unknown): boolean {
  return codesOf(error).includes('LEVEL_LOCKED');
}
