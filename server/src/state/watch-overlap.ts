/**
 * Tracks what the tables of data watches have in common, so that their union can be counted without
 * a walk.
 *
 * One-shot, persistent and recursive watches are kept in separate tables, and a path, a watcher or
 * a pair of both may be in several of them. For each of these three kinds, the overlap is the sum,
 * over everything that is in any table, of the number of tables that contain it less one: the union
 * is the sum of the tables' own counts less the overlap. Each table reports what it gains and
 * loses. While the other tables are empty, as they mostly are, a report costs two comparisons.
 */
export interface OverlappingTable {
  readonly pathCount: number;
  has(path: string, watcher: number): boolean;
  hasPath(path: string): boolean;
  hasWatcher(watcher: number): boolean;
}

/** The table has gained an entry or lost it. */
export type Change = 1 | -1;

export class WatchOverlap {
  readonly #tables: OverlappingTable[] = [];
  #pairs = 0;
  /** For watchers that have any, so that a closed one takes its pairs along without a walk. */
  readonly #pairsByWatcher = new Map<number, number>();
  #paths = 0;
  #watchers = 0;

  get pairs(): number {
    return this.#pairs;
  }
  get paths(): number {
    return this.#paths;
  }
  get watchers(): number {
    return this.#watchers;
  }

  /** Each table calls it once, while it is empty. */
  join(table: OverlappingTable): void {
    this.#tables.push(table);
  }

  onPair(table: OverlappingTable, path: string, watcher: number, change: Change): void {
    for (const other of this.#tables) {
      if (other === table || other.pathCount === 0) continue;
      if (!other.has(path, watcher)) continue;
      this.#pairs += change;
      const own = (this.#pairsByWatcher.get(watcher) ?? 0) + change;
      if (own === 0) this.#pairsByWatcher.delete(watcher);
      else this.#pairsByWatcher.set(watcher, own);
      return;
    }
  }

  onPath(table: OverlappingTable, path: string, change: Change): void {
    for (const other of this.#tables) {
      if (other === table || other.pathCount === 0) continue;
      if (!other.hasPath(path)) continue;
      this.#paths += change;
      return;
    }
  }

  onWatcher(table: OverlappingTable, watcher: number, change: Change): void {
    for (const other of this.#tables) {
      if (other === table || other.pathCount === 0) continue;
      if (!other.hasWatcher(watcher)) continue;
      this.#watchers += change;
      return;
    }
  }

  /**
   * The watcher is gone from this table, and will be gone from all others before the next report.
   */
  onDismissed(table: OverlappingTable, watcher: number): void {
    this.onWatcher(table, watcher, -1);
    this.#pairs -= this.#pairsByWatcher.get(watcher) ?? 0;
    this.#pairsByWatcher.delete(watcher);
  }
}
