/**
 * IdempotentQueue: a queue in which an enqueue may be repeated, after an ambiguous error, by
 * another process, or after a restart. The producer chooses an id, and consumers check the flag of
 * that id.
 *
 * **Guarantee.** However often an id is enqueued, it is in the queue once. Once it is done it does
 * not come back until it is forgotten. Delivery is at least once: an entry is locked while a
 * consumer processes it, and is free again if the consumer dies. Its removal is committed together
 * with its flag, so it is done once, and so are the effects on znodes in `done(ops)`. Entries are
 * delivered in the order of the enqueues.
 *
 * **Znodes.** `<path>/flags/<id>`, persistent, is `queued` and later `done`. It is created in one
 * transaction with `<path>/items/item-|<id>|<number>`, which has the data; ids are percent-encoded.
 * An item counts only if its flag is `queued` and was created with it (czxid); a consumer removes
 * any other item. `<path>/locks/<item>`, ephemeral, exists while a consumer processes the item.
 * Flags remain until `forget(id)`, so a queue in which no id is forgotten grows by a small znode
 * for each id.
 *
 * **Suspended.** Waits continue, and held entries stay held. **Lost.** Held entries are lost and go
 * to other consumers. An enqueue or a wait fails with SessionExpiredError, or continues in the next
 * session (`onSessionLost: 'rejoin'`), which is harmless here. consume() and entries() continue
 * unless told 'fail'.
 */
import { joinPath, NodeExistsError, NoNodeError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError, TransactionError } from '../api/errors.js';
import type { TransactionOp } from '../api/transaction.js';
import type { Acl, Data, Session } from '../api/values.js';
import { readOrNull } from './queues/claims.js';
import { type ConsumeOptions, consumeAll, entriesOf, inLoops } from './queues/consume.js';
import { EntryFeed } from './queues/entry-feed.js';
import { IdempotentLayout } from './queues/entry-names.js';
import { DirectorySource, type Entry } from './queues/entry-source.js';
import { HeldEntry } from './queues/held-entry.js';
import { IdempotentEntry, IdempotentZnodes } from './queues/idempotent-entry.js';
import { type Doubt, persistWrite, withAmbiguity } from './shared/doubt.js';
import { ensureGone, ensureThere } from './shared/idempotent.js';
import { bounds, persist, type Within } from './shared/persist.js';
import type { WaitOptions } from './shared/wait-scope.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

export interface IdempotentQueueOptions extends SessionLossOptions {
  /** The ACL of all znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
}

/** What is known of an id. */
export type EnqueuedState = 'unknown' | 'queued' | 'done';

const { flags: FLAGS, items: ITEMS, queued: QUEUED } = IdempotentZnodes;
const ROUNDS_MAX = 10;

export class IdempotentQueue {
  readonly path: string;
  readonly #client: Client;
  readonly #options: IdempotentQueueOptions;
  readonly #flags: string;
  readonly #items: string;
  readonly #locks: string;
  readonly #feed: EntryFeed;

