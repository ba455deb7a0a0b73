/**
 * LockingQueue: entries are locked when they are taken, removed when they are done, and go to
 * another consumer if their holder dies, as in kazoo's LockingQueue. An example is the queue of a
 * crawler, in which a page is done when it is stored, not when it is fetched.
 *
 * **Guarantee.** When a put resolves, the entry is in the queue exactly once. Delivery is at least
 * once: an entry that is not done is delivered again after its holder's lease was lost, which the
 * lease's `signal` reports before that; while it is held, it goes to nobody else. `done(ops)`
 * commits its effects on znodes exactly once. Entries with lower priority numbers come first, then
 * the order of the puts decides; an entry that is given back keeps its position.
 *
 * **Znodes.** `<path>/entries/entry-<priority, 3 digits>-<number>`, persistent sequential, has the
 * data. `<path>/taken/<entry>`, ephemeral, exists while a worker has the entry; its data is a GUID,
 * a line feed and the worker's name. All directories are persistent, as kazoo's. Markers of puts in
 * progress, ephemeral, are in `<path>/in-flight`, a container. Unlike in kazoo, one object may hold
 * several entries at once.
 *
 * **Suspended.** Waits continue, and held entries stay held. **Lost.** Held entries are lost and go
 * to other consumers. A wait fails with SessionExpiredError, or continues in the next session
 * (`onSessionLost: 'rejoin'`), as consume() and entries() do unless told 'fail'. A put in progress
 * may have happened, so its error is `ambiguous`.
 */
import { joinPath, nameOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import type { Acl, Data } from '../api/values.js';
import { type ConsumeOptions, consumeAll, entriesOf, inLoops } from './queues/consume.js';
import { EntryFeed } from './queues/entry-feed.js';
import { KAZOO_ENTRY, KazooLayout } from './queues/entry-names.js';
import { DirectorySource, type Entry } from './queues/entry-source.js';
import { HeldEntry } from './queues/held-entry.js';
import { putEntries } from './queues/putting.js';
import { withAmbiguity } from './shared/doubt.js';
import { ensureThere } from './shared/idempotent.js';
import type { Within } from './shared/persist.js';
import type { WaitOptions } from './shared/wait-scope.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

export interface LockingQueueOptions extends SessionLossOptions {
  /** The name of this worker in its locks, for people; this machine's address by default. */
  readonly worker?: string | undefined;
  /** The ACL of all znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
  /** See PriorityQueue. */
  readonly entriesPerListing?: number | undefined;
}

export interface LockingPutOptions extends WaitOptions {
  /** A number from 0 to 999; lower numbers come first; default 100. */
  readonly priority?: number | undefined;
}

export class LockingQueue {
  readonly path: string;
  readonly #client: Client;
  readonly #options: LockingQueueOptions;
  readonly #entries: string;
  readonly #taken: string;
  readonly #marks: string;
  readonly #feed: EntryFeed;
  #isReady = false;

  constructor(client: Client, path: string, options: LockingQueueOptions = {}) {
    const { entriesPerListing: perListing = 1 } = options;
    if (!(perListing >= 1)) throw new OptionError('entriesPerListing', 'must be at least 1');
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#entries = joinPath(path, 'entries');
    this.#taken = joinPath(path, 'taken');
    this.#marks = joinPath(path, 'in-flight');
    const place = { directory: this.#entries, locks: this.#taken, layout: KazooLayout };
    this.#feed = new EntryFeed(client, new DirectorySource(client, place), { perListing });
  }

  /** Rejects with the errors of Queue.put. */
  async put(data: Data, options: LockingPutOptions = {}): Promise<void> {
    await this.putAll([data], options);
  }

  /** Puts an entry for each item, either all of them or none. */
  async putAll(all: readonly Data[], options: LockingPutOptions = {}): Promise<void> {
    const { priority = 100 } = options;
    if (!Number.isInteger(priority) || priority < 0 || priority > 999) {
      throw new OptionError('priority', 'must be an integer from 0 to 999');
    }
    const head = `${KAZOO_ENTRY}${String(priority).padStart(3, '0')}-`;
    const plan = { directory: this.#entries, marks: this.#marks, acl: this.#options.acl };
    const entries = all.map((data) => ({ head, data }));
    await putEntries(this.#client, plan, entries, options);
  }

  /** Waits for an entry and takes it. The errors are those of Queue.take, but never `ambiguous`. */
  take(options: WaitOptions = {}): Promise<HeldEntry> {
    return this.#take(options, this.#options);
  }

  /**
   * Takes an entry if one is free, else resolves with null, from a read that is at least as new as
   * the call.
   */
  async poll(options: WaitOptions = {}): Promise<HeldEntry | null> {
    return await this.#taking(options, this.#options, (within) =>
      this.#feed.nextNow(within, (entry) => this.#claim(entry, within)),
    );
  }

  /**
   * Like Queue.entries(): continuing the loop marks the entry as done, and leaving it gives the
   * entry back.
   */
  entries(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<HeldEntry, void> {
    return entriesOf((given) => this.#take(given, inLoops(this.#options)), options);
  }

  /** See Queue.consume(). */
  async consume(
    handle: (entry: HeldEntry) => unknown,
    options: ConsumeOptions = {},
  ): Promise<void> {
    const take = (given: WaitOptions) => this.#take(given, inLoops(this.#options));
    await consumeAll(this.#client, take, handle, options);
  }

  async #take(options: WaitOptions, onLoss: SessionLossOptions): Promise<HeldEntry> {
    return await this.#taking(options, onLoss, (within) =>
      this.#feed.next(within, (entry) => this.#claim(entry, within)),
    );
  }

  async #taking<T>(
    options: WaitOptions,
    { onSessionLost }: SessionLossOptions,
    attempt: (within: Within) => Promise<T>,
  ): Promise<T> {
    return await withAmbiguity(this.#client, this.path, { ...options, onSessionLost }, attempt);
  }

  async #claim(entry: Entry, within: Within): Promise<HeldEntry | null> {
    const { acl, worker: holderName } = this.#options;
    // Only once, because kazoo expects that the directory stays.
    if (!this.#isReady) {
      await ensureThere(this.#client, this.#taken, acl === undefined ? {} : { acl }, within);
      this.#isReady = true;
    }
    const lockPath = joinPath(this.#taken, entry.name);
    const onGivenBack = () => this.#feed.forgetKnown();
    const entriesIn = nameOf(this.#entries);
    const plan = { marks: this.#marks, acl, holderName, entriesIn, onGivenBack };
    return await HeldEntry.claim(this.#client, { ...entry, lockPath }, plan, within);
  }
}
