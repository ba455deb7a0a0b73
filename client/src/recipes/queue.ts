/**
 * Queue: first in, first out, shared by any number of producers and consumers; Curator's
 * DistributedQueue.
 *
 * **Guarantee.** A put is in the queue exactly once when it resolves, and not at all when it
 * rejects with an error that is not `ambiguous`. Without `lockPath` each entry is given to at most
 * one consumer, once: it is removed as it is given, so what a consumer dies with is lost. With
 * `lockPath` at least once: an entry is locked while somebody is busy with it, removed when it is
 * done, and free again when who had it dies; it is given a second time only after the first lease
 * was lost, which its `signal` tells before. `done(ops)` commits its effects on znodes exactly
 * once. Entries are given in the order of the puts; those given back have their old place.
 *
 * **Znodes.** `<path>/queue-<number>`, persistent sequential: one entry with one or more items, in
 * Curator's format; its version is the number of the attempts that consume() has counted there.
 * `<lockPath>/queue-<number>`, ephemeral, while somebody is busy with it. Marks
 * of transactions under way, ephemeral, in `<path>-in-flight`, a container. `<path>` and
 * `lockPath` are persistent, as Curator has them. Curator's consumers do not watch the locks: an
 * entry that is free again they are given when the next one is put or removed.
 *
 * **Suspended.** Waits go on; what is held stays held. **Lost.** What is held is lost, its signal
 * says so, and others are given it. A wait fails with SessionExpiredError, or goes on in the next
 * session (`onSessionLost: 'rejoin'`), as consume() and entries() do unless told 'fail'. A put or
 * removal that was under way may have happened; the error says `ambiguous` (IdempotentQueue knows
 * better), and where it goes on, an entry that nobody was given may be gone.
 *
 * **Size.** ZooKeeper is a poor place for large queues (Curator's Tech Note 4): all is in memory,
 * an entry has at most 1 MB, servers slow down and start slowly with very many znodes in one
 * directory. A directory of 5,000 entries or more is read by its first pages only, on servers that
 * have pages (Rookery); ZooKeeper lists it whole, and no client can list it at all when the names
 * outgrow a frame. Keep it short with BoundedQueue, or spread with ShardedQueue.
 *
 * Consumers that wait in one Queue object share one watch; each process that waits lists the
 * directory once for each change.
 */
import type { Client } from '../api/client.js';
import { CURATOR_ENTRY, PlainLayout } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** `T` is what its codec reads an item as, `In` what may be put; without one, bytes. */
export class Queue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: QueueOptions<T, In> = {}) {
    super(client, path, options, { layout: PlainLayout });
  }

  /**
   * Puts one item at the end. WaitTimeoutError, OperationAbortedError, SessionExpiredError (each
   * `ambiguous` when it may have been put), ClientClosedError, or the server's answer.
   */
  async put(item: In, options: WaitOptions = {}): Promise<void> {
    await this.putItems(CURATOR_ENTRY, [item], options);
  }

  /** Puts several items as one entry, which one consumer is given as a whole. */
  async putAll(items: readonly In[], options: WaitOptions = {}): Promise<void> {
    if (items.length > 0) await this.putItems(CURATOR_ENTRY, items, options);
  }
}
