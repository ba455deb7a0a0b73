/**
 * Checks the events of a cache: applies them one after the other and records those that break its
 * promises. Examples are the creation of a known znode, a change of an unknown one, a parent that
 * is created after or deleted before its child, or a zxid that decreases. Only for tests.
 */
import { parentOf } from '@rookery/protocol';
import {
  type CachedNode,
  type CacheEvent,
  replayCacheEvent,
} from '../recipes/shared/cache-values.js';

export class CacheMirror {
  readonly nodes = new Map<string, CachedNode>();
  readonly events: CacheEvent[] = [];
  readonly violations: string[] = [];
  readonly #root: string | null;
  readonly #mzxids = new Map<string, bigint>();

  /** `root` is the root of the tree, or null if the cache does not report parents. */
  constructor(root: string | null) {
    this.#root = root;
  }

  readonly take = (event: CacheEvent): void => {
    this.#check(event);
    this.events.push(event);
    replayCacheEvent(this.nodes, event);
  };

  /** The type and path of each event. */
  get told(): string[] {
    return this.events.map((event) =>
      'path' in event ? `${event.type} ${event.path}` : event.type,
    );
  }

  count(type: CacheEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** The data by path. */
  get data(): Record<string, string | null> {
    return dataOf(this.nodes);
  }

  #check(event: CacheEvent): void {
    if (!('path' in event)) return;
    const { type, path, old, node } = event;
    const held = this.nodes.get(path) ?? null;
    if (held !== old) this.violations.push(`${type} ${path}: not what was there before`);
    if (old !== null && node === null) {
      const below = [...this.nodes.keys()].filter((other) => other.startsWith(`${path}/`));
      if (below.length > 0) this.violations.push(`${path} goes before ${below}`);
    }
    if (node === null) return;
    const isOrphan = path !== this.#root && !this.nodes.has(parentOf(path));
    if (this.#root !== null && isOrphan) this.violations.push(`${path} comes before its parent`);
    const { mzxid } = node.stat;
    const last = this.#mzxids.get(path) ?? 0n;
    if (mzxid <= last) this.violations.push(`${path} goes back from ${last} to ${mzxid}`);
    this.#mzxids.set(path, mzxid);
  }
}

export function dataOf(nodes: ReadonlyMap<string, CachedNode>): Record<string, string | null> {
  const sorted = [...nodes].sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([path, { data }]) => [path, data?.toString() ?? null]));
}
