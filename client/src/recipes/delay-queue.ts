/**
 * DelayQueue: an entry becomes available when its time has come, the earliest first, as in
 * Curator's DistributedDelayQueue.
 *
 * **Guarantee.** The same as for Queue: exactly once in; at most once out without `lockPath`, at
 * least once with it. An entry is never delivered before its time by the clock of the consumer, and
 * after it as soon as a consumer is free. Consumers whose clocks differ see different times.
 *
 * **Znodes.** `<path>/queue-|<time>|<number>`, where the time is milliseconds since 1970 in at
 * least 8 hexadecimal digits. Everything else, including **suspended** and **lost**, is the same as
 * for Queue. A wait sets one timer for the next entry that is due, and checks again when another
 * entry is put.
 */
import type { Client } from '../api/client.js';
import { OptionError } from '../api/errors.js';
import { DelayLayout, delayHead } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface DelayQueueOptions<T = Buffer, In = RawItem> extends QueueOptions<T, In> {
  /** The clock, in milliseconds since 1970; Date.now by default. */
  readonly now?: (() => number) | undefined;
}

/**
 * `T` is the type of the items read, `In` of those put, both by the codec; without one, they are
 * bytes.
 */
export class DelayQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: DelayQueueOptions<T, In> = {}) {
    const { now = Date.now } = options;
    super(client, path, options, { layout: DelayLayout, perListing: 1, now });
  }

  /** `dueMs` is in milliseconds since 1970; a time in the past is due at once. */
  async put(item: In, dueMs: number, options: WaitOptions = {}): Promise<void> {
    await this.putAll([item], dueMs, options);
  }

  /** Puts several items as one entry. */
  async putAll(items: readonly In[], dueMs: number, options: WaitOptions = {}): Promise<void> {
    if (!Number.isSafeInteger(dueMs) || dueMs < 0) {
      throw new OptionError('dueMs', 'must be milliseconds since 1970, an integer from 0');
    }
    if (items.length > 0) await this.putItems(delayHead(dueMs), items, options);
  }
}
