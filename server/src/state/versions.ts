/**
 * The arithmetic of a znode's counters, in one place for prepare (which decides the new version)
 * and for the tree (which asserts it). All are int32 and overflow as Java's do.
 */

/**
 * The version after `version`. Never -1, which means "any version" in a request (ZOOKEEPER-4743).
 */
export function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}

/** What clients see as cversion: creates plus deletes. `creates` is the internal counter. */
export function visibleCversion(creates: number, childCount: number): number {
  return (2 * creates - childCount) | 0;
}

/**
 * Whether a counter is at `atLeast` or beyond; below zero it has passed 2^31.
 */
export function isRaisedTo(creates: number, atLeast: number): boolean {
  return creates >>> 0 >= atLeast >>> 0;
}

/**
 * The suffix of a sequential node, formatted as Java's %010d: `creates` of its parent, before this
 * create. Past 2^31 it continues below zero, with the sign among the ten characters.
 */
export function sequenceSuffix(creates: number): string {
  if (creates < 0) {
    return `-${String(-creates).padStart(9, '0')}`;
  }
  return String(creates).padStart(10, '0');
}
