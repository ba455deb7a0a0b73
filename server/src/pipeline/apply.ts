/**
 * Applies a delivered transaction to the state and emits the watch events that it fires.
 *
 * Events are emitted while the transaction is applied, so that they precede, in each watcher's
 * output, the reply to its author and any later read. Each event comes with the ACL that says who
 * may know of it (CVE-2024-23944): the list of the node that the event names, as it was before a
 * delete. It collects the Stat of each create and setData of a multi, which a later operation of
 * the same multi may change. Called by Pipeline.
 */
import { assert, EventType, type Stat, type Zxid } from '@rookery/protocol';
import type { ChangeSink } from '../state/change-sink.js';
import type { WithPath } from '../state/op-view.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { NO_NODE } from '../state/tree.js';
import type { Acl, Txn } from '../state/txn.js';
import type { EmitWatchEvent, WatcherId, WatchTable } from '../state/watches.js';

export interface GuardedEvent {
  readonly type: EventType;
  readonly path: string;
  /** The watcher needs READ in this list to be notified. */
  readonly acl: readonly Acl[];
}

export type EmitGuardedEvent = (watcher: WatcherId, event: GuardedEvent) => void;

const NO_STATS: readonly Stat[] = [];
const NO_ACL: readonly Acl[] = [];

export class Applier implements ChangeSink {
  readonly #state: ReplicatedState;
  readonly #watches: WatchTable;
  readonly #emit: EmitWatchEvent;
  #stats: Stat[] | null = null;
  /** The ACL of the node whose change is being reported. */
  #acl: readonly Acl[] = NO_ACL;

  constructor(state: ReplicatedState, watches: WatchTable, emit: EmitGuardedEvent) {
    this.#state = state;
    this.#watches = watches;
    this.#emit = (watcher, type, path) => {
      watches.fanOut.told(type, path);
      emit(watcher, { type, path, acl: this.#aclOf(type, path) });
    };
  }

  /**
   * If `isOwn`, a client of this member may wait for the answer. Then the result is the Stats of a
   * multi's creates and setDatas, in order.
   */
  apply(zxid: Zxid, txn: Txn, isOwn: boolean): readonly Stat[] {
    this.#stats = isOwn && txn.op.kind === 'multi' ? [] : null;
    this.#state.apply(zxid, txn, this);
    this.#watches.fanOut.end();
    return this.#stats ?? NO_STATS;
  }

  created(op: WithPath, node: number): void {
    this.#stats?.push(this.#state.tree.stat(node));
    if (this.#watches.isEmpty) return;
    this.#acl = this.#state.tree.acl(node);
    this.#watches.trigger({ kind: 'created', path: op.path }, this.#emit);
  }

  deleted(path: string, acl: readonly Acl[]): void {
    this.#acl = acl;
    this.#watches.trigger({ kind: 'deleted', path }, this.#emit);
  }

  dataChanged(op: WithPath, node: number): void {
    this.#stats?.push(this.#state.tree.stat(node));
    if (this.#watches.isEmpty) return;
    this.#acl = this.#state.tree.acl(node);
    this.#watches.trigger({ kind: 'dataChanged', path: op.path }, this.#emit);
  }

  sessionClosed(): void {
    // The pipeline closes the session's connection itself, after the reply.
  }

  #aclOf(type: EventType, path: string): readonly Acl[] {
    if (type !== EventType.childrenChanged) return this.#acl;
    const node = this.#state.tree.find(path);
    assert(node !== NO_NODE, () => `${path} is there when its children have changed`);
    return this.#state.tree.acl(node);
  }
}
