/**
 * Chooses which watchers give way when all watches of a member take too much memory.
 *
 * Watchers are counted in groups, such as all connections from one address or of one user. The
 * largest group gives way, its largest watcher first, but only to a newcomer whose own groups have
 * less than half as much; within its own group a newcomer is compared with single watchers.
 * Otherwise clients of about the same size would close each other in turn, so then the newcomer is
 * refused. Pure; called by WatchTable.
 */

/** A watcher with watches. */
export interface WatchHolder {
  readonly watcher: number;
  readonly bytes: number;
  /** Its address and its users, for instance; at least one. */
  readonly groups: readonly string[];
}

/** How many times larger than a newcomer those are who give way to it. */
const TIMES_LARGER = 2;

/**
 * Returns the watchers that give way, the largest first, until `wantedBytes` are free or there are
 * no more; none if the newcomer is to be refused. The newcomer is no holder, and counts with the
 * watch that it wants.
 */
export function givingWay(
  holders: readonly WatchHolder[],
  newcomer: WatchHolder,
  wantedBytes: number,
): readonly number[] {
  const sums = sumsOf([...holders, newcomer]);
  let largest = '';
  for (const [group, bytes] of sums) if (bytes > (sums.get(largest) ?? 0)) largest = group;
  const isOwn = newcomer.groups.includes(largest);
  const ownBytes = Math.max(...newcomer.groups.map((group) => sums.get(group) ?? 0));
  if (!isOwn && (sums.get(largest) ?? 0) <= TIMES_LARGER * ownBytes) return [];
  const reach = holders.filter(
    ({ groups, bytes }) =>
      groups.includes(largest) && (!isOwn || bytes > TIMES_LARGER * newcomer.bytes),
  );
  reach.sort((one, other) => other.bytes - one.bytes);
  let free = 0;
  const left = reach.findIndex(({ bytes }) => {
    if (free >= wantedBytes) return true;
    free += bytes;
    return false;
  });
  return reach.slice(0, left < 0 ? reach.length : left).map(({ watcher }) => watcher);
}

function sumsOf(holders: readonly WatchHolder[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { groups, bytes } of holders) {
    for (const group of groups) sums.set(group, (sums.get(group) ?? 0) + bytes);
  }
  return sums;
}
