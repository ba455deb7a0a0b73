/**
 * Checks what a cache tells: applies its events one after the other, and notes what is not as it
 * promises: a znode created that is there, changed that is not, a parent that comes late or goes
 * early, a zxid that goes back. Only for tests.
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

  /** `root`: of the tree; null where parents are not told of. */
  constructor(root: string | null) {
    this.#root = root;
  }

  readonly take = (event: CacheEvent): void => {
    this.#check(event);
    this.events.push(event);
    replayCacheEvent(this.nodes, event);
  };

  /** Type and path of each. */
  get told(): string[] {
    return this.events.map((event) =>
      'path' in event ? `${event.type} ${event.path}` : event.type,
    );
  }

  count(type: CacheEvent['type']): number {
    return this.events.filter((event) => event.type === type).length;
  }

  /** Path to data. */
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
