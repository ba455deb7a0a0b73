/**
 * Runs the core's storage outputs against a `Storage`, strictly in order, one batch in flight.
 *
 * All appends that wait are merged into one synced batch of bounded size: group commit. Nothing is
 * ever dropped or retried: the first failure is reported to `onFatal` once and ends the queue.
 * Called by the driver only; no hook is called inside `enqueue`.
 */
import { Fifo, type ProposalBatch, unreachable, type Zxid } from '@rookery/protocol';
import type { StorageOutput, Ticket } from '../zab/types.js';
import type { Storage } from './storage.js';

export interface StorageQueueHooks {
  /** Everything up to and including this ticket is durable; tickets only grow. */
  onPersisted(ticket: Ticket): void;
  /** A snapshot was installed: before its onPersisted and, if awaited, before the next output. */
  onInstalled(zxid: Zxid): void | Promise<void>;
  /** What the log holds after `after` is about to go, though it may have been acknowledged. */
  onDiscard(after: Zxid): Promise<void>;
  /** The disk has lost its vote, and the tree in memory is about to go. */
  onGivenUp(): Promise<void>;
  /** A group of appends begins; what is returned is called when it is durable. */
  appending?(): () => void;
  /** The member must end. */
  onFatal(error: unknown): void;
}

const BATCH_BYTES_MAX = 4 * 1024 * 1024;

export class StorageQueue {
  private readonly storage: Storage;
  private readonly hooks: StorageQueueHooks;
  private readonly batchBytesMax: number;
  private readonly waiting = new Fifo<StorageOutput>();
  private bytes = 0;
  private running: Promise<void> | null = null;
  private failed = false;
  private outputs = 0;
  private wantsEndMark = false;

  constructor(storage: Storage, hooks: StorageQueueHooks, batchBytesMax = BATCH_BYTES_MAX) {
    this.storage = storage;
    this.hooks = hooks;
    this.batchBytesMax = batchBytesMax;
  }

  enqueue(output: StorageOutput): void {
    if (this.failed) return;
    this.waiting.push(output);
    this.bytes += bytesOf(output);
    this.outputs += 1;
    this.running ??= this.run();
  }

  /** Marks the end of the log once nothing waits; nothing to do when it is marked. */
  markLogEnd(): void {
    if (this.failed) return;
    this.wantsEndMark = true;
    this.running ??= this.run();
  }

  /** Outputs that were enqueued; only grows. */
  get outputCount(): number {
    return this.outputs;
  }
  /** A write has failed: nothing is written any more. */
  get hasFailed(): boolean {
    return this.failed;
  }

  /** Bytes of proposals that wait or are being written; for backpressure. */
  get pendingBytes(): number {
    return this.bytes;
  }

  /** Resolves when nothing waits, or the queue has failed. */
  async idle(): Promise<void> {
    while (this.running !== null) await this.running;
  }

  private async run(): Promise<void> {
    try {
      // The outputs of the same turn come together in the first batch.
      await Promise.resolve();
      while (this.waiting.length > 0 || this.wantsEndMark) {
        if (this.waiting.length === 0) {
          this.wantsEndMark = false;
          await this.storage.markLogEnd();
          continue;
        }
        const batch = this.takeBatch();
        await this.runBatch(batch);
        const last = batch.at(-1);
        for (const output of batch) this.bytes -= bytesOf(output);
        if (last !== undefined) this.hooks.onPersisted(last.ticket);
      }
    } catch (error) {
      this.failed = true;
      this.hooks.onFatal(error);
    } finally {
      this.running = null;
    }
  }

  /** The next output, or as many appends as wait and fit. */
  private takeBatch(): readonly StorageOutput[] {
    const { waiting } = this;
    const batch: StorageOutput[] = [];
    let bytes = 0;
    for (let output = waiting.first; output !== undefined; output = waiting.first) {
      bytes += bytesOf(output);
      if (batch.length > 0 && (output.kind !== 'append' || bytes > this.batchBytesMax)) break;
      batch.push(output);
      waiting.shift();
      if (output.kind !== 'append') break;
    }
    return batch;
  }

  private async runBatch(batch: readonly StorageOutput[]): Promise<void> {
    const output = batch[0];
    if (output === undefined) return;
    switch (output.kind) {
      case 'append': {
        const appended = this.hooks.appending?.();
        await this.storage.append(...batch.flatMap(appendedBy));
        return appended?.();
      }
      case 'truncate':
        if (output.diverged) await this.hooks.onDiscard(output.after);
        return await this.storage.truncate(output.after);
      case 'saveEpochs':
        return await this.storage.saveEpochs(output);
      case 'giveUp':
        // The vote first: whoever is killed while transactions are written down must not keep it.
        await this.storage.giveUp(output.reason);
        await this.hooks.onDiscard(output.after);
        return await this.hooks.onGivenUp();
      case 'installSnapshot':
        await this.storage.installSnapshot(output.zxid, output.lineage);
        return await this.hooks.onInstalled(output.zxid);
      default:
        unreachable(output);
    }
  }
}

function appendedBy(output: StorageOutput): readonly ProposalBatch[] {
  return output.kind === 'append' ? [output.batch] : [];
}

function bytesOf(output: StorageOutput): number {
  return output.kind === 'append' ? output.batch.bytes.length : 0;
}
