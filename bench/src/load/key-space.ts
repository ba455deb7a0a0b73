/**
 * Where the znodes of a load are: `<root>/d0012/k345` is key 12345, with a thousand keys in each
 * directory.
 *
 * All names have one length, so that requests can be patched in place. A root is used by one load,
 * or by several that use the same keys. Pure.
 */
export interface KeySpace {
  readonly root: string;
  readonly keys: number;
  readonly valueBytes: number;
}

export const KEYS_PER_DIRECTORY = 1000;
export const KEYS_MAX = 10_000_000;
/** The placeholder for a key in a template; its digits begin at byte 2 and byte 8. */
export const KEY_PLACEHOLDER = '/d####/k###';
export const DIRECTORY_DIGITS_AT = 2;
export const KEY_DIGITS_AT = 8;
/** The byte 'k', which precedes a key's digits. */
export const KEY_LETTER = 0x6b;

export function keyPath(space: KeySpace, key: number): string {
  const rest = String(key % KEYS_PER_DIRECTORY).padStart(3, '0');
  return `${directoryPath(space, Math.floor(key / KEYS_PER_DIRECTORY))}/k${rest}`;
}

export function directoryPath(space: KeySpace, directory: number): string {
  return `${space.root}/d${String(directory).padStart(4, '0')}`;
}

export function directoryCount(space: KeySpace): number {
  return Math.ceil(space.keys / KEYS_PER_DIRECTORY);
}

/** The directory and the number within it, as digits to patch. */
export function directoryOf(key: number): number {
  return Math.floor(key / KEYS_PER_DIRECTORY);
}

/** The parent of the znodes that `connection` creates. */
export function parentPath(space: KeySpace, connection: number): string {
  return `${space.root}/c${String(connection).padStart(5, '0')}`;
}

/** The single parent under which all connections create. */
export function hotPath(space: KeySpace): string {
  return `${space.root}/hot`;
}
