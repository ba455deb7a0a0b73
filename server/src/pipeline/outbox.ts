/**
 * Collects what this member's clients ask of the leader, in fair order, and writes it once into the
 * messages that the driver takes. It also gives requests and attachments their numbers. Throttle
 * pauses the connections that have too much pending.
 *
 * The leader decides on writes in the order of their arrival. A member therefore bounds what it has
 * in flight to the leader, counted in changes: a multi of a thousand operations counts as a
 * thousand. There are two lanes, each with that bound: one for multis of more changes than a
 * connection may send at a time, one for all other writes, so a single write never waits for a
 * large multi of another client. Writes beyond the bound wait here, and the connections of a lane
 * are served by deficit round robin: whenever a connection is served it may send a quantum of
 * changes, and one whose next write is larger saves the credit of several quanta. The writes of one
 * connection stay in order: it waits in the lane of its oldest one. Every member counts by itself.
 * Requests, Handshake and Throttle call it. What it holds is discarded when the role ends.
 */
import {
  type Attach,
  assert,
  countMultiOps,
  Fifo,
  type ForwardedRequest,
  type ForwardedRequests,
  JuteReader,
  OpCode,
  RequestWriter,
  type SyncRequest,
} from '@rookery/protocol';
import type { Connection, Connections, QueueEntry } from './connection.js';
import type { PipelineOptions } from './options.js';

/**
 * The bound of a lane is this or `outstandingMax` + 1, whichever is more; the last write may go
 * beyond it. That is above `outstandingMax`, so single writes alone reach it only because Throttle
 * lets each client exceed `outstandingMax` by one.
 */
const CHANGES_MAX = 1_024;
/**
 * The quantum: the changes that a connection may send at a time. A larger write is a large multi.
 */
const QUANTUM_CHANGES = 64;
/** After this number, attachments start again from 1; no attachment lives as long as that takes. */
const ATTACHMENT_MAX = 0x7fffffff;
const NOTHING: readonly ForLeader[] = [];
const NO_BYTES = new Uint8Array(0);

/** A message for the leader. */
export type ForLeader = ForwardedRequests | SyncRequest | Attach;

interface Held {
  readonly entries: Fifo<QueueEntry>;
  /** The changes that it may still send. */
  credit: number;
}

interface Lane {
  /** Changes that were forwarded and are not answered. */
  changes: number;
  /**
   * Connections whose oldest held write belongs to this lane, in the order in which they are
   * served.
   */
  readonly held: Map<Connection, Held>;
}

export class Outbox {
  readonly #changesMax: number;
  readonly #multiOpsMax: number;
  readonly #small: Lane = { changes: 0, held: new Map() };
  readonly #large: Lane = { changes: 0, held: new Map() };
  readonly #writer = new RequestWriter();
  #syncs: SyncRequest[] = [];
  #attaches: Attach[] = [];
  #nextRequest: number;
  #attachment = 0;

  constructor({
    firstRequest,
    outstandingMax,
    multiOpsMax,
  }: Pick<PipelineOptions, 'firstRequest' | 'outstandingMax' | 'multiOpsMax'>) {
    this.#nextRequest = firstRequest;
    this.#changesMax = Math.max(CHANGES_MAX, outstandingMax + 1);
    this.#multiOpsMax = multiOpsMax;
  }

  /** The number by which the answer to a write, a sync or an attach is recognised. */
  nextRequest(): number {
    return this.#nextRequest++;
  }

  /**
   * The number by which the leader distinguishes a connection from others of the same session;
   * unique in this process. What an earlier attachment has sent precedes what this one sends.
   */
  nextAttachment(): number {
    this.#attachment = (this.#attachment % ATTACHMENT_MAX) + 1;
    return this.#attachment;
  }

  /** The number of changes in flight to the leader and back. */
  get changes(): number {
    return this.#small.changes + this.#large.changes;
  }

