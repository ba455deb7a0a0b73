/**
 * Hands writes on to the leader such that no client waits behind everything that others have sent.
 *
 * The leader decides writes in the order they come. So what a member has on the way there is
 * bounded, counted in changes: a multi of a thousand operations is a thousand. Writes beyond the
 * bound wait here, and connections take turns (deficit round robin): in each turn a connection may
 * hand on so many changes, and one whose next write is larger saves up for it over several turns.
 * A client with single writes passes in its first turn, whatever others have waiting. The writes
 * of one connection stay in order. Every member counts by itself. Called by Requests and
 * Throttle.
 */
import { countMultiOps, Fifo, JuteReader, OpCode } from '@rookery/protocol';
import type { QueueEntry } from './commit-queue.js';
import type { Connection } from './connection.js';
import type { PipelineOptions } from './options.js';
import type { Outbox } from './outbox.js';

/**
 * Writes are handed on while fewer changes than these are on the way; the last may go beyond it.
 * More than single writes reach, of which `outstandingMax` may be pending.
 */
const CHANGES_MAX = 1_024;
/** What a connection may hand on in one turn. */
const CHANGES_PER_TURN = 64;

interface Held {
  readonly entries: Fifo<QueueEntry>;
  /** Changes that it has saved up. */
  credit: number;
}

export class FairForwarding {
  readonly #outbox: Outbox;
  readonly #changesMax: number;
  readonly #multiOpsMax: number;
  /** Connections whose writes are held, in the order of their turns. */
  readonly #held = new Map<Connection, Held>();
  /** Handed on, and not answered. */
  #changes = 0;

  /** `outstandingMax` single writes are never held. */
  constructor(
    outbox: Outbox,
    { outstandingMax, multiOpsMax }: Pick<PipelineOptions, 'outstandingMax' | 'multiOpsMax'>,
  ) {
    this.#outbox = outbox;
    this.#changesMax = Math.max(CHANGES_MAX, outstandingMax + 1);
    this.#multiOpsMax = multiOpsMax;
  }

  /** Changes on the way to the leader and back. */
  get changes(): number {
    return this.#changes;
  }

  /** The write goes to the leader, now or in its turn. */
  forward(connection: Connection, entry: QueueEntry): void {
    entry.changes = entry.opcode === OpCode.multi ? this.#operationsOf(entry) : 1;
    if (this.#held.size === 0 && this.#changes < this.#changesMax) return this.#handOn(entry);
    let held = this.#held.get(connection);
    if (held === undefined) {
      held = { entries: new Fifo(), credit: 0 };
      this.#held.set(connection, held);
    }
    held.entries.push(entry);
  }

  /** A write that was handed on is applied or refused. */
  answered({ changes }: Pick<QueueEntry, 'changes'>): void {
    this.#changes -= changes;
    if (this.#held.size > 0) this.#takeTurns();
  }

  /**
   * The connection is gone: what was not handed on never will be. But a client that closes its
   * session need not wait for the answer: the close goes, and all that was sent before it.
   */
  dropped(connection: Connection): void {
    const entries = this.#held.get(connection)?.entries.takeAll() ?? [];
    this.#held.delete(connection);
    if (entries.at(-1)?.kind === 'close') for (const entry of entries) this.#handOn(entry);
  }

  /** An empty or a malformed multi is work, too; one beyond what is allowed is refused early. */
  #operationsOf({ body }: QueueEntry): number {
    return Math.max(1, countMultiOps(new JuteReader(body), this.#multiOpsMax));
  }

  #takeTurns(): void {
    for (const [connection, held] of this.#held) {
      this.#takeTurn(held);
      const head = held.entries.first;
      // What the bound has cut off stays the next one, with what it may still hand on.
      if (head !== undefined && head.changes <= held.credit) return;
      this.#held.delete(connection);
      // Behind all others now: the loop comes to it again.
      if (head !== undefined) this.#held.set(connection, held);
    }
  }

  #takeTurn(held: Held): void {
    let head = held.entries.first;
    if (head !== undefined && head.changes > held.credit) held.credit += CHANGES_PER_TURN;
    while (head !== undefined && head.changes <= held.credit) {
      if (this.#changes >= this.#changesMax) return;
      held.credit -= head.changes;
      held.entries.shift();
      this.#handOn(head);
      head = held.entries.first;
    }
  }

  #handOn(entry: QueueEntry): void {
    entry.isForwarded = true;
    this.#changes += entry.changes;
    this.#outbox.forward(entry);
  }
}
