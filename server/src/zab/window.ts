/**
 * The newest proposals, in memory: all that are not delivered, and before them as many as fit.
 *
 * Kept in batches, as they were appended. Knows nothing of what is durable, nor of what the log
 * holds.
 */
import { assert, Fifo, formatZxid, type ProposalBatch, type Zxid } from '@rookery/protocol';

/** What a batch costs beside its bytes. */
const BATCH_BYTES = 380;

export class ProposalWindow {
  /** The oldest first. */
  readonly #batches = new Fifo<ProposalBatch>();
  #base: Zxid;
  #bytes = 0;

  constructor(base: Zxid) {
    this.#base = base;
  }

  /** What comes after this zxid is in memory. */
  get base(): Zxid {
    return this.#base;
  }

  /** Asserts that it continues the window. */
  keep(batch: ProposalBatch): void {
    const end = this.#batches.last?.last ?? this.#base;
    assert(batch.previous === end, () => `the window goes on after ${formatZxid(end)}`);
    this.#batches.push(batch);
    this.#bytes += heldBytes(batch);
  }

  /** Forgets everything after `after`, of which nothing is delivered. */
  truncate(after: Zxid): void {
    assert(after >= this.#base, 'truncation below what was delivered');
    const batches = this.#batches;
    for (let batch = batches.last; batch !== undefined && batch.last > after; ) {
      batches.pop();
      this.#bytes -= heldBytes(batch);
      const kept = batch.part(batch.previous, after);
      if (kept !== null) this.keep(kept);
      batch = batches.last;
    }
  }

  /** A snapshot at `zxid` replaced everything. */
  reset(zxid: Zxid): void {
    this.#batches.clear();
    this.#base = zxid;
    this.#bytes = 0;
  }

  /**
   * The proposals in (after, through], which must be in memory: of the first of them no more than
   * have `bytesMax`, but one at least.
   */
  slice(after: Zxid, through: Zxid, bytesMax = Number.POSITIVE_INFINITY): readonly ProposalBatch[] {
    assert(after >= this.#base, () => `${formatZxid(after)} is older than the window`);
    const found: ProposalBatch[] = [];
    let leftBytes = bytesMax;
    for (let index = this.#indexAfter(after); index < this.#batches.length; index++) {
      const batch = this.#batches.at(index);
      const part = batch?.part(after, through, leftBytes) ?? null;
      if (part === null || (found.length > 0 && part.bytes.length > leftBytes)) break;
      found.push(part);
      leftBytes -= part.bytes.length;
      if (part.last !== batch?.last) break;
    }
    return found;
  }

  /** Lets go of delivered proposals beyond `bytesMax`. */
  trim(delivered: Zxid, bytesMax: number): void {
    while (this.#bytes > bytesMax) {
      const oldest = this.#batches.first;
      if (oldest === undefined || oldest.last > delivered) break;
      this.#batches.shift();
      this.#bytes -= heldBytes(oldest);
      this.#base = oldest.last;
    }
  }

  /** Of the first batch that holds something after `zxid`. */
  #indexAfter(zxid: Zxid): number {
    let low = 0;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const batch = this.#batches.at(middle);
      if (batch !== undefined && batch.last <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function heldBytes(batch: ProposalBatch): number {
  return BATCH_BYTES + batch.bytes.length;
}