  constructor(client: Client, path: string, options: IdempotentQueueOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#flags = joinPath(path, FLAGS);
    this.#items = joinPath(path, ITEMS);
    this.#locks = joinPath(path, 'locks');
    const place = { directory: this.#items, locks: this.#locks, layout: IdempotentLayout };
    this.#feed = new EntryFeed(client, new DirectorySource(client, place));
  }

  /**
   * Resolves when the id is in the queue or done, whoever enqueued it. It may be repeated after any
   * error. The data of the first enqueue counts.
   */
  async enqueue(id: string, data: Data, options: WaitOptions = {}): Promise<void> {
    const { acl } = this.#options;
    const given = acl === undefined ? {} : { acl };
    const ops: TransactionOp[] = [
      { kind: 'create', path: this.#flagOf(id), data: QUEUED, ...given },
      {
        kind: 'create',
        path: joinPath(this.#items, `item-|${encoded(id)}|`),
        data,
        mode: 'persistentSequential',
        ...given,
      },
    ];
    await this.#asking(options, (within, doubt) =>
      persistWrite(this.#client, within, doubt, () => this.#commit(ops, within)),
    );
  }

  async stateOf(id: string, options: WaitOptions = {}): Promise<EnqueuedState> {
    const path = this.#flagOf(id);
    return await this.#asking(options, async (within) => {
      await persist(this.#client, within, () => this.#client.sync(path, bounds(within)));
      const flag = await readOrNull(this.#client, path, within);
      if (flag === null) return 'unknown';
      return flag.data?.toString() === QUEUED ? 'queued' : 'done';
    });
  }

  /**
   * Forgets an id. Use it only if nobody will enqueue the id again by mistake. If its entry is
   * still waiting, no consumer receives it.
   */
  async forget(id: string, options: WaitOptions = {}): Promise<void> {
    const path = this.#flagOf(id);
    await this.#asking(options, (within, doubt) =>
      persistWrite(this.#client, within, doubt, () => ensureGone(this.#client, path, within)),
    );
  }

  /** Waits for an entry and takes it. The errors are those of Queue.take, but never `ambiguous`. */
  take(options: WaitOptions = {}): Promise<IdempotentEntry> {
    return this.#take(options, this.#options);
  }

  /**
   * Takes an entry if one is free, else resolves with null, from a read that is at least as new as
   * the call.
   */
  async poll(options: WaitOptions = {}): Promise<IdempotentEntry | null> {
    return await this.#asking(options, (within) =>
      this.#feed.nextNow(within, (entry) => this.#claim(entry, within)),
    );
  }

  /**
   * Like Queue.entries(): continuing the loop marks the entry as done, and leaving it gives the
   * entry back.
   */
  entries(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<IdempotentEntry, void> {
    return entriesOf((given) => this.#take(given, inLoops(this.#options)), options);
  }

  /** See Queue.consume(). */
  async consume(
    handle: (entry: IdempotentEntry) => unknown,
    options: ConsumeOptions = {},
  ): Promise<void> {
    const take = (given: WaitOptions) => this.#take(given, inLoops(this.#options));
    await consumeAll(this.#client, take, handle, options);
  }

  /** It may be repeated, because the flag shows that it was already done. */
  async #commit(ops: readonly TransactionOp[], within: Within): Promise<void> {
    const { acl } = this.#options;
    for (let round = 1; ; round++) {
      try {
        await this.#client.multi(ops, bounds(within));
        return;
      } catch (error) {
        if (!(error instanceof TransactionError)) throw error;
        if (error.failedIndex === 0 && error.error instanceof NodeExistsError) return;
        const isMissing = error.error instanceof NoNodeError;
        if (!isMissing || round === ROUNDS_MAX) throw error.error;
      }
      for (const directory of [this.#flags, this.#items]) {
        await ensureThere(this.#client, directory, acl === undefined ? {} : { acl }, within);
      }
    }
  }

  async #claim(entry: Entry, within: Within): Promise<IdempotentEntry | null> {
    const lockPath = joinPath(this.#locks, entry.name);
    const onGivenBack = () => this.#feed.forgetKnown();
    const plan = { marks: '', acl: this.#options.acl, onGivenBack };
    const held = await HeldEntry.claim(this.#client, { ...entry, lockPath }, plan, within);
    if (held === null) return null;
    let isOurs = false;
    try {
      const flagPath = joinPath(this.#flags, entry.id ?? '');
      const flag = await readOrNull(this.#client, flagPath, within);
      within.signal.throwIfAborted();
      isOurs = flag?.data?.toString() === QUEUED && flag.stat.czxid === held.czxid;
      if (isOurs) return this.#entry(held, entry, { flagPath, session: within.session });
      await held.done();
      return null;
    } finally {
      if (!isOurs) await held.release();
    }
  }

  #entry(
    held: HeldEntry,
    entry: Entry,
    { flagPath, session }: { readonly flagPath: string; readonly session: Session },
  ): IdempotentEntry {
    const { acl } = this.#options;
    const given = acl === undefined ? {} : { acl };
    const within = { session, signal: held.signal };
    const makeDirectories = async (queuePath: string) => {
      for (const name of [FLAGS, ITEMS]) {
        await ensureThere(this.#client, joinPath(queuePath, name), given, within);
      }
    };
    return new IdempotentEntry(held, entry, { flagPath, acl, makeDirectories });
  }

  async #take(
    options: WaitOptions,
    { onSessionLost }: SessionLossOptions,
  ): Promise<IdempotentEntry> {
    const given = { ...options, onSessionLost };
    return await withAmbiguity(this.#client, this.path, given, (within) =>
      this.#feed.next(within, (entry) => this.#claim(entry, within)),
    );
  }

  #flagOf(id: string): string {
    return joinPath(this.#flags, encoded(id));
  }

  async #asking<T>(
    options: WaitOptions,
    attempt: (within: Within, doubt: Doubt) => Promise<T>,
  ): Promise<T> {
    const { onSessionLost } = this.#options;
    return await withAmbiguity(this.#client, this.path, { ...options, onSessionLost }, attempt);
  }
}

/** Encodes an id as a part of a name: without slashes and bars, and never `.` or `..`. */
function encoded(id: string): string {
  if (id === '') throw new OptionError('id', 'must not be empty');
  return encodeURIComponent(id).replaceAll('.', '%2E');
}
