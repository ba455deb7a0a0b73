/**
 * One session's requests that cannot be answered yet, in the order they came.
 *
 * The rules: a read runs at once when nothing is pending before it, else at its place. A write is
 * handed on at once, unless a sync is pending before it. A sync is a barrier: all behind it waits.
 * So at its apply a write is always at the head: earlier reads have run, later ones have not.
 * Only orders; the pipeline runs, forwards and answers. Entries are its own afterwards.
 */
import { assert, type Zxid } from '@rookery/protocol';
import type { Requester } from './access.js';
import type { ConnectionId } from './output.js';

export interface QueueEntry {
  readonly connection: ConnectionId;
  /** `close` is the write that ends the session. */
  readonly kind: 'read' | 'write' | 'close' | 'sync';
  readonly xid: number;
  readonly opcode: number;
  /** The jute record behind the header, copied; of an auth its outcome instead (see Requests). */
  readonly body: Uint8Array;
  /** What the connection was known to be when the request came. */
  readonly requester: Requester;
  /** The member's number of a write or sync, 0 for a read. */
  readonly request: number;
  readonly sinceMs: number;
  /** A sync that was confirmed: it is answered once this zxid is applied. */
  syncedAt: Zxid | null;
}

/** `run`: a read to be answered now, not kept. `forward`: kept, to be sent on. `wait`: kept. */
export type Admission = 'run' | 'forward' | 'wait';

/** Finished entries are cut off the front of the array from this many on. */
const COMPACT_AT = 256;

export class CommitQueue {
  readonly #entries: QueueEntry[] = [];
  #head = 0;
  /** The first pending sync, or the end: writes before it are handed on, those behind are not. */
  #barrier = 0;

  get length(): number {
    return this.#entries.length - this.#head;
  }

  get head(): QueueEntry | undefined {
    return this.#entries[this.#head];
  }

  accept(entry: QueueEntry): Admission {
    if (entry.kind === 'read' && this.length === 0) return 'run';
    const open = this.#barrier === this.#entries.length;
    this.#entries.push(entry);
    if (!open || entry.kind === 'sync') return 'wait';
    this.#barrier += 1;
    return entry.kind === 'read' ? 'wait' : 'forward';
  }

  /** The head was answered. */
  shift(): void {
    assert(this.length > 0, 'the head of a queue was answered');
    this.#head += 1;
    this.#barrier = Math.max(this.#barrier, this.#head);
    if (this.#head === this.#entries.length) this.#cut();
    else if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#entries.length) this.#cut();
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
    const pending = this.#entries.splice(0).slice(this.#head);
    this.#head = 0;
    this.#barrier = 0;
    return pending;
  }

  #nextHeldWrite(): QueueEntry | undefined {
    for (;;) {
      const entry = this.#entries[this.#barrier];
      if (entry === undefined || entry.kind === 'sync') return undefined;
      this.#barrier += 1;
      if (entry.kind !== 'read') return entry;
    }
  }

  #cut(): void {
    this.#entries.splice(0, this.#head);
    this.#barrier -= this.#head;
    this.#head = 0;
  }
}

function isDue(sync: QueueEntry, applied: Zxid): boolean {
  return sync.syncedAt !== null && sync.syncedAt <= applied;
}
