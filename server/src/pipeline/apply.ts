/**
 * A delivered transaction: into the state, and the watch events that it fires.
 *
 * Events are emitted while it is applied, so that they are in each watcher's output before the
 * reply of the one who asked and before any later read. Collects the Stat of each setData of a
 * multi, which a later operation of the same multi may change. Called by Pipeline.
 */
import type { Stat, Zxid } from '@rookery/protocol';
import type { ChangeSink } from '../state/change-sink.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Txn } from '../state/txn.js';
import type { EmitWatchEvent, WatchTable } from '../state/watches.js';

const NO_STATS: readonly Stat[] = [];

export class Applier implements ChangeSink {
  readonly #state: ReplicatedState;
  readonly #watches: WatchTable;
  readonly #emit: EmitWatchEvent;
  #stats: Stat[] | null = null;

  constructor(state: ReplicatedState, watches: WatchTable, emit: EmitWatchEvent) {
    this.#state = state;
    this.#watches = watches;
    this.#emit = emit;
  }

  /** Returns the Stats of a multi's setDatas when `isOwn`: somebody here waits for them. */
  apply(zxid: Zxid, txn: Txn, isOwn: boolean): readonly Stat[] {
    this.#stats = isOwn && txn.op.kind === 'multi' ? [] : null;
    this.#state.apply(zxid, txn, this);
    return this.#stats ?? NO_STATS;
  }

  created(path: string): void {
    this.#watches.trigger({ kind: 'created', path }, this.#emit);
  }

  deleted(path: string): void {
    this.#watches.trigger({ kind: 'deleted', path }, this.#emit);
  }

  dataChanged(path: string, node: number): void {
    this.#stats?.push(this.#state.tree.stat(node));
    this.#watches.trigger({ kind: 'dataChanged', path }, this.#emit);
  }

  sessionClosed(): void {
    // The pipeline closes the session's connection itself, behind the reply.
  }
}
