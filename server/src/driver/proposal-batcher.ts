/**
 * Divides the transactions that a leader has prepared in one term into batches, and decides when
 * each is proposed.
 *
 * A transaction is encoded once, in the memory that links and log share. Each batch costs a message
 * to every follower, and mostly a sync and an acknowledgement there, whatever its size. So a small
 * batch lingers while an earlier one still has to be committed and applied here, and grows
 * meanwhile. That costs little, because a disk makes one synced write at a time: the small batch
 * would mostly have waited for an earlier one anyway. It lingers for at most LINGER_MS, because a
 * commit between distant members takes long. A batch of BATCH_MIN proposals never lingers.
 */
import { BatchWriter, type ProposalBatch, type Zxid } from '@rookery/protocol';
import type { ProposalSizes } from '../net/member-view.js';
import type { Timers } from '../net/timers.js';
import type { TxnSink } from '../pipeline/request-preparer.js';
import type { Txn } from '../state/txn.js';
import { txnBytesOf, writeTxn } from '../state/txn-codec.js';

/** The number of proposals in a batch from which on waiting for more saves little. */
export const BATCH_MIN = 64;
export const LINGER_MS = 2;
/** Bytes of proposals in one message. The last one may go beyond it. */
const BATCH_BYTES = 512 << 10;

export class ProposalBatcher implements TxnSink {
  readonly #timers: Pick<Timers, 'after'>;
  readonly #wake: () => void;
  readonly #writer = new BatchWriter();
  /** Full batches. */
  #batches: ProposalBatch[] = [];
  #last: Zxid;
  #sizes: ProposalSizes = { last: -1, min: -1, max: -1 };
  #heldSinceMs: number | null = null;
  #willWake = false;

  /**
   * `last` is the zxid of the last proposal before the term. `wake` runs a turn, at whose end
   * `takeDue` is called again.
   */
  constructor(last: Zxid, timers: Pick<Timers, 'after'>, wake: () => void) {
    this.#last = last;
    this.#timers = timers;
    this.#wake = wake;
  }

  /** Sizes of this term's proposals, in bytes; -1 before the first. */
  get sizes(): ProposalSizes {
    return this.#sizes;
  }

  add(zxid: Zxid, txn: Txn): void {
    if (!this.#writer.hasRoomFor(txnBytesOf(txn))) this.#batches.push(this.#writer.take());
    const writer = this.#writer.begin(zxid, this.#last);
    const before = writer.length;
    writeTxn(writer, txn);
    const bytes = writer.length - before;
    writer.endFrame();
    this.#last = zxid;
    // The last proposal may go beyond the bound: limits.ts leaves room for it in a frame.
    if (this.#writer.bytes > BATCH_BYTES) this.#batches.push(this.#writer.take());
    const { min, max } = this.#sizes;
    const smallest = min < 0 ? bytes : Math.min(min, bytes);
    if (smallest !== min || bytes > max || bytes !== this.#sizes.last) {
      this.#sizes = { last: bytes, min: smallest, max: Math.max(max, bytes) };
    }
  }

  /**
   * Returns what is to be proposed at the end of this turn: everything that was added, in order, in
   * batches of bounded size. Returns null while that lingers. `hasUndelivered` says whether an
   * earlier proposal still has to be committed and applied here.
   */
  takeDue(hasUndelivered: boolean, nowMs: number): readonly ProposalBatch[] | null {
    if (hasUndelivered && this.#lingers(nowMs)) return null;
    this.#heldSinceMs = null;
    if (this.#writer.count > 0) this.#batches.push(this.#writer.take());
    const batches = this.#batches;
    if (batches.length > 0) this.#batches = [];
    return batches;
  }

  #lingers(nowMs: number): boolean {
    let proposals = this.#writer.count;
    for (const { count } of this.#batches) proposals += count;
    const since = this.#heldSinceMs ?? nowMs;
    const leftMs = LINGER_MS - (nowMs - since);
    if (proposals === 0 || proposals >= BATCH_MIN || leftMs <= 0) return false;
    this.#heldSinceMs = since;
    // Timers count in whole milliseconds.
    this.#wakeIn(Math.ceil(leftMs));
    return true;
  }

  /** Keeps one timer at a time. One of an earlier batch may fire early, which does no harm. */
  #wakeIn(ms: number): void {
    if (this.#willWake) return;
    this.#willWake = true;
    this.#timers.after(ms, () => {
      this.#willWake = false;
      if (this.#heldSinceMs !== null) this.#wake();
    });
  }
}
