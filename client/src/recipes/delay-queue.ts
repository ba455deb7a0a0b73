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
import type { WaitOptions } from './shared/wait-scope.js';

export interface DelayQueueOptions extends QueueOptions {
  /** The clock, milliseconds since 1970; Date.now by default. */
  readonly now?: (() => number) | undefined;
}

export class DelayQueue extends EntryQueue {
  constructor(client: Client, path: string, options: DelayQueueOptions = {}) {
    const { now = Date.now } = options;
    super(client, path, options, { layout: DelayLayout, perListing: 1, now });
  }

  /** `dueMs`: milliseconds since 1970; one that is past is due at once. */
  async put(item: Uint8Array | string, dueMs: number, options: WaitOptions = {}): Promise<void> {
    await this.putAll([item], dueMs, options);
  }

  /** Several items as one entry. */
  async putAll(
    items: readonly (Uint8Array | string)[],
    dueMs: number,
    options: WaitOptions = {},
  ): Promise<void> {
    if (!Number.isSafeInteger(dueMs) || dueMs < 0) {
      throw new OptionError('dueMs', 'must be milliseconds since 1970, an integer from 0');
    }
    if (items.length > 0) await this.putItems(delayHead(dueMs), items, options);
  }
}
