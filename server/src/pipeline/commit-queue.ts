/**
 * One session's requests that cannot be answered yet, in the order they came.
 *
 * The rules: a read runs at once when nothing is pending before it, else at its place. A write is
 * handed on at once, unless a sync is pending before it. A sync is a barrier: all behind it waits.
 * A write also waits behind reads whose answers are large: see ANSWERS_AHEAD_BYTES_MAX. So at its
 * apply a write is always at the head: earlier reads have run, later ones have not. Only orders;
 * the pipeline runs, forwards and answers. Entries are its own afterwards.
 */
import { assert, Fifo, type Zxid } from '@rookery/protocol';
import type { Requester } from './access.js';
import type { OutgoingRequest } from './outbox.js';
import type { ConnectionId } from './output.js';

/** What goes to the leader of it is part of it. */
export interface QueueEntry extends OutgoingRequest {
  readonly connection: ConnectionId;
  /** `close` is the write that ends the session. */
  readonly kind: 'read' | 'write' | 'close' | 'sync';
  readonly xid: number;
  /** The jute record behind the header, copied; of an auth its outcome instead (see Requests). */
  readonly body: Uint8Array;
  /** What the connection was known to be when the request came. */
  readonly requester: Requester;
  /** The member's number of a write or sync, 0 for a read. */
  readonly request: number;
  readonly sinceMs: number;
  /** Of a read that waits, at a guess; 0 for what is no read. */
  readonly answerBytes: number;
  /** The work that a write is, as FairForwarding counts it; 0 before it was given to that. */
  changes: number;
  /** A write that was handed on: the leader has it or will. */
  isForwarded: boolean;
  /** A sync that was confirmed: it is answered once this zxid is applied. */
  syncedAt: Zxid | null;
}

/** `run`: a read to be answered now, not kept. `forward`: kept, to be sent on. `wait`: kept. */
export type Admission = 'run' | 'forward' | 'wait';

/**
 * A write is handed on only while the answers to the reads that wait before it are no more than
 * this: they must run before it is applied, even when the client does not take its answers.
 */
const ANSWERS_AHEAD_BYTES_MAX = 1 << 20;

export class CommitQueue {
  readonly #entries = new Fifo<QueueEntry>();
  /**
   * How many there are before the first pending sync, or the first write that waits for large
   * answers, or the end: writes before it are handed on, those behind are not.
   */
  #barrier = 0;
  /** Of the answers to the reads before the barrier. */
  #answersAheadBytes = 0;
  /** Of the pending writes, those behind the barrier included. */
  #largestWriteBytes = 0;

  get length(): number {
    return this.#entries.length;
  }

  get head(): QueueEntry | undefined {
    return this.#entries.first;
  }

  /** The largest body of a write since the queue was empty last. */
  get largestWriteBytes(): number {
    return this.#largestWriteBytes;
  }

  accept(entry: QueueEntry): Admission {
    if (entry.kind === 'read' && this.length === 0) return 'run';
    const open = this.#barrier === this.#entries.length;
    this.#entries.push(entry);
    if (entry.kind !== 'read') {
      this.#largestWriteBytes = Math.max(this.#largestWriteBytes, entry.body.length);
    }
    if (!open || !this.#mayPass(entry)) return 'wait';
    this.#pass(entry);
    return entry.kind === 'read' ? 'wait' : 'forward';
  }

  /** The head was answered. */
  shift(): void {
    const head = this.#entries.shift();
    assert(head !== undefined, 'the head of a queue was answered');
    if (this.#barrier > 0) {
      this.#barrier -= 1;
      this.#answersAheadBytes -= head.answerBytes;
    }
    if (this.#entries.length > 0) return;
    this.#largestWriteBytes = 0;
    const bytes = this.#answersAheadBytes;
    assert(bytes === 0, () => `${bytes} bytes of answers are ahead in an empty queue`);
  }

  /**
   * What can go on now, one at a time until undefined: a read to run or a sync to answer, both
   * taken off the queue, or a write to hand on, which stays.
   */
  next(applied: Zxid): QueueEntry | undefined {
    const head = this.head;
    if (head === undefined) return undefined;
    if (head.kind === 'read' || (head.kind === 'sync' && isDue(head, applied))) {
      this.shift();
      return head;
    }
    return this.#nextHeldWrite();
  }

  /** Empties the queue of a connection that is gone. */
  takeAll(): readonly QueueEntry[] {
    const pending = this.#entries.takeAll();
    this.#barrier = 0;
    this.#answersAheadBytes = 0;
    this.#largestWriteBytes = 0;
    return pending;
  }

  #nextHeldWrite(): QueueEntry | undefined {
    for (;;) {
      const entry = this.#entries.at(this.#barrier);
      if (entry === undefined || !this.#mayPass(entry)) return undefined;
      this.#pass(entry);
      if (entry.kind !== 'read') return entry;
    }
  }

  #mayPass({ kind }: QueueEntry): boolean {
    if (kind === 'sync') return false;
    return kind === 'read' || this.#answersAheadBytes <= ANSWERS_AHEAD_BYTES_MAX;
  }

  /** The barrier goes behind it. */
  #pass(entry: QueueEntry): void {
    this.#barrier += 1;
    this.#answersAheadBytes += entry.answerBytes;
  }
}

function isDue(sync: QueueEntry, applied: Zxid): boolean {
  return sync.syncedAt !== null && sync.syncedAt <= applied;
}
