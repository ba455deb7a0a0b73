/**
 * A held entry of an IdempotentQueue, which ends together with the flag of its id.
 */
import { joinPath, NodeExistsError, nameOf, parentOf } from '@rookery/protocol';
import { TransactionError } from '../../api/errors.js';
import type { Lease } from '../../api/lease.js';
import type { TransactionOp } from '../../api/transaction.js';
import type { Acl } from '../../api/values.js';
import { RecipeStateError } from '../shared/errors.js';
import type { Entry } from './entry-source.js';
import { type HeldEntry, withDirectories } from './held-entry.js';

/** The names and contents of the znodes of an IdempotentQueue. */
export const IdempotentZnodes = {
  flags: 'flags',
  items: 'items',
  queued: 'queued',
  done: 'done',
} as const;

export interface IdempotentEntryPlan {
  readonly flagPath: string;
  readonly acl: readonly Acl[] | undefined;
  /** Creates the directories of another queue to which an entry is moved. */
  makeDirectories(queuePath: string): Promise<void>;
}

/** An entry that nobody else receives for as long as its lease is held. */
export class IdempotentEntry implements AsyncDisposable {
  readonly id: string;
  readonly #held: HeldEntry;
  readonly #head: string;
  readonly #plan: IdempotentEntryPlan;

  /** @internal */
  constructor(held: HeldEntry, { id, head }: Entry, plan: IdempotentEntryPlan) {
    this.id = decodeURIComponent(id ?? '');
    this.#held = held;
    this.#head = head;
    this.#plan = plan;
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

  get signal(): AbortSignal {
    return this.#held.signal;
  }

  /**
   * Removes the entry, sets its flag and commits `ops`, either all or nothing, like that of Queue.
   * Rejects with RecipeStateError if the id was forgotten meanwhile: the entry was withdrawn, and
   * is still held.
   */
  async done(ops: readonly TransactionOp[] = []): Promise<void> {
    await this.#end([this.#doneFlag], ops);
  }

  /** Gives the entry back to its position. */
  async release(): Promise<void> {
    await this.#held.release();
  }

  /** Moves it to the end of the queue. */
  async requeue(): Promise<void> {
    const { flagPath } = this.#plan;
    const queuePath = parentOf(parentOf(this.path));
    // The flag is created again too, because an item belongs to the flag that was created with it.
    const deletion = { kind: 'delete', path: flagPath, version: 0 } as const;
    await this.#end([deletion, ...this.#copyIn(queuePath)], []);
  }

  /**
   * Moves it to the end of another IdempotentQueue, unless that has its id already. In this queue
   * the id is done.
   */
  async moveTo(queuePath: string): Promise<void> {
    try {
      await withDirectories(
        () => this.done(this.#copyIn(queuePath)),
        () => this.#plan.makeDirectories(queuePath),
      );
    } catch (error) {
      const isThere = error instanceof TransactionError && error.error instanceof NodeExistsError;
      if (!isThere) throw error;
      await this.done();
    }
  }

  /** See QueueEntry.countAttempt(). */
  countAttempt(): Promise<number> {
    return this.#held.countAttempt();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  get #doneFlag(): TransactionOp {
    const { done: data } = IdempotentZnodes;
    return { kind: 'setData', path: this.#plan.flagPath, data, version: 0 };
  }

  #copyIn(queuePath: string): TransactionOp[] {
    const { flags, items, queued } = IdempotentZnodes;
    const { acl, flagPath } = this.#plan;
    const given = acl === undefined ? {} : { acl };
    const flag = joinPath(joinPath(queuePath, flags), nameOf(flagPath));
    const item = joinPath(joinPath(queuePath, items), this.#head);
    return [
      { kind: 'create', path: flag, data: queued, ...given },
      { kind: 'create', path: item, data: this.data, mode: 'persistentSequential', ...given },
    ];
  }

  async #end(own: readonly TransactionOp[], ops: readonly TransactionOp[]): Promise<void> {
    try {
      await this.#held.done([...own, ...ops]);
    } catch (error) {
      if (!(error instanceof TransactionError)) throw error;
      const { failedIndex, results } = error;
      if (failedIndex < own.length) throw new RecipeStateError(this.path, 'the id is forgotten');
      const errors = results.slice(own.length).map((one) => (one instanceof Error ? one : null));
      throw new TransactionError(failedIndex - own.length, error.error, errors);
    }
  }
}
