/**
 * What the caches hold and tell, and how what they tell gives what they hold. Pure.
 */
import { unreachable } from '@rookery/protocol';
import type { Stat } from '../../api/values.js';

/** A znode as it was read. */
export interface CachedNode {
  readonly path: string;
  /** Not to be changed: it is the cache's own. Null as well where the cache keeps no data. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

/**
 * - `nodeCreated`, `nodeChanged` (its data), `nodeDeleted`: a change of what the cache holds.
 *   Parents come before their children and go after them. A znode that was deleted and created
 *   again is told as both, though several changes of one znode may be told as one.
 * - `initialized`: once, when the cache holds all that stood when it was started.
 * - `resynced`: after a lost connection or session, when all that was missed has been told.
 * - `snapshot`: in iterators only: the whole, at the beginning, and after events were left out
 *   because too many waited.
 */
export type CacheEvent =
  | {
      readonly type: 'nodeCreated';
      readonly path: string;
      readonly old: null;
      readonly node: CachedNode;
    }
  | {
      readonly type: 'nodeChanged';
      readonly path: string;
      readonly old: CachedNode;
      readonly node: CachedNode;
    }
  | {
      readonly type: 'nodeDeleted';
      readonly path: string;
      readonly old: CachedNode;
      readonly node: null;
    }
  | { readonly type: 'initialized' }
  | { readonly type: 'resynced' }
  | { readonly type: 'snapshot'; readonly nodes: ReadonlyMap<string, CachedNode> };

/** The znodes after an event, where `nodes` is what they were before; in place. */
export function replayCacheEvent(nodes: Map<string, CachedNode>, event: CacheEvent): void {
  switch (event.type) {
    case 'nodeCreated':
    case 'nodeChanged':
      nodes.set(event.path, event.node);
      return;
    case 'nodeDeleted':
      nodes.delete(event.path);
      return;
    case 'snapshot':
      nodes.clear();
      for (const [path, node] of event.nodes) nodes.set(path, node);
      return;
    case 'initialized':
    case 'resynced':
      return;
    default:
      unreachable(event);
  }
}
