/**
 * Bounds the paths at which znodes may be created, and therefore watched.
 *
 * Each change and each watch of a znode stores its path: in the log, in the events of all watchers,
 * in their tables. A frame has room for a path of a megabyte, and for nothing that needs one.
 * Longer paths that exist already, by an import or an older release, can be read, watched and
 * deleted.
 */
export const PATH_BYTES_MAX = 64 << 10;

/** In UTF-8, a code unit of a string takes three bytes at most. */
const UNIT_BYTES_MAX = 3;

export function isTooLong(path: string): boolean {
  if (path.length * UNIT_BYTES_MAX <= PATH_BYTES_MAX) return false;
  return Buffer.byteLength(path) > PATH_BYTES_MAX;
}
