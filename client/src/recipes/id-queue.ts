/**
 * IdQueue: a queue whose entries have ids by which they can be removed while they wait, as
 * Curator's DistributedIdQueue.
 *
 * **Guarantee.** The same as for Queue: exactly once in; at most once out without `lockPath`, at
 * least once with it; in the order of the puts. An entry goes either to `remove(id)` or to a
 * consumer: no consumer receives one that remove() has counted. Ids need not be unique, and a
 * second put with the same id is a second entry. For puts that may be repeated, use
 * IdempotentQueue.
 *
 * **Znodes.** `<path>/queue-|<id>|<number>`. As in Curator, `/` and `|` in an id become `_`, so ids
 * that differ only in these are the same. Everything else, including **suspended** and **lost**, is
 * the same as for Queue, except that a huge directory is always listed completely, because its
 * names are not in the order of the queue.
 */
import type { Client } from '../api/client.js';
import { fixedId, IdLayout, idHead } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

/**
 * `T` is the type of the items read, `In` of those put, both by the codec; without one, they are
 * bytes.
 */
export class IdQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: QueueOptions<T, In> = {}) {
    super(client, path, options, { layout: IdLayout });
  }

  async put(item: In, id: string, options: WaitOptions = {}): Promise<void> {
    await this.putItems(idHead(id), [item], options);
  }

  /**
   * Removes the entries with the id that no consumer has taken yet, from a read that is at least as
   * new as the call. Resolves with how many it has removed. Entries that are being processed remain
   * with their consumers.
   */
  async remove(id: string, options: WaitOptions = {}): Promise<number> {
    const fixed = fixedId(id);
    return await this.removeEach((entry) => entry.id === fixed, options);
  }
}
