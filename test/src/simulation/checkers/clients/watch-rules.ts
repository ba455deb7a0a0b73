/**
 * The rules of watches as tables: which request sets which, which change fires which, and what
 * setWatches2 reports about a change that was missed.
 *
 * Source: ZooKeeper 3.8.0. A recursive watch receives no childrenChanged (ZOOKEEPER-4475); changes
 * that persistent watches missed are not reported.
 */
import { ErrorCode, EventType } from '@rookery/protocol';
import type { Operation, RemovedWatches, Result } from '../../contract/history.js';
import type { NodeState } from './node-state.js';

export const BIT = {
  data: 1,
  child: 2,
  persistent: 4,
  recursive: 8,
  /** A data watch on a missing znode: the client sends it in a list of its own. */
  exist: 16,
} as const;

/** The watch that this reply establishes; 0 for none. */
export function bitSetBy(operation: Operation, { error }: Result): number {
  switch (operation.kind) {
    case 'get':
      return operation.watch && error === ErrorCode.ok ? BIT.data : 0;
    case 'exists': {
      const isSet = error === ErrorCode.ok || error === ErrorCode.noNode;
      return operation.watch && isSet ? BIT.data : 0;
    }
    case 'children':
      return operation.watch && error === ErrorCode.ok ? BIT.child : 0;
    case 'addWatch':
      if (error !== ErrorCode.ok) return 0;
      return operation.mode === 'persistent' ? BIT.persistent : BIT.recursive;
    default:
      return 0;
  }
}

/** Which watches a removal of this type removes. */
export const REMOVED: Readonly<Record<RemovedWatches, number>> = {
  data: BIT.data | BIT.exist,
  children: BIT.child,
  persistent: BIT.persistent,
  recursive: BIT.recursive,
  any: BIT.data | BIT.exist | BIT.child | BIT.persistent | BIT.recursive,
};

/** The watches on the path itself to which an event of this type applies. */
export function firedBy(type: number): number {
  switch (type) {
    case EventType.created:
    case EventType.dataChanged:
      return BIT.data | BIT.exist | BIT.persistent | BIT.recursive;
    case EventType.deleted:
      return BIT.data | BIT.exist | BIT.child | BIT.persistent | BIT.recursive;
    case EventType.childrenChanged:
      return BIT.child | BIT.persistent;
    default:
      return 0;
  }
}

/** The type of event that reports what was missed after `seenZxid`; 0 if the watch is set again. */
export function catchUpOf(bit: number, state: NodeState, seenZxid: number): number {
  switch (bit) {
    case BIT.data:
      if (!state.exists) return EventType.deleted;
      return state.mzxid > seenZxid ? EventType.dataChanged : 0;
    case BIT.exist:
      return state.exists ? EventType.created : 0;
    case BIT.child:
      if (!state.exists) return EventType.deleted;
      return state.pzxid > seenZxid ? EventType.childrenChanged : 0;
    default:
      return 0;
  }
}
