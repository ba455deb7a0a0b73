/**
 * Backpressure: clients whose requests pile up are not read from until enough is answered.
 *
 * It counts what waits in all queues, against two bounds for this member: requests
 * (`outstandingMax`), and their bytes, those of identities included (`outstandingBytesMax`). A
 * connection is paused when it has used its share of the requests or when a bound is reached, and
 * resumed at half of both, so that it does not flap. With n clients that have something pending,
 * the share is one part in n + 1, so there is room for one more client. Requests are small, so each
 * client that has none pending may add one; bytes are not, so at their bound every client is
 * paused.
 *
 * Handshakes count too, from the moment at which the leader is asked for the session until it has
 * answered, even if the connection is gone by then. They may be a quarter of `outstandingMax`;
 * further ones wait for their turn, so a storm of new sessions leaves room for requests.
 */
import type { QueueEntry } from './commit-queue.js';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';
import type { PipelineOptions } from './options.js';
import type { Outbox } from './outbox.js';

/** The part of `outstandingMax` that handshakes may be. */
const HANDSHAKES_PART = 1 / 4;

export class Throttle {
  readonly #options: PipelineOptions;
  readonly #connections: Connections;
  readonly #throttled = new Set<Connection>();
  readonly #outbox: Outbox;
  /** Writes that the leader has and whose connections are gone, by their numbers. */
  readonly #orphans = new Map<number, Pick<QueueEntry, 'bytes' | 'changes'>>();
  #requests = 0;
  #bytes = 0;
  /** The bytes of the handshakes that the leader has and did not answer, by their numbers. */
  readonly #handshakes = new Map<number, number>();
  /** The number of connections with something pending. */
  #busy = 0;
  /** A bound was reached, and not both counts have fallen to half of their bounds since. */
  #full = false;
  /** The bound on bytes was reached, so every client is paused. */
  #isFullOfBytes = false;
  #pauses = 0;

  constructor(options: PipelineOptions, connections: Connections, outbox: Outbox) {
    this.#options = options;
    this.#connections = connections;
    this.#outbox = outbox;
  }

  get requests(): number {
    return this.#requests;
  }

  /** How often a client was paused so far. */
  get pauses(): number {
    return this.#pauses;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether one more session may be requested from the leader. */
  get mayAskForSession(): boolean {
    const most = Math.floor(this.#options.outstandingMax * HANDSHAKES_PART);
    return this.#handshakes.size < Math.max(1, most);
  }

  /** A session is requested from the leader. */
  handshakeBegins(request: number, bytes: number): void {
    this.#handshakes.set(request, bytes);
    this.#requests += 1;
    this.#bytes += bytes;
  }

  /** The leader has answered. Ignores other numbers. */
  handshakeEnds(request: number): void {
    const bytes = this.#handshakes.get(request);
    if (bytes === undefined) return;
    this.#handshakes.delete(request);
    this.#subtract(bytes);
    this.#maybeOpen();
  }

  /** `entry` was put into the connection's queue. */
  added(connection: Connection, entry: QueueEntry): void {
    const { outstandingMax, outstandingBytesMax } = this.#options;
    const own = connection.queue.length;
    this.#requests += 1;
    this.#bytes += entry.bytes;
    if (own === 1) this.#busy += 1;
    connection.output.stats.outstanding = own;
    if (this.#requests >= outstandingMax) this.#full = true;
    if (this.#bytes >= outstandingBytesMax && !this.#isFullOfBytes) this.#pauseAll();
    if (this.#full || own >= this.#share) this.#pause(connection);
  }

  /** The connection is live from now on. */
  joined(connection: Connection): void {
    if (this.#isFullOfBytes) this.#pause(connection);
  }

  /** `entry` was answered and is out of the queue. */
  answered(connection: Connection, entry: QueueEntry): void {
    this.#subtract(entry.bytes);
    if (entry.isForwarded) this.#outbox.answered(entry);
    const own = connection.queue.length;
    if (own === 0) this.#busy -= 1;
    connection.output.stats.outstanding = own;
    if (connection.throttled) this.#maybeResume(connection);
    this.#maybeOpen();
  }

  /**
   * The connection is gone, with everything in its queue. Writes that the leader has count until
   * `left`: a client that connects and disconnects would otherwise have any number of them on the
   * way.
   */
  dropped(connection: Connection, entries: readonly QueueEntry[]): void {
    this.#throttled.delete(connection);
    connection.throttled = false;
    if (entries.length > 0) this.#busy -= 1;
    this.#outbox.dropped(connection);
    for (const { isForwarded, request, bytes, changes } of entries) {
      if (isForwarded) this.#orphans.set(request, { bytes, changes });
      else this.#subtract(bytes);
    }
    this.#maybeOpen();
  }

  /** A request has left: it is applied or refused. Ignores those whose connection still exists. */
  left(request: number): void {
    const orphan = this.#orphans.get(request);
    if (orphan === undefined) return;
    this.#orphans.delete(request);
    this.#subtract(orphan.bytes);
    this.#outbox.answered(orphan);
    this.#maybeOpen();
  }

  /** The role has ended and every connection was dropped: no answer of the leader will come. */
  clear(): void {
    for (const request of [...this.#orphans.keys()]) this.left(request);
    for (const request of [...this.#handshakes.keys()]) this.handshakeEnds(request);
  }

  /** What one connection may have pending. */
  get #share(): number {
    return Math.max(1, Math.floor(this.#options.outstandingMax / (this.#busy + 1)));
  }

  #pauseAll(): void {
    this.#full = true;
    this.#isFullOfBytes = true;
    for (const connection of this.#connections.values()) {
      if (connection.phase === 'live') this.#pause(connection);
    }
  }

  #subtract(bytes: number): void {
    this.#requests -= 1;
    this.#bytes -= bytes;
  }

  #maybeOpen(): void {
    const { outstandingMax, outstandingBytesMax } = this.#options;
    if (!this.#full) return;
    // There may be new handshakes all the time.
    const requests = this.#requests - this.#handshakes.size;
    if (requests * 2 > outstandingMax || this.#bytes * 2 > outstandingBytesMax) return;
    this.#full = false;
    this.#isFullOfBytes = false;
    for (const connection of this.#throttled) this.#maybeResume(connection);
  }

  #pause(connection: Connection): void {
    if (connection.throttled) return;
    this.#pauses += 1;
    connection.throttled = true;
    this.#throttled.add(connection);
    connection.output.hold('outstanding');
  }

  #maybeResume(connection: Connection): void {
    const own = connection.queue.length;
    if (this.#full || own * 2 > Math.max(2, this.#share)) return;
    connection.throttled = false;
    this.#throttled.delete(connection);
    connection.output.release('outstanding');
  }
}
