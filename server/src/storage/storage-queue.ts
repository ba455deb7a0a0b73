/**
 * Carries out the core's storage outputs strictly in order, one after the other.
 *
 * Appends that wait next to each other, up to GROUP_BYTES_MAX, become one synced write (group
 * commit). Nothing is dropped or retried: the first failure is reported to `onFatal` and ends the
 * queue. Called only by the driver; no hook is called inside `enqueue`.
 */
import { Fifo, type ProposalBatch, unreachable, type Zxid } from '@rookery/protocol';
import type { StorageOutput, Ticket } from '../zab/types.js';
import type { Storage } from './storage.js';

export interface StorageQueueHooks {
  /** Everything up to and including this ticket is durable; tickets only grow. */
  onPersisted(ticket: Ticket): void;
  /** A snapshot was installed. Called before its onPersisted and before the next output. */
  onInstalled(zxid: Zxid): void | Promise<void>;
  /** The log after `after` is about to be discarded, although it may be acknowledged. */
  onDiscard(after: Zxid): Promise<void>;
  /** The disk has no vote any more, and the tree in memory is about to be discarded. */
  onGivenUp(): Promise<void>;
  /** A group commit begins. The returned function is called when it is durable. */
  appending?(): () => void;
  /** The member must end. */
  onFatal(error: unknown): void;
}

/** Bytes of proposals in one group. */
const GROUP_BYTES_MAX = 4 * 1024 * 1024;

export class StorageQueue {
  readonly #storage: Storage;
  readonly #hooks: StorageQueueHooks;
  readonly #groupBytesMax: number;
  readonly #waiting = new Fifo<StorageOutput>();
  #bytes = 0;
  #running: Promise<void> | null = null;
  #failed = false;
  #outputs = 0;
  #wantsEndMark = false;

  constructor(storage: Storage, hooks: StorageQueueHooks, groupBytesMax = GROUP_BYTES_MAX) {
    this.#storage = storage;
    this.#hooks = hooks;
    this.#groupBytesMax = groupBytesMax;
  }

  enqueue(output: StorageOutput): void {
    if (this.#failed) return;
    this.#waiting.push(output);
    this.#bytes += bytesOf(output);
    this.#outputs += 1;
    this.#running ??= this.#run();
  }

  /** Marks the end of the log once nothing waits, unless it is marked already. */
  markLogEnd(): void {
    if (this.#failed) return;
    this.#wantsEndMark = true;
    this.#running ??= this.#run();
  }

  /** The number of outputs that were ever enqueued. */
  get outputCount(): number {
    return this.#outputs;
  }
  /** Whether a write has failed. Then nothing is written any more. */
  get hasFailed(): boolean {
    return this.#failed;
  }

  /** Bytes of proposals that are not durable yet, for backpressure. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /** Resolves when nothing waits or the queue has failed. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    try {
      // What is appended in the same callback of the event loop comes together in the first group:
      // all that a leader proposes at the end of its turn, or that one read brings to a follower.
      await Promise.resolve();
      while (this.#waiting.length > 0 || this.#wantsEndMark) {
        if (this.#waiting.length === 0) {
          this.#wantsEndMark = false;
          await this.#storage.markLogEnd();
          continue;
        }
        const group = this.#takeGroup();
        await this.#runGroup(group);
        const last = group.at(-1);
        for (const output of group) this.#bytes -= bytesOf(output);
        if (last !== undefined) this.#hooks.onPersisted(last.ticket);
      }
    } catch (error) {
      this.#failed = true;
      this.#hooks.onFatal(error);
    } finally {
      this.#running = null;
    }
  }

  /** The next output, or as many appends as wait and fit. */
  #takeGroup(): readonly StorageOutput[] {
    const waiting = this.#waiting;
    const group: StorageOutput[] = [];
    let bytes = 0;
    for (let output = waiting.first; output !== undefined; output = waiting.first) {
      bytes += bytesOf(output);
      if (group.length > 0 && (output.kind !== 'append' || bytes > this.#groupBytesMax)) break;
      group.push(output);
      waiting.shift();
      if (output.kind !== 'append') break;
    }
    return group;
  }

  async #runGroup(group: readonly StorageOutput[]): Promise<void> {
    const output = group[0];
    if (output === undefined) return;
    switch (output.kind) {
      case 'append': {
        const appended = this.#hooks.appending?.();
        await this.#storage.append(...batchesOf(group));
        return appended?.();
      }
      case 'truncate':
        if (output.diverged) await this.#hooks.onDiscard(output.after);
        return await this.#storage.truncate(output.after);
      case 'saveEpochs':
        return await this.#storage.saveEpochs(output);
      case 'giveUp':
        // The vote first: a member that is killed while it saves transactions must not vote.
        await this.#storage.giveUp(output.reason);
        await this.#hooks.onDiscard(output.after);
        return await this.#hooks.onGivenUp();
      case 'installSnapshot':
        await this.#storage.installSnapshot(output.zxid, output.lineage);
        return await this.#hooks.onInstalled(output.zxid);
      default:
        unreachable(output);
    }
  }
}

function batchesOf(group: readonly StorageOutput[]): readonly ProposalBatch[] {
  const batches: ProposalBatch[] = [];
  for (const output of group) if (output.kind === 'append') batches.push(output.batch);
  return batches;
}

function bytesOf(output: StorageOutput): number {
  return output.kind === 'append' ? output.batch.bytes.length : 0;
}
