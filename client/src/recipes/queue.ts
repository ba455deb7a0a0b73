/**
 * Queue: a first-in, first-out queue for any number of producers and consumers, as Curator's
 * DistributedQueue.
 *
 * **Guarantee.** When a put resolves, the entry is in the queue exactly once. When it rejects with
 * an error that is not `ambiguous`, nothing was put. Without `lockPath`, each entry is delivered to
 * at most one consumer, once: it is removed when it is delivered, so a consumer that dies takes its
 * entry with it. With `lockPath`, delivery is at least once: an entry is locked while a consumer
 * processes it, removed when it is done, and free again if its consumer dies. It is delivered a
 * second time only after the first lease was lost, which its `signal` reports before that.
 * `done(ops)` commits its effects on znodes exactly once. Entries are delivered in the order of the
 * puts; those given back keep their position.
 *
 * **Znodes.** `<path>/queue-<number>`, persistent sequential, is one entry with one or more items,
 * in Curator's format; its version counts the attempts of consume(). `<lockPath>/queue-<number>`,
 * ephemeral, exists while a consumer processes the entry. Markers of transactions in progress,
 * ephemeral, are in `<path>-in-flight`, a container. `<path>` and `lockPath` are persistent, as in
 * Curator. Curator's consumers do not watch the locks, so they receive an entry that becomes free
 * only when the next one is put or removed.
 *
 * **Suspended.** Waits continue, and held entries stay held. **Lost.** Held entries are lost, their
 * signals report it, and the entries go to other consumers. A wait fails with SessionExpiredError,
 * or continues in the next session (`onSessionLost: 'rejoin'`), as consume() and entries() do
 * unless told 'fail'. A put or removal in progress may have happened: the error is `ambiguous`
 * (IdempotentQueue avoids this), and if the wait continues, an entry may be gone that no consumer
 * has received.
 *
 * **Size.** ZooKeeper is not suited to large queues (Curator's Tech Note 4): everything is in
 * memory, an entry has at most 1 MB, and servers become slow, and slow to start, with very many
 * znodes in one directory. Of a directory with 5,000 entries or more, only the first pages are
 * read, if the server supports pages (Rookery). ZooKeeper lists it completely, and no client can
 * list it at all if the names outgrow a frame. Limit the queue with BoundedQueue, or spread it with
 * ShardedQueue.
 *
 * Consumers that wait in one Queue object share one watch; each process that waits lists the
 * directory once for each change.
 */
import type { Client } from '../api/client.js';
import { CURATOR_ENTRY, PlainLayout } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

/**
 * `T` is the type of the items read, `In` of those put, both by the codec; without one, they are
 * bytes.
 */
export class Queue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: QueueOptions<T, In> = {}) {
    super(client, path, options, { layout: PlainLayout });
  }

  /**
   * Appends one item. Rejects with WaitTimeoutError, OperationAbortedError, SessionExpiredError
   * (each `ambiguous` if the item may have been put), ClientClosedError, or an error of the server.
   */
  async put(item: In, options: WaitOptions = {}): Promise<void> {
    await this.putItems(CURATOR_ENTRY, [item], options);
  }

  /** Puts several items as one entry, which one consumer receives as a whole. */
  async putAll(items: readonly In[], options: WaitOptions = {}): Promise<void> {
    if (items.length > 0) await this.putItems(CURATOR_ENTRY, items, options);
  }
}
