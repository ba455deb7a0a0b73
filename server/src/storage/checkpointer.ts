/**
 * Takes incremental, exact checkpoints of a state and purges the log behind them.
 *
 * Owns the moment one starts and the slices in which it is captured; one object per state object:
 * after installSnapshot the driver makes a new one and calls `abandon` on the old one.
 * Capturing happens inside the caller's turn, writing in the background.
 */
import type { Zxid } from '@rookery/protocol';
import type { Storage } from './storage.js';

export interface FrozenState {
  readonly zxid: Zxid;
  readonly digest: string;
  readonly lastTime: number;
}

/** What a checkpoint is taken of; ReplicatedState satisfies it. */
export interface CheckpointSource {
  readonly lastZxid: Zxid;
  readonly dirtyCount: number;
  readonly dirtyBytes: number;
  readonly captureDone: boolean;
  freeze(): FrozenState;
  captureSome(
    max: number,
  ): readonly { readonly key: Uint8Array; readonly value: Uint8Array | null }[];
}

export interface CheckpointOptions {
  /** A checkpoint starts at this many changed records, */
  readonly dirtyCountMax: number;
  /** or at this many bytes of them, */
  readonly dirtyBytesMax: number;
  /** or at this many bytes of log behind the last one, */
  readonly logBytesMax: number;
  /** or this long after the last one, if anything was applied since. */
  readonly intervalMs: number;
  /** Records captured in one turn. */
  readonly sliceCount: number;
}

export interface CheckpointerHooks {
  /** The log now starts after `base`: tell the core. */
  onPurged(base: Zxid): void;
  onCheckpoint?(at: { readonly zxid: Zxid; readonly records: number }): void;
  onFatal(error: unknown): void;
}

export class Checkpointer {
  constructor(
    _storage: Storage,
    _state: CheckpointSource,
    _hooks: CheckpointerHooks,
    _options?: Partial<CheckpointOptions>,
  ) {
    throw new Error('skeleton');
  }
  /**
   * To be called in every turn that applied something and at every tick: starts a checkpoint when
   * one is due, or captures the next slice. True while it wants to be called again next turn.
   * `treeBytes` is about the size of the tree: it decides how much log is kept.
   */
  step(_nowMs: number, _treeBytes: number): boolean {
    throw new Error('skeleton');
  }
  /** True from the freeze until the batch is durable and the log purged. */
  get busy(): boolean {
    throw new Error('skeleton');
  }
  /** Resolves when nothing is being written. A capture under way is left as it is. */
  idle(): Promise<void> {
    throw new Error('skeleton');
  }
  /** Ends it for good, when its state is thrown away. */
  abandon(): void {
    throw new Error('skeleton');
  }
}
