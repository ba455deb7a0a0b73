/**
 * PriorityQueue: entries with a lower priority number come first, and those with the same priority
 * in the order of the puts, as in Curator's DistributedPriorityQueue.
 *
 * **Guarantee.** The same as for Queue: exactly once in; at most once out without `lockPath`, at
 * least once with it. The directory is listed again for each entry, or for every
 * `entriesPerListing` entries. So an entry that was put before a take is called, and that the
 * client's member has applied, precedes all with higher numbers.
 *
 * **Znodes.** `<path>/queue-<1 or 0><priority><number>`. The priority has 8 hexadecimal digits
 * (two's complement); the digit before it is 0 for a negative priority, so that negative ones sort
 * first. Everything else, including **suspended** and **lost**, is the same as for Queue.
 */
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import { PriorityLayout, priorityHead } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface PriorityQueueOptions<T = Buffer, In = RawItem> extends QueueOptions<T, In> {
  /**
   * How many entries of one listing may be delivered before the directory is listed again. Larger
   * values are cheaper, but entries put meanwhile wait longer. Default 1.
   */
  readonly entriesPerListing?: number | undefined;
}

export interface PriorityPutOptions extends WaitOptions {
  /** An int32; default 0. */
  readonly priority?: number | undefined;
}

/**
 * `T` is the type of the items read, `In` of those put, both by the codec; without one, they are
 * bytes.
 */
export class PriorityQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: PriorityQueueOptions<T, In> = {}) {
    const { entriesPerListing: perListing = 1 } = options;
    if (!(perListing >= 1)) throw new OptionError('entriesPerListing', 'must be at least 1');
    super(client, path, options, { layout: PriorityLayout, perListing });
  }

  async put(item: In, options: PriorityPutOptions = {}): Promise<void> {
    await this.putAll([item], options);
  }

  /** Puts several items as one entry. */
  async putAll(items: readonly In[], options: PriorityPutOptions = {}): Promise<void> {
    const { priority = 0 } = options;
    if (priority !== (priority | 0)) throw new OptionError('priority', 'must be an int32');
    if (items.length > 0) await this.putItems(priorityHead(priority), items, options);
  }
}
