/**
 * The common base of Curator's queues, whatever the names of their entries: taking, consuming,
 * size, and putting entries with a given head. It owns the feed and the paths beside the queue.
 *
 * The directories of the entries and of the locks are persistent, as in Curator: a Curator consumer
 * that waits at a directory which is removed as an empty container would wait for ever.
 */
import { parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Codec } from '../../api/codec.js';
import type { Acl } from '../../api/values.js';
import type { Doubt } from '../shared/doubt.js';
import { withAmbiguity } from '../shared/doubt.js';
import { ensureThere } from '../shared/idempotent.js';
import { bounds, persist, type Within } from '../shared/persist.js';
import type { WaitOptions } from '../shared/wait-scope.js';
import type { SessionLossOptions } from '../shared/waiting-line.js';
import { removeEntry } from './claims.js';
import { type ConsumeOptions, consumeAll, entriesOf, inLoops } from './consume.js';
import { EntryFeed, type FeedOptions } from './entry-feed.js';
import type { EntryLayout } from './entry-names.js';
import { DirectorySource, type Entry, type EntrySource } from './entry-source.js';
import { HeldEntry } from './held-entry.js';
import { ItemCodec, type RawItem } from './item-format.js';
import { putEntries } from './putting.js';
import { LockedQueueEntry, type QueueEntry, RemovedQueueEntry } from './queue-entry.js';

/** `T` and `In` are the types of the codec: what an item is read as, and what may be put. */
export interface QueueOptions<T = Buffer, In = RawItem> extends SessionLossOptions {
  /**
   * Determines how items are written and read, for instance json(schema); bytes and strings without
   * one.
   */
  readonly codec?: Codec<T, In> | undefined;
  /**
   * The directory of the locks of entries that are being processed. With it, an entry is removed
   * when it is done, and is free again if its consumer dies (at least once). Without it, an entry
   * is removed when it is taken (at most once). All consumers of a queue must use the same value.
   */
  readonly lockPath?: string | undefined;
  /** The ACL of all znodes; OPEN_ACL by default. */
  readonly acl?: readonly Acl[] | undefined;
  /** The container of the markers of transactions in progress; `<path>-in-flight` by default. */
  readonly marksPath?: string | undefined;
}

export interface TakeOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface QueueKind extends FeedOptions {
  readonly layout: EntryLayout;
  /** Replaces the queue's own directory as the source of entries. */
  readonly source?: EntrySource | undefined;
}

export abstract class EntryQueue<T = Buffer, In = RawItem> {
  readonly path: string;
  protected readonly client: Client;
  protected readonly options: Omit<QueueOptions, 'codec'>;
  readonly #codec: ItemCodec<T, In>;
  protected readonly marks: string;
  readonly #source: EntrySource;
  readonly #feed: EntryFeed;
  readonly #readyLocks = new Set<string>();

  constructor(client: Client, path: string, options: QueueOptions<T, In>, kind: QueueKind) {
    const { lockPath: locks = null, marksPath = `${path}-in-flight` } = options;
    this.path = path;
    this.client = client;
    this.options = options;
    this.#codec = new ItemCodec(options.codec);
    this.marks = marksPath;
    const { layout, source = new DirectorySource(client, { directory: path, locks, layout }) } =
      kind;
    this.#source = source;
    this.#feed = new EntryFeed(client, source, kind);
  }

  /**
   * Waits for an entry. Rejects with WaitTimeoutError, OperationAbortedError, SessionExpiredError,
   * ClientClosedError, or an error of the server, such as NoAuthError. In a queue without locks, a
   * wait whose entry is being removed at that moment still resolves with the entry, because nobody
   * else could get it. Only if the session is lost then may the entry be lost too, and the error is
   * `ambiguous`.
   */
  take(options: WaitOptions = {}): Promise<QueueEntry<T>> {
    return this.#take(options, this.options);
  }

