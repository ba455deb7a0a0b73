/**
 * An entry of a queue in Curator's format, as a consumer gets it: locked until it is done, or, in a
 * queue without locks, removed already. Decodes; everything else is claims.ts's.
 */
import { parentOf } from '@rookery/protocol';
import type { Lease } from '../../api/lease.js';
import type { TransactionOp } from '../../api/transaction.js';
import { RecipeStateError } from '../shared/errors.js';
import type { HeldEntry } from './held-entry.js';
import type { ItemCodec } from './item-format.js';

/** Disposing gives back what is held and not done. */
/** `T` is what the queue's codec reads an item as; without one, bytes. */
export interface QueueEntry<T = Buffer> extends AsyncDisposable {
  /** Its znode's. */
  readonly name: string;
  readonly path: string;
  /**
   * As put, one or more. QueueFormatError when the data is not in Curator's format; what the codec
   * throws, such as InvalidDataError, when it does not read an item.
   */
  readonly items: readonly T[];
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
  /**
   * Puts it at the end of the queue at another path, which need not exist; under a lock in one
   * transaction.
   */
  moveTo(queuePath: string): Promise<void>;
  /**
   * Notes that work on it begins once more, and gives how often that was noted: under a lock by
   * whomever, dead ones too, in the version of the entry's znode; otherwise here.
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
