/**
 * What this member's clients ask of the leader: in fair order, and written once into the messages
 * that the driver takes. It also gives requests and attachments their numbers.
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
  countMultiOps,
  Fifo,
  type ForwardedRequest,
  type ForwardedRequests,
  JuteReader,
  OpCode,
  RequestWriter,
  type SyncRequest,
} from '@rookery/protocol';
import type { QueueEntry } from './commit-queue.js';
import type { Connection } from './connection.js';
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
  onAnswered(entry: Pick<QueueEntry, 'changes'>): void {
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

  #laneOf({ changes }: Pick<QueueEntry, 'changes'>): Lane {
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