  /**
   * Takes an entry if one is free, else resolves with null, from a read that is at least as new as
   * the call.
   */
  async poll(options: WaitOptions = {}): Promise<QueueEntry<T> | null> {
    return await this.#taking(options, (within, doubt) =>
      this.#feed.nextNow(within, (entry) => this.#claim(entry, within, doubt)),
    );
  }

  /**
   * Takes one entry after the other until the signal is aborted, also in the client's next session
   * unless `onSessionLost` is 'fail'. Continuing the loop marks the entry as done; leaving the
   * loop, or an exception, gives it back (if it is locked).
   */
  entries(options: TakeOptions = {}): AsyncGenerator<QueueEntry<T>, void> {
    return entriesOf((given) => this.#take(given, inLoops(this.options)), options);
  }

  /**
   * Calls the function with each entry, at most `concurrency` of them at once, until the signal is
   * aborted. Resolves when those in progress have ended. An entry is done when its function's
   * promise resolves. It continues in the client's next session, as entries() does.
   */
  async consume(
    handle: (entry: QueueEntry<T>) => unknown,
    options: ConsumeOptions = {},
  ): Promise<void> {
    const take = (given: TakeOptions) => this.#take(given, inLoops(this.options));
    await consumeAll(this.client, take, handle, options);
  }

  /** The number of entries that are not removed, including locked ones. */
  async size(options: WaitOptions = {}): Promise<number> {
    return await withAmbiguity(this.client, this.path, options, (within) =>
      persist(this.client, within, async () => {
        await this.client.sync(this.path, bounds(within));
        return (await this.client.exists(this.path, bounds(within)))?.numChildren ?? 0;
      }),
    );
  }

  protected async putItems(
    head: string,
    items: readonly In[],
    options: WaitOptions,
  ): Promise<void> {
    const plan = { directory: this.path, marks: this.marks, acl: this.options.acl };
    await putEntries(this.client, plan, [{ head, data: this.encode(items) }], options);
  }

  /** Encodes the data of one entry; throws the errors of the codec. */
  protected encode(items: readonly In[]): Buffer {
    return this.#codec.encode(items, this.path);
  }

  /** Removes the free entries that match, and resolves with their number. */
  protected async removeEach(
    matches: (entry: Entry) => boolean,
    options: WaitOptions,
  ): Promise<number> {
    return await this.#taking(options, async (within, doubt) => {
      let count = 0;
      for (const entry of await this.#source.list(within, true)) {
        const claimed = matches(entry) ? await this.#claim(entry, within, doubt) : null;
        if (claimed === null) continue;
        await claimed.done();
        count += 1;
      }
      return count;
    });
  }

  get #plan() {
    const onGivenBack = () => this.#feed.forgetKnown();
    return { marks: this.marks, acl: this.options.acl, onGivenBack };
  }

  async #take(options: WaitOptions, { onSessionLost }: SessionLossOptions): Promise<QueueEntry<T>> {
    return await withAmbiguity(
      this.client,
      this.path,
      { ...options, onSessionLost },
      (within, doubt) => this.#feed.next(within, (entry) => this.#claim(entry, within, doubt)),
    );
  }

  async #taking<Result>(
    options: WaitOptions,
    attempt: (within: Within, doubt: Doubt) => Promise<Result>,
  ): Promise<Result> {
    const { onSessionLost } = this.options;
    return await withAmbiguity(this.client, this.path, { ...options, onSessionLost }, attempt);
  }

  async #claim(entry: Entry, within: Within, doubt: Doubt): Promise<QueueEntry<T> | null> {
    const { lockPath } = entry;
    if (lockPath === null) {
      const removed = await removeEntry(this.client, entry, this.#plan, { within, doubt });
      if (removed === null) return null;
      const { name, path, head } = entry;
      return new RemovedQueueEntry({ name, path, data: removed.data }, this.#codec, (directory) => {
        const plan = { ...this.#plan, directory };
        return putEntries(this.client, plan, [{ head, data: removed.data }], {});
      });
    }
    await this.#makeLocks(lockPath, within);
    const held = await HeldEntry.claim(this.client, { ...entry, lockPath }, this.#plan, within);
    return held === null ? null : new LockedQueueEntry(held, this.#codec);
  }

  /** Only once: if somebody deletes it later, it is created as a container. */
  async #makeLocks(lockPath: string, within: Within): Promise<void> {
    const locks = parentOf(lockPath);
    if (this.#readyLocks.has(locks)) return;
    const { acl } = this.options;
    await ensureThere(this.client, locks, acl === undefined ? {} : { acl }, within);
    this.#readyLocks.add(locks);
  }
}
