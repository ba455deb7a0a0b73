/**
 * SimpleQueue: the queue of the ZooKeeper documentation: bytes in, bytes out, first in first out;
 * Curator's SimpleDistributedQueue.
 *
 * **Guarantee.** Exactly once in: what `offer` has put is there once; an error that is not
 * `ambiguous` means not at all. At most once out: an entry is removed as it is given, so what a
 * consumer dies with is lost; nothing is given twice. Queue has entries that survive their
 * consumers.
 *
 * **Znodes.** `<path>/qn-<number>`, persistent sequential, data as given, in `<path>`. Marks
 * of transactions under way, ephemeral, in `<path>-in-flight`.
 *
 * **Suspended.** Waits go on. **Lost.** A wait fails with SessionExpiredError, or goes on in the
 * next session (`onSessionLost: 'rejoin'`); an entry that was being removed at that moment may be
 * lost, the error then is `ambiguous`. Sizes: see Queue.
 */
import type { Client } from '../api/client.js';
import type { Data } from '../api/values.js';
import { readOrNull, removeEntry } from './queues/claims.js';
import { EntryFeed } from './queues/entry-feed.js';
import { SIMPLE_ENTRY, SimpleLayout } from './queues/entry-names.js';
import type { QueueOptions } from './queues/entry-queue.js';
import { DirectorySource } from './queues/entry-source.js';
import { putEntries } from './queues/putting.js';
import { asDoubtful } from './shared/doubt.js';
import type { WaitOptions } from './shared/wait-scope.js';

export type SimpleQueueOptions = Omit<QueueOptions, 'lockPath'>;

export class SimpleQueue {
  readonly path: string;
  readonly #client: Client;
  readonly #options: SimpleQueueOptions;
  readonly #plan: { readonly marks: string; readonly acl: QueueOptions['acl'] };
  readonly #source: DirectorySource;
  readonly #feed: EntryFeed;

  constructor(client: Client, path: string, options: SimpleQueueOptions = {}) {
    this.path = path;
    this.#client = client;
    this.#options = options;
    this.#plan = { marks: options.marksPath ?? `${path}-in-flight`, acl: options.acl };
    const place = { directory: path, locks: null, layout: SimpleLayout };
    this.#source = new DirectorySource(client, place);
    this.#feed = new EntryFeed(client, this.#source);
  }

  /** Puts it at the end; errors as of Queue.put. */
  async offer(data: Data, options: WaitOptions = {}): Promise<void> {
    const plan = { directory: this.path, marks: this.#plan.marks, acl: this.#plan.acl };
    await putEntries(this.#client, plan, [{ head: SIMPLE_ENTRY, data }], options);
  }

  /**
   * Removes and gives the first; waits for one. Null data is given as no bytes. Errors:
   * Queue.take.
   */
  async take(options: WaitOptions = {}): Promise<Buffer> {
    const { onSessionLost } = this.#options;
    const given = { ...options, onSessionLost };
    const { data } = await asDoubtful(this.#client, this.path, given, (within, doubt) =>
      this.#feed.next(within, (entry) =>
        removeEntry(this.#client, entry, this.#plan, { within, doubt }),
      ),
    );
    return data ?? Buffer.alloc(0);
  }

  /** Removes and gives the first; null when there is none, as of a reading newer than the call. */
  async poll(options: WaitOptions = {}): Promise<Buffer | null> {
    const { onSessionLost } = this.#options;
    const given = { ...options, onSessionLost };
    const removed = await asDoubtful(this.#client, this.path, given, (within, doubt) =>
      this.#feed.nextNow(within, (entry) =>
        removeEntry(this.#client, entry, this.#plan, { within, doubt }),
      ),
    );
    return removed === null ? null : (removed.data ?? Buffer.alloc(0));
  }

  /** The first without removing it, null when there is none; it may be gone when this resolves. */
  async peek(options: WaitOptions = {}): Promise<Buffer | null> {
    const given = { ...options, onSessionLost: 'rejoin' as const };
    return await asDoubtful(this.#client, this.path, given, async (within) => {
      for (const { path } of await this.#source.list(within, true)) {
        const node = await readOrNull(this.#client, path, within);
        if (node !== null) return node.data ?? Buffer.alloc(0);
      }
      return null;
    });
  }
}
