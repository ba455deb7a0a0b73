/**
 * Runs the core's storage outputs against a `Storage`, strictly in order, one batch in flight.
 *
 * All appends that wait are merged into one synced batch of bounded size: group commit. Nothing is
 * ever dropped or retried: the first failure is reported to `onFatal` once and ends the queue.
 * Called by the driver only; its hooks are called from a fresh turn of the microtask queue.
 */
import type { StorageOutput, Ticket } from '../zab/types.js';
import type { Storage } from './storage.js';

export interface StorageQueueHooks {
  /** Everything up to and including this ticket is durable; tickets only grow. */
  onPersisted(ticket: Ticket): void;
  /** After an installSnapshot: called before its onPersisted. */
  onInstalled?(zxid: number): void;
  /** The member must end. */
  onFatal(error: unknown): void;
}

export class StorageQueue {
  constructor(_storage: Storage, _hooks: StorageQueueHooks, _batchBytesMax?: number) {
    throw new Error('skeleton');
  }
  enqueue(_output: StorageOutput): void {
    throw new Error('skeleton');
  }
  /** Bytes of proposals that wait or are being written; for backpressure. */
  get pendingBytes(): number {
    throw new Error('skeleton');
  }
  /** Resolves when nothing waits (or the queue has failed). */
  idle(): Promise<void> {
    throw new Error('skeleton');
  }
}
