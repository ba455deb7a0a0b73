/**
 * PriorityQueue: entries with a lower priority number go first, those with the same in the order of
 * the puts; Curator's DistributedPriorityQueue.
 *
 * **Guarantee.** As of Queue: exactly once in, at most once out without `lockPath`, at least once
 * with it. The directory is listed anew for each entry (or for each so many, `entriesPerListing`),
 * so an entry that is put before a take is called, and seen by the member that is asked, goes
 * before all with higher numbers.
 *
 * **Znodes.** `<path>/queue-<1 or 0><priority><number>`: the priority as 8 hexadecimal digits
 * (two's complement), 0 before it if it is negative, so that negative ones sort first. Everything
 * else, and what **suspended** and **lost** mean, as of Queue.
 */
import type { Client } from '../api/client.js';
import { OptionError } from '../errors.js';
import { PriorityLayout, priorityHead } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface PriorityQueueOptions<T = Buffer, In = RawItem> extends QueueOptions<T, In> {
  /**
   * How many entries of one listing may be given before the directory is listed again: more is
   * cheaper, and what is put meanwhile waits for so many. Default 1.
   */
  readonly entriesPerListing?: number | undefined;
}

export interface PriorityPutOptions extends WaitOptions {
  /** An int32; default 0. */
  readonly priority?: number | undefined;
}

/** `T` is what its codec reads an item as, `In` what may be put; without one, bytes. */
export class PriorityQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: PriorityQueueOptions<T, In> = {}) {
    const { entriesPerListing: perListing = 1 } = options;
    if (!(perListing >= 1)) throw new OptionError('entriesPerListing', 'must be at least 1');
    super(client, path, options, { layout: PriorityLayout, perListing });
  }

  async put(item: In, options: PriorityPutOptions = {}): Promise<void> {
    await this.putAll([item], options);
  }

  /** Several items as one entry. */
  async putAll(items: readonly In[], options: PriorityPutOptions = {}): Promise<void> {
    const { priority = 0 } = options;
    if (priority !== (priority | 0)) throw new OptionError('priority', 'must be an int32');
    if (items.length > 0) await this.putItems(priorityHead(priority), items, options);
  }
}
