/**
 * SimpleQueue: the queue of the ZooKeeper documentation, with bytes as entries, first in, first
 * out, as Curator's SimpleDistributedQueue.
 *
 * **Guarantee.** Exactly once in: when `offer` resolves, the entry is in the queue once; when it
 * rejects with an error that is not `ambiguous`, nothing was put. At most once out: an entry is
 * removed when it is delivered, so a consumer that dies takes its entry with it, and nothing is
 * delivered twice. Use Queue for entries that survive their consumers.
 *
 * **Znodes.** `<path>/qn-<number>`, persistent sequential, with the data as given, in `<path>`.
 * Markers of transactions in progress, ephemeral, are in `<path>-in-flight`.
 *
 * **Suspended.** Waits continue. **Lost.** A wait fails with SessionExpiredError, or continues in
 * the next session (`onSessionLost: 'rejoin'`). An entry that was being removed at that moment may
 * be lost; the error is then `ambiguous`. For sizes, see Queue.
 */
import type { Client } from '../api/client.js';
import type { Data } from '../api/values.js';
import { readOrNull, removeEntry } from './queues/claims.js';
import { EntryFeed } from './queues/entry-feed.js';
import { SIMPLE_ENTRY, SimpleLayout } from './queues/entry-names.js';
import type { QueueOptions } from './queues/entry-queue.js';
import { DirectorySource } from './queues/entry-source.js';
import { putEntries } from './queues/putting.js';
import { withAmbiguity } from './shared/doubt.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** Its entries are bytes as they are, so it takes no codec. */
export type SimpleQueueOptions = Omit<QueueOptions, 'codec' | 'lockPath'>;

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

  /** Appends an entry. Rejects with the errors of Queue.put. */
  async offer(data: Data, options: WaitOptions = {}): Promise<void> {
    const plan = { directory: this.path, marks: this.#plan.marks, acl: this.#plan.acl };
    await putEntries(this.#client, plan, [{ head: SIMPLE_ENTRY, data }], options);
  }

  /**
   * Removes the first entry and resolves with its data; waits if there is none. Null data becomes
   * an empty Buffer. Rejects with the errors of Queue.take.
   */
  async take(options: WaitOptions = {}): Promise<Buffer> {
    const { onSessionLost } = this.#options;
    const given = { ...options, onSessionLost };
    const { data } = await withAmbiguity(this.#client, this.path, given, (within, doubt) =>
      this.#feed.next(within, (entry) =>
        removeEntry(this.#client, entry, this.#plan, { within, doubt }),
      ),
    );
    return data ?? Buffer.alloc(0);
  }

  /**
   * Removes the first entry and resolves with its data, or with null if there is none, from a read
   * that is at least as new as the call.
   */
  async poll(options: WaitOptions = {}): Promise<Buffer | null> {
    const { onSessionLost } = this.#options;
    const given = { ...options, onSessionLost };
    const removed = await withAmbiguity(this.#client, this.path, given, (within, doubt) =>
      this.#feed.nextNow(within, (entry) =>
        removeEntry(this.#client, entry, this.#plan, { within, doubt }),
      ),
    );
    return removed === null ? null : (removed.data ?? Buffer.alloc(0));
  }

  /**
   * Resolves with the first entry without removing it, or null if there is none. It may be gone
   * when this resolves.
   */
  async peek(options: WaitOptions = {}): Promise<Buffer | null> {
    const given = { ...options, onSessionLost: 'rejoin' as const };
    return await withAmbiguity(this.#client, this.path, given, async (within) => {
      for (const { path } of await this.#source.list(within, true)) {
        const node = await readOrNull(this.#client, path, within);
        if (node !== null) return node.data ?? Buffer.alloc(0);
      }
      return null;
    });
  }
}
