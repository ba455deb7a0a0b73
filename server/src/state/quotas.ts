/**
 * Knows which paths have a quota, and maintains the size of what is below each in its
 * zookeeper_stats.
 *
 * A node counts for the longest path above it (or itself) that has a limits node, the node of that
 * path included. Creating the stats node measures the subtree, which needs no walk over it. The
 * stats are part of the replicated state but are not a write: neither version nor times change, and
 * nobody is notified. Every change is made while a transaction is applied, so it is the same on
 * every member. Called by ReplicatedState; `governing` by the leader's prepare too.
 */
import type { Capture } from './capture.js';
import { beginsWith, type WithPath } from './memory/path-view.js';
import { QuotaPrefixes } from './quota-prefixes.js';
import {
  limitedBy,
  measuredAt,
  QUOTA_ROOT,
  type QuotaStats,
  readStats,
  statsPathOf,
  writeStats,
} from './quota-text.js';
import { type Family, NO_NODE, type Tree } from './tree.js';

export class Quotas {
  readonly #tree: Tree;
  readonly #capture: Capture;
  readonly #prefixes = new QuotaPrefixes();

  constructor(tree: Tree, capture: Capture) {
    this.#tree = tree;
    this.#capture = capture;
  }

  get isEmpty(): boolean {
    return this.#prefixes.count === 0;
  }

  /**
   * The path whose quota `path` counts for, or null. It costs nothing while there is no quota at
   * all.
   */
  governing(path: string): string | null {
    return this.#prefixes.count === 0 ? null : this.#prefixes.governing(path);
  }

  /** Called after the create. */
  created(op: WithPath, node: number): void {
    if (beginsWith(op, QUOTA_ROOT)) {
      this.#learn(limitedBy(op.path));
      this.#measure(measuredAt(op.path));
    }
    if (this.#prefixes.count > 0)
      this.#count(op.path, { count: 1, bytes: this.#tree.dataLength(node) });
  }

  /**
   * Called before everything that one operation deletes, in whatever order it does so: each node
   * counts for the quotas that existed before, and each quota's stats are written once.
   */
  deleting(families: readonly Family[]): void {
    if (this.#prefixes.count === 0) {
      return;
    }
    const lost = new Map<string, { count: number; bytes: number }>();
    const unlimited: string[] = [];
    for (const { parent, children } of families) {
      const before = this.#tree.pathPrefix(parent);
      for (const node of children) {
        const path = before + this.#tree.name(node);
        const prefix = this.governing(path);
        if (prefix !== null) {
          const sum = lost.get(prefix) ?? { count: 0, bytes: 0 };
          sum.count -= 1;
          sum.bytes -= this.#tree.dataLength(node);
          lost.set(prefix, sum);
        }
        const limited = path.startsWith(QUOTA_ROOT) ? limitedBy(path) : null;
        if (limited !== null) {
          unlimited.push(limited);
        }
      }
    }
    for (const prefix of unlimited) {
      this.#prefixes.delete(prefix);
    }
    for (const [prefix, by] of lost) {
      this.#countFor(prefix, by);
    }
  }

  dataGrew(op: WithPath, bytes: number): void {
    if (this.#prefixes.count > 0) this.#count(op.path, { count: 0, bytes });
  }

  /** Called after recovery: the tree says which paths have a quota. */
  rebuild(): void {
    this.#prefixes.clear();
    for (const path of this.#paths()) this.#learn(limitedBy(path));
  }

  /**
   * Called after a restore: the stats of the source may be older than what is below their paths,
   * and some of that may not be restored. ZooKeeper measures anew, too, whenever it reads a tree.
   */
  measureAll(): void {
    for (const path of this.#paths()) this.#measure(measuredAt(path));
  }

  /** All znodes below the root of quotas, and the root. */
  *#paths(): Generator<string> {
    const pending = [QUOTA_ROOT];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      yield path;
      for (const name of this.#tree.children(this.#tree.find(path))) {
        pending.push(`${path}/${name}`);
      }
    }
  }

  #learn(prefix: string | null): void {
    if (prefix !== null) {
      this.#prefixes.add(prefix);
    }
  }

  #count(path: string, by: QuotaStats): void {
    const prefix = this.governing(path);
    if (prefix !== null && (by.count !== 0 || by.bytes !== 0)) {
      this.#countFor(prefix, by);
    }
  }

  #countFor(prefix: string, by: QuotaStats): void {
    const node = this.#tree.find(statsPathOf(prefix));
    if (node !== NO_NODE) {
      const { count, bytes } = readStats(this.#tree.data(node));
      this.#store(prefix, node, { count: count + by.count, bytes: bytes + by.bytes });
    }
  }

  #measure(prefix: string | null): void {
    if (prefix === null) {
      return;
    }
    const top = this.#tree.find(prefix);
    const stats =
      top === NO_NODE
        ? { count: 0, bytes: 0 }
        : { count: 1 + this.#tree.descendantCount(top), bytes: this.#tree.subtreeDataBytes(top) };
    this.#store(prefix, this.#tree.find(statsPathOf(prefix)), stats);
  }

  #store(prefix: string, node: number, stats: QuotaStats): void {
    const before = this.#tree.dataLength(node);
    this.#capture.beforeChange(node);
    this.#tree.setQuotaStats(node, { path: statsPathOf(prefix), data: writeStats(stats) });
    this.#capture.grew(this.#tree.dataLength(node) - before);
  }
}
