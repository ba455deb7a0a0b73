/**
 * Backpressure: clients whose requests pile up are not read from until enough is answered.
 *
 * It counts what waits in all queues, against two bounds for this member: requests
 * (`outstandingMax`), and their bytes, those of identities included (`outstandingBytesMax`). A
 * connection is paused when it has used its share of the requests, when its address has used its
 * share of the bytes or when a bound is reached, and resumed at half of all that, so that it does
 * not flap. With n clients that have something pending, the share is one part in n + 1, so there is
 * room for one more client; of the bytes it is one part in n + 1 with n addresses (`PendingBytes`).
 * At the bound of requests a connection is paused only once it has queued one more, so that bound
 * is exceeded by one request for each client at most. At the bound of bytes, which addresses reach
 * only together, all connections are paused at once.
 *
 * Handshakes count too, from the moment at which the leader is asked for the session until it has
 * answered, even if the connection is gone by then. They may be a quarter of `outstandingMax`;
 * further ones wait until earlier ones are answered, so a storm of new sessions leaves room for
 * requests.
 */
import type { QueueEntry } from './commit-queue.js';
import type { Connection } from './connection.js';
import type { Connections } from './connections.js';
import type { PipelineOptions } from './options.js';
import type { Outbox } from './outbox.js';
import { PendingBytes } from './pending-bytes.js';

/** The part of `outstandingMax` that handshakes may be. */
const HANDSHAKES_PART = 1 / 4;

/** A write whose connection is gone, and the group of that connection. */
interface Orphan {
  readonly entry: QueueEntry;
  readonly group: string;
}

export class Throttle {
  readonly #options: PipelineOptions;
  readonly #connections: Connections;
  /** Connections that are paused. */
  readonly #throttled = new Set<Connection>();
  readonly #outbox: Outbox;
  /** Writes that were forwarded and whose connections are gone since, by their numbers. */
  readonly #orphans = new Map<number, Orphan>();
  readonly #pending: PendingBytes;
  #requests = 0;
  /** The number of handshakes that the leader has not answered yet. */
  #handshakes = 0;
  /** The number of connections that have requests pending. */
  #pendingConnections = 0;
  /** A bound was reached, and not both counts have fallen to half of their bounds since. */
  #isFull = false;
  /** The bound on bytes was reached, so every client is paused. */
  #isFullOfBytes = false;
  #pauses = 0;

  constructor(options: PipelineOptions, connections: Connections, outbox: Outbox) {
    this.#options = options;
    this.#connections = connections;
    this.#outbox = outbox;
    this.#pending = new PendingBytes(options.outstandingBytesMax);
  }

  /**
   * The number of requests and handshakes that are not answered, those of lost connections
   * included.
   */
  get requests(): number {
    return this.#requests;
  }

  /** How often a client was paused so far. */
  get pauses(): number {
    return this.#pauses;
  }

