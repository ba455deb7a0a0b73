/**
 * The clients of one member: from their frames to their replies.
 *
 * Owns connections, their queues and watches; calls `ReplicatedState.apply`, so that events, own
 * replies and the reads behind them come out in the one legal order. Never does I/O and never
 * keeps time: the driver calls in, and takes out what is for the leader (`takeX`).
 *
 * The driver's turn: feed all input; then `takeForwards`, `takeSyncs`, `takeAttaches` to the
 * leader (on the leader: to its own Leadership); then `flush`.
 */
import type { Attach, ForwardedRequest, SyncRequest, Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId, Txn } from '../state/txn.js';
import { WatchTable } from '../state/watches.js';
import type { PipelineOptions } from './options.js';
import type { ConnectionId, Output } from './output.js';

export interface PipelineDependencies {
  readonly state: ReplicatedState;
  readonly options: PipelineOptions;
}

/** What `cons` tells of a connection. */
export interface ConnectionView {
  readonly id: ConnectionId;
  /** 0 until the handshake is done. */
  readonly session: SessionId;
  readonly timeoutMs: number;
  readonly outstanding: number;
}

export class Pipeline {
  readonly watches = new WatchTable();

  constructor(_dependencies: PipelineDependencies) {
    throw new Error('skeleton');
  }

  /** A role in which clients may be served has begun; its whole initial history is applied. */
  startServing(): void {
    throw new Error('skeleton');
  }
  /**
   * The role has ended: every pending request is dropped unanswered and every client connection
   * ended (`Output.end`, after what was already answered). Returns those that were ended.
   */
  stopServing(): readonly ConnectionId[] {
    throw new Error('skeleton');
  }
  /** After an installed snapshot; only while not serving. */
  replaceState(_state: ReplicatedState): void {
    throw new Error('skeleton');
  }

  onOpen(_connection: ConnectionId, _output: Output): void {
    throw new Error('skeleton');
  }
  /** `frame` (without its length) is only read during the call. `nowMs`: for the latency. */
  onFrame(_connection: ConnectionId, _frame: Uint8Array, _nowMs: number): void {
    throw new Error('skeleton');
  }
  /** The connection is gone, whoever closed it; unknown ones are ignored. */
  onClosed(_connection: ConnectionId): void {
    throw new Error('skeleton');
  }

  /** Writes for the leader, in order. */
  takeForwards(): readonly ForwardedRequest[] {
    throw new Error('skeleton');
  }
  takeSyncs(): readonly SyncRequest[] {
    throw new Error('skeleton');
  }
  takeAttaches(): readonly Attach[] {
    throw new Error('skeleton');
  }
  /** Sessions heard from since the last call. */
  takeTouches(): readonly SessionId[] {
    throw new Error('skeleton');
  }

  onSynced(_request: number, _zxid: Zxid): void {
    throw new Error('skeleton');
  }
  onAttached(_request: number, _valid: boolean, _timeoutMs: number): void {
    throw new Error('skeleton');
  }
  onDetach(_session: SessionId): void {
    throw new Error('skeleton');
  }

  /** Every delivered proposal, in order, serving or not. */
  apply(_zxid: Zxid, _txn: Txn, _nowMs: number): void {
    throw new Error('skeleton');
  }
  /** The end of the turn: one `Output.flush` for each connection that was written to. */
  flush(): void {
    throw new Error('skeleton');
  }

  get serving(): boolean {
    throw new Error('skeleton');
  }
  /** Requests that wait for a commit or a sync. */
  get outstanding(): number {
    throw new Error('skeleton');
  }
  connections(): readonly ConnectionView[] {
    throw new Error('skeleton');
  }
  view(_connection: ConnectionId): ConnectionView | undefined {
    throw new Error('skeleton');
  }
}
