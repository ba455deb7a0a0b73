/**
 * The content and the events of the caches, and how events change the content. Pure.
 */
import { unreachable } from '@rookery/protocol';
import type { Stat } from '../../api/values.js';

/** A znode as it was read. */
export interface CachedNode {
  readonly path: string;
  /** Must not be changed, because the cache owns it. Also null if the cache does not keep data. */
  readonly data: Buffer | null;
  readonly stat: Stat;
}

/**
 * - `nodeCreated`, `nodeChanged` (its data), `nodeDeleted`: a change of the content. Parents are
 *   created before their children and deleted after them. A znode that was deleted and created
 *   again is reported as both, but several changes of one znode may be combined.
 * - `initialized`: once, when the cache contains everything that existed when it was started.
 * - `resynced`: after a lost connection or session, when everything that was missed has been
 *   reported.
 * - `snapshot`: only in iterators: the whole content, at the beginning, and after events were
 *   dropped because too many were waiting.
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

/** Applies an event to `nodes`, in place. */
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