  /** Whether the leader may be asked for one more session. */
  get mayForwardHandshake(): boolean {
    const most = Math.floor(this.#options.outstandingMax * HANDSHAKES_PART);
    return this.#handshakes < Math.max(1, most);
  }

  /** The leader is asked for a session. */
  onHandshakeForwarded({ group }: Connection, bytes: number): void {
    this.#handshakes += 1;
    this.#requests += 1;
    this.#add(group, bytes);
  }

  /** The leader has answered, or will not: the role has ended. */
  onHandshakeAnswered({ group }: Connection, bytes: number): void {
    this.#handshakes -= 1;
    this.#release(group, bytes);
    this.#maybeOpen();
  }

  /** `entry` was put into the connection's queue. */
  onQueued(connection: Connection, entry: QueueEntry): void {
    const own = connection.queue.length;
    this.#requests += 1;
    if (own === 1) this.#pendingConnections += 1;
    connection.channel.stats.outstanding = own;
    if (this.#requests >= this.#options.outstandingMax) this.#isFull = true;
    this.#add(connection.group, entry.bytes);
    if (this.#isFull || own >= this.#connectionShare) this.#pause(connection);
  }

  /** The connection's handshake is done: its requests are read from now on. */
  onLive(connection: Connection): void {
    if (this.#isFullOfBytes || this.#pending.isFull(connection.group)) this.#pause(connection);
  }

  /**
   * `entry` runs in parts from now on. Its bytes no longer count: they would keep other
   * clients waiting, and its channel counts them instead (`ClientChannel.keep`).
   */
  onBegun({ group }: Connection, entry: QueueEntry): void {
    this.#subtract(group, pendingBytesOf(entry));
    entry.hasBegun = true;
    this.#maybeOpen();
  }

  /** `entry` was answered and is out of the queue. */
  onAnswered(connection: Connection, entry: QueueEntry): void {
    this.#release(connection.group, pendingBytesOf(entry));
    if (entry.isForwarded) this.#outbox.onAnswered(entry);
    const own = connection.queue.length;
    if (own === 0) this.#pendingConnections -= 1;
    connection.channel.stats.outstanding = own;
    if (this.#throttled.has(connection)) this.#maybeResume(connection);
    this.#maybeOpen();
  }

  /**
   * The connection is gone, with everything in its queue. Writes that were forwarded count until
   * `takeOrphan`: a client that connects and disconnects would otherwise have any number of them on
   * the way.
   */
  onConnectionGone(connection: Connection, entries: readonly QueueEntry[]): void {
    const { group } = connection;
    this.#throttled.delete(connection);
    if (entries.length > 0) this.#pendingConnections -= 1;
    this.#outbox.onConnectionGone(connection, entries);
    for (const entry of entries) {
      if (entry.isForwarded) this.#orphans.set(entry.request, { entry, group });
      else this.#release(group, pendingBytesOf(entry));
    }
    this.#maybeOpen();
  }

  /**
   * The write of a connection that is gone was applied, or dropped by the leader: it is returned,
   * and counts no longer. Returns undefined for the numbers of requests whose connections still
   * exist.
   */
  takeOrphan(request: number): QueueEntry | undefined {
    const orphan = this.#orphans.get(request);
    if (orphan === undefined) return undefined;
    const { entry, group } = orphan;
    this.#orphans.delete(request);
    this.#release(group, pendingBytesOf(entry));
    this.#outbox.onAnswered(entry);
    this.#maybeOpen();
    return entry;
  }

  /**
   * The role has ended and every connection is gone: the leader will answer nothing. Returns the
   * writes of which nobody here learns what becomes of them.
   */
  clear(): readonly QueueEntry[] {
    const orphans = [...this.#orphans.values()].map(({ entry }) => entry);
    for (const { request } of orphans) this.takeOrphan(request);
    return orphans;
  }

  /** The number of requests that one connection may have pending. */
  get #connectionShare(): number {
    return Math.max(1, Math.floor(this.#options.outstandingMax / (this.#pendingConnections + 1)));
  }

  #pauseAll(): void {
    this.#isFull = true;
    this.#isFullOfBytes = true;
    for (const connection of this.#connections.values()) {
      if (connection.phase === 'live') this.#pause(connection);
    }
  }

  #pauseGroup(group: string): void {
    for (const connection of this.#connections.values()) {
      if (connection.phase === 'live' && connection.group === group) this.#pause(connection);
    }
  }

  #add(group: string, bytes: number): void {
    const wasFull = this.#pending.isFull(group);
    this.#pending.add(group, bytes);
    if (!wasFull && this.#pending.isFull(group)) this.#pauseGroup(group);
    const isFullOfBytes = this.#pending.bytes >= this.#options.outstandingBytesMax;
    if (isFullOfBytes && !this.#isFullOfBytes) this.#pauseAll();
  }

  /** A request is answered, or dropped. */
  #release(group: string, bytes: number): void {
    this.#requests -= 1;
    this.#subtract(group, bytes);
  }

  #subtract(group: string, bytes: number): void {
    const hasRoom = this.#pending.subtract(group, bytes);
    if (!hasRoom || this.#isFull) return;
    for (const connection of this.#throttled) {
      if (connection.group === group) this.#maybeResume(connection);
    }
  }

  #maybeOpen(): void {
    const { outstandingMax, outstandingBytesMax } = this.#options;
    if (!this.#isFull) return;
    // Handshakes do not count here: new ones may come all the time.
    const requests = this.#requests - this.#handshakes;
    if (requests * 2 > outstandingMax || this.#pending.bytes * 2 > outstandingBytesMax) return;
    this.#isFull = false;
    this.#isFullOfBytes = false;
    for (const connection of this.#throttled) this.#maybeResume(connection);
  }

  #pause(connection: Connection): void {
    if (this.#throttled.has(connection)) return;
    this.#pauses += 1;
    this.#throttled.add(connection);
    connection.channel.hold('outstanding');
  }

  #maybeResume(connection: Connection): void {
    const own = connection.queue.length;
    if (this.#isFull || this.#pending.isFull(connection.group)) return;
    if (own * 2 > Math.max(2, this.#connectionShare)) return;
    this.#throttled.delete(connection);
    connection.channel.release('outstanding');
  }
}

function pendingBytesOf({ bytes, hasBegun }: QueueEntry): number {
  return hasBegun ? 0 : bytes;
}
