/**
 * One session's requests that cannot be answered yet, in the order in which they came.
 *
 * The rules: a read runs at once if nothing is pending before it, otherwise in its order. A write
 * may be forwarded at once, unless a sync is pending before it. A sync is a barrier: everything
 * after it waits. A write also waits for earlier reads that take long or have large answers: see
 * AHEAD_BYTES_MAX. Right before a write is applied, the reads that still wait in front of it run,
 * or its connection is closed (`Requests.onApplying`). An applied write is therefore always at the
 * head, and later reads have not run. This class only orders; it owns its entries.
 */
import { assert, Fifo, type ForwardedRequest, type Zxid } from '@rookery/protocol';
import type { SessionId } from '../state/txn.js';
import type { Requester } from './access.js';
import type { ConnectionId } from './client-channel.js';

/** It includes what is sent to the leader. */
export interface QueueEntry extends ForwardedRequest {
  readonly connection: ConnectionId;
  /** The connection's session. `session` is what the leader gets: LOCAL_SESSION for local ones. */
  readonly ownSession: SessionId;
  /** `close` is the write that ends the session. */
  readonly kind: 'read' | 'write' | 'close' | 'sync';
  readonly xid: number;
  /**
   * The jute record after the header, for an auth its outcome instead (see Requests): lent while
   * the request comes in, and then a copy. Empty once the message to the leader has it.
   */
  body: Uint8Array;
  /** The parts of a divided setWatches that come before `body` and have not run: set-watches.ts. */
  readonly partsBefore: Uint8Array[];
  /** The size of the body and the identities. */
  readonly bytes: number;
  /** It runs in parts and has reached the head of the queue. */
  hasBegun: boolean;
  /** The znode that a write names, for the audit; null where nothing is audited. */
  readonly znode: string | null;
  /** What the connection was known to be when the request came. */
  readonly requester: Requester;
  /** The member's number of a write or sync, 0 for a read. */
  readonly request: number;
  readonly sinceMs: number;
  /** For a waiting read the estimate of `answerBytesOf`; 0 for anything else. */
  readonly answerBytes: number;
  /** The work of the write, as the outbox counts it; 0 until the outbox has it. */
  changes: number;
  /** The outbox has written it into a message: the leader has it or will have it. */
  isForwarded: boolean;
  /** For a sync that was confirmed: it is answered once this zxid is applied. */
  syncedAt: Zxid | null;
}

/**
 * `pass`: it is for the outbox, which decides when to forward it. The queue keeps it either way.
 */
export type Passage = 'pass' | 'wait';

/**
 * A write passes only while the reads that wait before it are estimated at no more than this. They
 * run before it is applied, even if the client does not take its answers and the turn has no time
 * for them, and one turn may apply the writes of a thousand sessions. A larger read delays only
 * the writes of its own session.
 */
const AHEAD_BYTES_MAX = 64 << 10;

export class CommitQueue {
  readonly #entries = new Fifo<QueueEntry>();
  /**
   * The number of entries before the first pending sync, or the first write that waits for
   * reads, or the end. Writes before it have passed to the outbox, those after it have not.
   */
  #barrier = 0;
  /** The sum of `answerBytes` of the reads before the barrier. */
  #answersAheadBytes = 0;
  /** The largest body of a write or sync since the queue was last empty. */
  #largestWriteBytes = 0;

  get length(): number {
    return this.#entries.length;
  }

  get head(): QueueEntry | undefined {
    return this.#entries.first;
  }

  /** The write or sync of this number, mostly the first entry. The numbers of a queue only grow. */
  find(request: number): QueueEntry | undefined {
    for (let index = 0; index < this.#entries.length; index++) {
      const entry = this.#entries.at(index);
      if (entry?.request === request) return entry;
      if (entry !== undefined && entry.request > request) break;
    }
    return undefined;
  }

  /** `#largestWriteBytes`, by which the answers to later reads are estimated. */
  get largestWriteBytes(): number {
    return this.#largestWriteBytes;
  }

  accept(entry: QueueEntry): Passage {
    const open = this.#barrier === this.#entries.length;
    this.#entries.push(entry);
    if (entry.kind !== 'read') {
      this.#largestWriteBytes = Math.max(this.#largestWriteBytes, entry.body.length);
    }
    if (!open || !this.#mayMoveBarrierBehind(entry)) return 'wait';
    this.#moveBarrierBehind(entry);
    return entry.kind === 'read' ? 'wait' : 'pass';
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
   * Returns what can proceed now, one entry at a time until undefined: a read to run or a sync to
   * answer, both of which are removed from the queue, or a write for the outbox, which stays.
   */
  next(applied: Zxid): QueueEntry | undefined {
    const head = this.head;
    if (head === undefined) return undefined;
    if (head.kind === 'read' || (head.kind === 'sync' && isDue(head, applied))) {
      this.shift();
      return head;
    }
    return this.#nextPassingWrite();
  }

  /** Empties the queue of a connection that is gone. */
  takeAll(): readonly QueueEntry[] {
    const pending = this.#entries.takeAll();
    this.#barrier = 0;
    this.#answersAheadBytes = 0;
    this.#largestWriteBytes = 0;
    return pending;
  }

  #nextPassingWrite(): QueueEntry | undefined {
    for (;;) {
      const entry = this.#entries.at(this.#barrier);
      if (entry === undefined || !this.#mayMoveBarrierBehind(entry)) return undefined;
      this.#moveBarrierBehind(entry);
      if (entry.kind !== 'read') return entry;
    }
  }

  #mayMoveBarrierBehind({ kind }: QueueEntry): boolean {
    if (kind === 'sync') return false;
    return kind === 'read' || this.#answersAheadBytes <= AHEAD_BYTES_MAX;
  }

  /** Moves the barrier behind the entry. */
  #moveBarrierBehind(entry: QueueEntry): void {
    this.#barrier += 1;
    this.#answersAheadBytes += entry.answerBytes;
  }
}

function isDue(sync: QueueEntry, applied: Zxid): boolean {
  return sync.syncedAt !== null && sync.syncedAt <= applied;
}
