/**
 * An entry of a queue in Curator's format, as a consumer gets it: locked until it is done, or, in a
 * queue without locks, removed already. Decodes; everything else is claims.ts's.
 */
import type { Lease } from '../../api/lease.js';
import type { TransactionOp } from '../../api/transaction.js';
import { RecipeStateError } from '../shared/errors.js';
import type { HeldEntry } from './claims.js';
import { decodeItems } from './item-format.js';

/** Disposing gives back what is held and not done. */
export interface QueueEntry extends AsyncDisposable {
  /** Its znode's. */
  readonly name: string;
  readonly path: string;
  /** As put, one or more. QueueFormatError when the data is not in Curator's format. */
  readonly items: readonly Buffer[];
  /** The data as it stands. */
  readonly data: Buffer | null;
  /** By which it is held; its signal tells when somebody else may get the entry. Null: removed. */
  readonly lease: Lease | null;
  /**
   * It is dealt with: removes it, with `ops` in the same transaction, so that their effect happens
   * once. Without a lock it is removed already: does nothing, and RecipeStateError for `ops`.
   */
  done(ops?: readonly TransactionOp[]): Promise<void>;
  /** Gives it back, to its old place. Without a lock: does nothing, it is gone. */
  release(): Promise<void>;
  /** Puts it at the end. */
  requeue(): Promise<void>;
}

export class LockedQueueEntry implements QueueEntry {
  readonly #held: HeldEntry;

  constructor(held: HeldEntry) {
    this.#held = held;
  }

  get name(): string {
    return this.#held.name;
  }

  get path(): string {
    return this.#held.path;
  }

  get data(): Buffer | null {
    return this.#held.data;
  }

  get lease(): Lease {
    return this.#held.lease;
  }

  get items(): readonly Buffer[] {
    return decodeItems(this.data, this.path);
  }

  done(ops: readonly TransactionOp[] = []): Promise<void> {
    return this.#held.done(ops);
  }

  release(): Promise<void> {
    return this.#held.release();
  }

  requeue(): Promise<void> {
    return this.#held.requeue();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

export class RemovedQueueEntry implements QueueEntry {
  readonly lease = null;
  readonly name: string;
  readonly path: string;
  readonly data: Buffer | null;
  readonly #putAgain: () => Promise<void>;
  #isOver = false;

  /** `putAgain` puts the same data at the end. */
  constructor(
    entry: { readonly name: string; readonly path: string; readonly data: Buffer | null },
    putAgain: () => Promise<void>,
  ) {
    this.name = entry.name;
    this.path = entry.path;
    this.data = entry.data;
    this.#putAgain = putAgain;
  }

  get items(): readonly Buffer[] {
    return decodeItems(this.data, this.path);
  }

  async done(ops: readonly TransactionOp[] = []): Promise<void> {
    if (ops.length > 0) throw new RecipeStateError(this.path, 'removed already, without a lock');
    this.#isOver = true;
  }

  async release(): Promise<void> {
    this.#isOver = true;
  }

  async requeue(): Promise<void> {
    if (this.#isOver) throw new RecipeStateError(this.path, 'the entry is done');
    this.#isOver = true;
    await this.#putAgain();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
