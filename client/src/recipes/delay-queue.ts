/**
 * DelayQueue: an entry is given when its time has come, the earliest first; Curator's
 * DistributedDelayQueue.
 *
 * **Guarantee.** As of Queue: exactly once in, at most once out without `lockPath`, at least once
 * with it. Never before its time by the clock of the consumer that takes it; after it as soon as a
 * consumer is free. Consumers whose clocks differ see different times.
 *
 * **Znodes.** `<path>/queue-|<time>|<number>`: milliseconds since 1970, at least 8 hexadecimal
 * digits. Everything else, and what **suspended** and **lost** mean, as of Queue. A wait sets one
 * timer for the next entry that is due, and looks again when another is put.
 */
import type { Client } from '../api/client.js';
import { OptionError } from '../errors.js';
import { DelayLayout, delayHead } from './queues/entry-names.js';
import { EntryQueue, type QueueOptions } from './queues/entry-queue.js';
import type { RawItem } from './queues/item-format.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface DelayQueueOptions<T = Buffer, In = RawItem> extends QueueOptions<T, In> {
  /** The clock, milliseconds since 1970; Date.now by default. */
  readonly now?: (() => number) | undefined;
}

/** `T` is what its codec reads an item as, `In` what may be put; without one, bytes. */
export class DelayQueue<T = Buffer, In = RawItem> extends EntryQueue<T, In> {
  constructor(client: Client, path: string, options: DelayQueueOptions<T, In> = {}) {
    const { now = Date.now } = options;
    super(client, path, options, { layout: DelayLayout, perListing: 1, now });
  }

  /** `dueMs`: milliseconds since 1970; one that is past is due at once. */
  async put(item: In, dueMs: number, options: WaitOptions = {}): Promise<void> {
    await this.putAll([item], dueMs, options);
  }

  /** Several items as one entry. */
  async putAll(items: readonly In[], dueMs: number, options: WaitOptions = {}): Promise<void> {
    if (!Number.isSafeInteger(dueMs) || dueMs < 0) {
      throw new OptionError('dueMs', 'must be milliseconds since 1970, an integer from 0');
    }
    if (items.length > 0) await this.putItems(delayHead(dueMs), items, options);
  }
}
