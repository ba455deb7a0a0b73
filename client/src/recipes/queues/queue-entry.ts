/**
 * An entry of a queue in Curator's format, as a consumer receives it: locked until it is done, or
 * already removed in a queue without locks. This module only decodes; everything else is in
 * claims.ts.
 */
import { parentOf } from '@rookery/protocol';
import type { Lease } from '../../api/lease.js';
import type { TransactionOp } from '../../api/transaction.js';
import { RecipeStateError } from '../shared/errors.js';
import type { HeldEntry } from './held-entry.js';
import type { ItemCodec } from './item-format.js';

/**
 * An entry that a consumer has taken. Disposing it gives it back if it is held and not done. `T` is
 * the type of the items that the queue's codec reads; without one, they are bytes.
 */
export interface QueueEntry<T = Buffer> extends AsyncDisposable {
  /** The name of its znode. */
  readonly name: string;
  readonly path: string;
  /**
   * The items as they were put, one or more. Throws QueueFormatError if the data is not in
   * Curator's format, and the errors of the codec, such as InvalidDataError.
   */
  readonly items: readonly T[];
  /** The raw data. */
  readonly data: Buffer | null;
  /**
   * The lock; its signal reports that another consumer may get the entry. Null if it is already
   * removed.
   */
  readonly lease: Lease | null;
  /**
   * Marks it as done: removes it, with `ops` in the same transaction, so that their effects happen
   * once. Without a lock it is already removed: does nothing, and throws RecipeStateError if there
   * are `ops`.
   */
  done(ops?: readonly TransactionOp[]): Promise<void>;
  /** Gives it back to its position. Without a lock it does nothing, because the entry is gone. */
  release(): Promise<void>;
  /** Moves it to the end of the queue. */
  requeue(): Promise<void>;
  /**
   * Moves it to the end of the queue at another path, which need not exist; in one transaction if
   * it is locked.
   */
  moveTo(queuePath: string): Promise<void>;
  /**
   * Records that another attempt to process it begins, and resolves with the number of attempts:
   * with a lock by all consumers, including dead ones, in the version of the entry's znode;
   * otherwise only by this object.
   */
  countAttempt(): Promise<number>;
}

export class LockedQueueEntry<T> implements QueueEntry<T> {
  readonly #held: HeldEntry;
  readonly #codec: ItemCodec<T, never>;

  constructor(held: HeldEntry, codec: ItemCodec<T, never>) {
    this.#held = held;
    this.#codec = codec;
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

  get items(): readonly T[] {
    return this.#codec.decode(this.data, this.path);
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

  moveTo(queuePath: string): Promise<void> {
    return this.#held.moveTo(queuePath);
  }

  countAttempt(): Promise<number> {
    return this.#held.countAttempt();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

export class RemovedQueueEntry<T> implements QueueEntry<T> {
  readonly lease = null;
  readonly name: string;
  readonly path: string;
  readonly data: Buffer | null;
  readonly #putIn: (directory: string) => Promise<void>;
  readonly #codec: ItemCodec<T, never>;
  #isOver = false;
  #attempts = 0;

  /** `putIn` puts the same data at the end of a directory. */
  constructor(
    entry: { readonly name: string; readonly path: string; readonly data: Buffer | null },
    codec: ItemCodec<T, never>,
    putIn: (directory: string) => Promise<void>,
  ) {
    this.name = entry.name;
    this.path = entry.path;
    this.data = entry.data;
    this.#putIn = putIn;
    this.#codec = codec;
  }

  get items(): readonly T[] {
    return this.#codec.decode(this.data, this.path);
  }

  async done(ops: readonly TransactionOp[] = []): Promise<void> {
    if (ops.length > 0) throw new RecipeStateError(this.path, 'removed already, without a lock');
    this.#isOver = true;
  }

  async release(): Promise<void> {
    this.#isOver = true;
  }

  async requeue(): Promise<void> {
    await this.moveTo(parentOf(this.path));
  }

  async moveTo(queuePath: string): Promise<void> {
    if (this.#isOver) throw new RecipeStateError(this.path, 'the entry is done');
    this.#isOver = true;
    await this.#putIn(queuePath);
  }

  async countAttempt(): Promise<number> {
    this.#attempts += 1;
    return this.#attempts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
