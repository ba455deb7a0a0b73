/**
 * The longest path at which a znode may be created. Where none can come to be, nothing is watched.
 *
 * Whoever changes or watches a znode keeps its path: the log, the events of all watchers, their
 * tables. A frame has room for a path of a megabyte, and for nothing that needs one. Longer paths
 * that exist already, by an import or an older release, can be read, watched and deleted.
 */
export const PATH_BYTES_MAX = 64 << 10;

/** In UTF-8, a code unit of a string takes three bytes at most. */
const UNIT_BYTES_MAX = 3;

export function isTooLong(path: string): boolean {
  if (path.length * UNIT_BYTES_MAX <= PATH_BYTES_MAX) return false;
  return Buffer.byteLength(path) > PATH_BYTES_MAX;
}
