/**
 * The arithmetic of a znode's counters, in one place for prepare (which decides the new version)
 * and for the tree (which asserts it). All are int32 and overflow as Java's do.
 */

/** The version after `version`. Never -1, which means "any version" in a request (ZOOKEEPER-4743). */
export function nextVersion(version: number): number {
  const next = (version + 1) | 0;
  return next === -1 ? 0 : next;
}

/** What clients see as cversion: creates plus deletes. `creates` is the internal counter. */
export function visibleCversion(creates: number, childCount: number): number {
  return (2 * creates - childCount) | 0;
}

/** The suffix of a sequential node: `creates` of its parent, before this create. */
export function sequenceSuffix(creates: number): string {
  const digits = String(Math.abs(creates)).padStart(10, '0');
  return creates < 0 ? `-${digits.length > 10 ? digits : digits.slice(-10)}` : digits;
}
