/**
 * The newest proposals in memory: all that are not delivered yet, and as many older ones as fit.
 *
 * They are kept in the batches in which they were appended. The window knows neither what is
 * durable nor what the log contains.
 */
import { assert, Fifo, formatZxid, type ProposalBatch, type Zxid } from '@rookery/protocol';

/** The memory of a batch besides its bytes. */
const BATCH_BYTES = 380;

export class ProposalWindow {
  /** The oldest first. */
  readonly #batches = new Fifo<ProposalBatch>();
  #base: Zxid;
  #bytes = 0;

  constructor(base: Zxid) {
    this.#base = base;
  }

  /** Everything after this zxid is in memory. */
  get base(): Zxid {
    return this.#base;
  }

  /** Appends a batch, and asserts that it continues the window. */
  keep(batch: ProposalBatch): void {
    const end = this.#batches.last?.last ?? this.#base;
    assert(batch.previous === end, () => `the window goes on after ${formatZxid(end)}`);
    this.#batches.push(batch);
    this.#bytes += heldBytes(batch);
  }

  /** Forgets everything after `after`, none of which has been delivered. */
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

  /** A snapshot at `zxid` has replaced everything. */
  reset(zxid: Zxid): void {
    this.#batches.clear();
    this.#base = zxid;
    this.#bytes = 0;
  }

  /**
   * The proposals in (after, through], which must be in memory. Returns the first ones of them, up
   * to `bytesMax` but at least one.
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

  /** Drops the oldest delivered proposals beyond `bytesMax`. */
  trim(delivered: Zxid, bytesMax: number): void {
    while (this.#bytes > bytesMax) {
      const oldest = this.#batches.first;
      if (oldest === undefined || oldest.last > delivered) break;
      this.#batches.shift();
      this.#bytes -= heldBytes(oldest);
      this.#base = oldest.last;
    }
  }

  /** The index of the first batch with a proposal after `zxid`. */
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
