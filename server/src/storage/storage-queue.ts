/**
 * Carries out the core's storage outputs strictly in order, one after the other, and has the end of
 * the log marked between two of them.
 *
 * Appends that wait next to each other, up to GROUP_BYTES_MAX, become one synced write (group
 * commit). A mark delays only outputs that change `meta`, too. Nothing is dropped or retried: the
 * first failure is reported to `onFatal` and ends the queue. Called only by the driver; no hook is
 * called inside `enqueue`.
 */
import { assert, Fifo, unreachable, type Zxid } from '@rookery/protocol';
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
  /** A group commit begins. */
  onWriting?(): void;
  /** It is durable. */
  onWritten?(): void;
  /** The member must end. */
  onFatal(error: unknown): void;
}

type Append = Extract<StorageOutput, { kind: 'append' }>;

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
  #wantsMark = false;
  /** Waits to run between two outputs; null if nothing does. */
  #between: (() => Promise<void>) | null = null;
  /** The mark that is being written; null if none is. */
  #marking: Promise<void> | null = null;

  constructor(storage: Storage, hooks: StorageQueueHooks, groupBytesMax = GROUP_BYTES_MAX) {
    this.#storage = storage;
    this.#hooks = hooks;
    this.#groupBytesMax = groupBytesMax;
  }

  enqueue(output: StorageOutput): void {
    if (this.#failed) return;
    this.#waiting.push(output);
    if (output.kind === 'append') this.#bytes += output.batch.bytes.length;
    this.#running ??= this.#run();
  }

  /**
   * Records in `meta` where the log ends after the output that is being carried out, while further
   * ones follow. Does nothing while an earlier mark is being written.
   */
  markLogEnd(): void {
    if (this.#failed || this.#marking !== null) return;
    this.#wantsMark = true;
    this.#running ??= this.#run();
  }

  /**
   * Runs `task` before the next output, while nothing is written. Its failure is fatal, as that of
   * an output is. One at a time.
   */
  runBetween(task: () => Promise<void>): void {
    if (this.#failed) return;
    assert(this.#between === null, 'one task at a time runs between two outputs');
    this.#between = task;
    this.#running ??= this.#run();
  }

  /** Bytes of proposals that are not durable yet, for backpressure. */
  get pendingBytes(): number {
    return this.#bytes;
  }

  /** Resolves when nothing waits and no mark is being written, or the queue has failed. */
  async idle(): Promise<void> {
    for (let work = this.#work; work !== null; work = this.#work) await work;
  }

  get #work(): Promise<void> | null {
    return this.#running ?? this.#marking;
  }

  async #run(): Promise<void> {
    try {
      // What is appended in the same callback of the event loop comes together in the first group:
      // all that a leader proposes at the end of its turn, or that one read brings to a follower.
      await Promise.resolve();
      while (this.#waiting.length > 0 || this.#wantsMark || this.#between !== null) {
        const task = this.#between;
        this.#between = null;
        if (task !== null) await task();
        const output = this.#waiting.shift();
        if (output?.kind === 'append') {
          const ticket = await this.#appendGroup(output);
          this.#hooks.onPersisted(ticket);
        } else if (output !== undefined) {
          await this.#carryOut(output);
          this.#hooks.onPersisted(output.ticket);
        }
        if (this.#wantsMark) this.#marking = this.#mark();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#running = null;
    }
  }

  async #mark(): Promise<void> {
    this.#wantsMark = false;
    try {
      await this.#storage.markLogEnd();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#marking = null;
    }
  }

  /** Storage refuses the next output, too. */
  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#hooks.onFatal(error);
  }

  /** Appends as many batches as wait and fit. Returns the ticket of the last one. */
  async #appendGroup(first: Append): Promise<Ticket> {
    const waiting = this.#waiting;
    const batches = [first.batch];
    let { ticket } = first;
    let bytes = first.batch.bytes.length;
    for (let next = waiting.first; next?.kind === 'append'; next = waiting.first) {
      if (bytes + next.batch.bytes.length > this.#groupBytesMax) break;
      waiting.shift();
      batches.push(next.batch);
      ticket = next.ticket;
      bytes += next.batch.bytes.length;
    }
    this.#hooks.onWriting?.();
    await this.#storage.append(batches);
    this.#hooks.onWritten?.();
    this.#bytes -= bytes;
    return ticket;
  }

  async #carryOut(output: Exclude<StorageOutput, Append>): Promise<void> {
    switch (output.kind) {
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