  /** Takes a write, which is forwarded now or, beyond the bound, when its connection is served. */
  accept(connection: Connection, entry: QueueEntry): void {
    entry.changes = this.#changesOf(entry);
    const held = this.#heldOf(connection);
    if (held !== undefined) return held.entries.push(entry);
    const lane = this.#laneOf(entry);
    if (lane.held.size === 0 && lane.changes < this.#changesMax) return this.#forward(entry);
    const entries = new Fifo<QueueEntry>();
    entries.push(entry);
    lane.held.set(connection, { entries, credit: 0 });
  }

  /**
   * A write that was forwarded counts no longer: it was applied, perhaps as an error transaction,
   * or the leader has dropped it and sent a detach, or the role has ended.
   */
  onAnswered(entry: QueueEntry): void {
    let lane = this.#laneOf(entry);
    lane.changes -= entry.changes;
    while (this.#serveAll(lane)) lane = lane === this.#small ? this.#large : this.#small;
  }

  /**
   * The connection is gone, and `pending` is what was in its queue: writes that were not forwarded
   * never will be. But a client that closes its session need not wait for the answer: the close is
   * forwarded, with every write before it, whatever they waited for. They count in their lane, and
   * may exceed its bound by what all connections that leave so have pending: see Throttle.
   */
  onConnectionGone(connection: Connection, pending: readonly QueueEntry[]): void {
    for (const { held } of [this.#small, this.#large]) held.delete(connection);
    if (pending.at(-1)?.kind !== 'close') return;
    for (const entry of pending) {
      if (entry.isForwarded || entry.kind === 'read' || entry.kind === 'sync') continue;
      entry.changes = this.#changesOf(entry);
      this.#forward(entry);
    }
  }

  /** A new session is requested, which has a bound of its own: see Throttle. */
  create(request: ForwardedRequest): void {
    this.#writer.add(request);
  }

  sync(request: number): void {
    this.#syncs.push({ kind: 'sync', request });
  }

  attach(attach: Omit<Attach, 'kind'>): void {
    this.#attaches.push({ kind: 'attach', ...attach });
  }

  /**
   * Returns what the leader must get, in this order: writes, then syncs, then attaches. A session
   * that returns on a new connection thus attaches after everything that its old connection sent
   * through this member; the leader accepts nothing from the old attachment afterwards.
   */
  take(): readonly ForLeader[] {
    const batches = this.#writer.take();
    const [syncs, attaches] = [this.#syncs, this.#attaches];
    if (batches.length + syncs.length + attaches.length === 0) return NOTHING;
    this.#syncs = [];
    this.#attaches = [];
    const writes = batches.map((batch) => ({ kind: 'requests', batch }) as const);
    return [...writes, ...syncs, ...attaches];
  }

  /** Whether `take` would return anything. */
  get hasMore(): boolean {
    return !this.#writer.isEmpty || this.#syncs.length + this.#attaches.length > 0;
  }

  /** The role has ended, and with it every connection. */
  clear(): void {
    this.#writer.clear();
    this.#syncs = [];
    this.#attaches = [];
  }

  /** An empty or a malformed multi costs work, too; one beyond the limit is refused early. */
  #changesOf({ opcode, body }: QueueEntry): number {
    if (opcode !== OpCode.multi) return 1;
    return Math.max(1, countMultiOps(new JuteReader(body), this.#multiOpsMax));
  }

  #laneOf({ changes }: QueueEntry): Lane {
    return changes > QUANTUM_CHANGES ? this.#large : this.#small;
  }

  #heldOf(connection: Connection): Held | undefined {
    if (this.#small.held.size === 0 && this.#large.held.size === 0) return undefined;
    return this.#small.held.get(connection) ?? this.#large.held.get(connection);
  }

  /**
   * Serves the connections of a lane until its bound is reached. True if one of them has moved to
   * the other lane, where it may be served at once.
   */
  #serveAll(lane: Lane): boolean {
    let hasMoved = false;
    for (const [connection, held] of lane.held) {
      const isCutOff = this.#serve(lane, held);
      // It stays the next one, with the rest of its credit.
      if (isCutOff) break;
      lane.held.delete(connection);
      const head = held.entries.first;
      if (head === undefined) continue;
      const next = this.#laneOf(head);
      // It goes to the end of the lane; if it is this lane the loop reaches it again.
      next.held.set(connection, held);
      if (next !== lane) hasMoved = true;
    }
    return hasMoved;
  }

  /** Forwards what the connection's credit allows. True if the lane's bound is reached before. */
  #serve(lane: Lane, held: Held): boolean {
    let head = held.entries.first;
    if (head !== undefined && head.changes > held.credit) held.credit += QUANTUM_CHANGES;
    while (head !== undefined && this.#laneOf(head) === lane && head.changes <= held.credit) {
      if (lane.changes >= this.#changesMax) return true;
      held.credit -= head.changes;
      held.entries.shift();
      this.#forward(head);
      head = held.entries.first;
    }
    return false;
  }

  /** Writes it into the message, which has the body from now on: the entry gives up its own. */
  #forward(entry: QueueEntry): void {
    entry.isForwarded = true;
    this.#laneOf(entry).changes += entry.changes;
    this.#writer.add(entry);
    entry.body = NO_BYTES;
  }
}

/** The part of `outstandingMax` that handshakes may be. */
const HANDSHAKES_PART = 1 / 4;

/** A write whose connection is gone, and the group of that connection. */
interface Orphan {
  readonly entry: QueueEntry;
  readonly group: string;
}

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

/**
 * Counts the pending bytes of each group of connections, such as an address, and marks groups that
 * have used up their share.
 *
 * With n groups that have bytes pending, each has a share of one part in n + 1 of the bound, which
 * leaves room for one more group. A group that holds much is limited first, however many
 * connections it uses. A full group stays full until it is down to half its share. Its last request
 * may exceed the share, so the shares alone do not bound the sum: Throttle, which owns this, does.
 */
class PendingBytes {
  readonly #bytesMax: number;
  /** Only groups with something pending. */
  readonly #byGroup = new Map<string, number>();
  readonly #full = new Set<string>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The bytes of all groups together. */
  get bytes(): number {
    return this.#bytes;
  }

  isFull(group: string): boolean {
    return this.#full.size > 0 && this.#full.has(group);
  }

  add(group: string, bytes: number): void {
    if (bytes === 0) return;
    const held = (this.#byGroup.get(group) ?? 0) + bytes;
    this.#bytes += bytes;
    this.#byGroup.set(group, held);
    if (held >= this.#share) this.#full.add(group);
  }

  /** Returns true if the group was full and no longer is. */
  subtract(group: string, bytes: number): boolean {
    if (bytes === 0) return false;
    const held = (this.#byGroup.get(group) ?? 0) - bytes;
    assert(held >= 0, () => `${held} bytes of ${group} are pending`);
    this.#bytes -= bytes;
    if (held === 0) this.#byGroup.delete(group);
    else this.#byGroup.set(group, held);
    if (!this.isFull(group) || held * 2 > this.#share) return false;
    return this.#full.delete(group);
  }

  get #share(): number {
    return this.#bytesMax / (this.#byGroup.size + 1);
  }
}
