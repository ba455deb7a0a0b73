/**
 * LockingQueue: entries are taken under a lock, consumed when they are done, and taken by somebody
 * else when their holder dies; kazoo's LockingQueue. A crawler's queue: a page is done when it is
 * stored, not when it is fetched.
 *
 * **Guarantee.** A put is in the queue exactly once when it resolves. At least once out: an entry
 * that is not done is given again after its holder's lease was lost, which the lease's `signal`
 * tells before; while it is held, to nobody else. `done(ops)` commits its effects on znodes
 * exactly once. Lower priorities first, then in the order of the puts; what is given back has its
 * old place.
 *
 * **Znodes.** `<path>/entries/entry-<priority, 3 digits>-<number>`, persistent sequential, data as
 * put; `<path>/taken/<entry>`, ephemeral, while somebody has it, data a GUID, a line feed and the
 * worker's name. All directories are persistent, as kazoo's. Marks of puts under way, ephemeral,
 * in `<path>/in-flight`, a container. Unlike kazoo's, one object may hold several entries at once.
 *
 * **Suspended.** Waits go on, what is held stays held. **Lost.** What is held is lost and others
 * are given it. A wait fails with SessionExpiredError, or goes on in the next session
 * (`onSessionLost: 'rejoin'`), as consume() and entries() do unless told 'fail'. A put that was
 * under way may have happened; the error is `ambiguous`.
 */
import { joinPath, nameOf } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Data } from '../api/values.js';
import { OptionError } from '../errors.js';
import { type ConsumeOptions, consumeAll, entriesOf, inLoops } from './queues/consume.js';
import { EntryFeed } from './queues/entry-feed.js';
import { KAZOO_ENTRY, KazooLayout } from './queues/entry-names.js';
import { DirectorySource, type Entry } from './queues/entry-source.js';
import { HeldEntry } from './queues/held-entry.js';
import { putEntries } from './queues/putting.js';
import { asDoubtful } from './shared/doubt.js';
import { ensureThere } from './shared/idempotent.js';
import type { Within } from './shared/persist.js';
import type { WaitOptions } from './shared/wait-scope.js';
import type { SessionLossOptions } from './shared/waiting-line.js';

export interface LockingQueueOptions extends SessionLossOptions {
  /** Written into the locks of this worker, for people; this machine's address by default. */
  readonly worker?: string | undefined;
  /** Of all znodes; open by default. */
  readonly acl?: readonly Acl[] | undefined;
  /** As of PriorityQueue. */
  readonly entriesPerListing?: number | undefined;
}

export interface LockingPutOptions extends WaitOptions {
  /** 0 to 999, lower ones first; default 100. */
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

  /** Errors as of Queue.put. */
  async put(data: Data, options: LockingPutOptions = {}): Promise<void> {
    await this.putAll([data], options);
  }

  /** An entry for each, all of them or none. */
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

  /** Waits for an entry and takes it; errors as of Queue.take, never `ambiguous`. */
  take(options: WaitOptions = {}): Promise<HeldEntry> {
    return this.#take(options, this.#options);
  }

  /** An entry if one is free, else null, as of a reading at least as new as the call. */
  async poll(options: WaitOptions = {}): Promise<HeldEntry | null> {
    return await this.#taking(options, this.#options, (within) =>
      this.#feed.nextNow(within, (entry) => this.#claim(entry, within)),
    );
  }

  /** As of Queue: going on to the next one says that the entry is done, leaving gives it back. */
  entries(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<HeldEntry, void> {
    return entriesOf((given) => this.#take(given, inLoops(this.#options)), options);
  }

  /** As of Queue. */
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
    return await asDoubtful(this.#client, this.path, { ...options, onSessionLost }, attempt);
  }

  async #claim(entry: Entry, within: Within): Promise<HeldEntry | null> {
    const { acl, worker: holderName } = this.#options;
    // Once: kazoo expects the directory to stay.
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
