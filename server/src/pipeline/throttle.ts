/**
 * Backpressure: clients whose requests pile up are not read from until enough is answered.
 *
 * Counts what waits in all queues, requests and bytes. A connection is paused when its own queue
 * or the whole is full, and resumed at half of both, so that it does not flap. Bounded: a paused
 * connection adds at most what net had already read of it.
 */

import type { QueueEntry } from './commit-queue.js';
import type { Connection } from './connection.js';
import type { PipelineOptions } from './options.js';

export class Throttle {
  readonly #options: PipelineOptions;
  readonly #throttled = new Set<Connection>();
  #requests = 0;
  #bytes = 0;
  /** The whole was full and has not fallen to half since. */
  #full = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  get requests(): number {
    return this.#requests;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `entry` was put into the connection's queue. */
  added(connection: Connection, entry: QueueEntry): void {
    const { outstandingMax, outstandingBytesMax, connectionOutstandingMax } = this.#options;
    this.#requests += 1;
    this.#bytes += entry.body.length;
    connection.output.stats.outstanding = connection.queue.length;
    if (this.#requests >= outstandingMax || this.#bytes >= outstandingBytesMax) this.#full = true;
    if (this.#full || connection.queue.length >= connectionOutstandingMax) this.#pause(connection);
  }

  /** `entry` was answered and is out of the queue. */
  answered(connection: Connection, entry: QueueEntry): void {
    this.#subtract(entry);
    connection.output.stats.outstanding = connection.queue.length;
    if (connection.throttled) this.#maybeResume(connection);
    this.#maybeOpen();
  }

  /** The connection is gone, with all that was in its queue. */
  dropped(connection: Connection, entries: readonly QueueEntry[]): void {
    this.#throttled.delete(connection);
    connection.throttled = false;
    for (const entry of entries) this.#subtract(entry);
    this.#maybeOpen();
  }

  #subtract(entry: QueueEntry): void {
    this.#requests -= 1;
    this.#bytes -= entry.body.length;
  }

  #maybeOpen(): void {
    const { outstandingMax, outstandingBytesMax } = this.#options;
    if (!this.#full) return;
    if (this.#requests * 2 > outstandingMax || this.#bytes * 2 > outstandingBytesMax) return;
    this.#full = false;
    for (const connection of this.#throttled) this.#maybeResume(connection);
  }

  #pause(connection: Connection): void {
    if (connection.throttled) return;
    connection.throttled = true;
    this.#throttled.add(connection);
    connection.output.hold('outstanding');
  }

  #maybeResume(connection: Connection): void {
    const own = connection.queue.length * 2;
    if (this.#full || own > this.#options.connectionOutstandingMax) return;
    connection.throttled = false;
    this.#throttled.delete(connection);
    connection.output.release('outstanding');
  }
}
