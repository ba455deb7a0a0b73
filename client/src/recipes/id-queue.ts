/**
 * IdQueue: a queue whose entries have ids by which they can be removed while they wait; Curator's
 * DistributedIdQueue.
 *
 * **Guarantee.** As of Queue: exactly once in, at most once out without `lockPath`, at least once
 * with it, in the order of the puts. `remove(id)` and a consumer never both get an entry: what it
 * counts as removed nobody is given. Ids need not be unique. A put that is repeated with its id is
 * a second entry: for puts that may be repeated there is IdempotentQueue.
 *
 * **Znodes.** `<path>/queue-|<id>|<number>`; `/` and `|` in an id become `_`, as in Curator, so
 * ids that differ in these only are the same. Everything else, and what **suspended** and **lost**
 * mean, as of Queue; but a huge directory is always listed whole, for its names are not in order.
 */
import type { Client } from '../api/client.js';
import { fixedId, IdLayout, idHead } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** `T` is what its codec reads an item as, `In` what may be put; without one, bytes. */
export class IdQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: QueueOptions<T, In> = {}) {
    super(client, path, options, { layout: IdLayout });
  }

  async put(item: In, id: string, options: WaitOptions = {}): Promise<void> {
    await this.putItems(idHead(id), [item], options);
  }

  /**
   * Removes the entries with the id that nobody has taken yet, as of a reading at least as new as
   * the call; how many it has removed. One that somebody is busy with stays theirs.
   */
  async remove(id: string, options: WaitOptions = {}): Promise<number> {
    const fixed = fixedId(id);
    return await this.removeEach((entry) => entry.id === fixed, options);
  }
}
