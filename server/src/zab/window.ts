/**
 * The newest proposals, in memory: all that are not delivered, and before them as many as fit.
 *
 * Kept in runs, as they were appended. Once a run is delivered only its pack is kept: an object for
 * each of tens of thousands of proposals would keep the garbage collector busy. Knows nothing of
 * what is durable, nor of what the log holds.
 */
import {
  assert,
  chunksByBytes,
  Fifo,
  formatZxid,
  type Proposal,
  packedBytesOf,
  packProposals,
  unpackProposals,
  type Zxid,
} from '@rookery/protocol';

interface Run {
  readonly previous: Zxid;
  readonly last: Zxid;
  /** Null from when all of it is delivered. */
  proposals: readonly Proposal[] | null;
  readonly packed: Uint8Array;
}

/** What a run costs beside its pack. */
const RUN_BYTES = 380;
/** Of a recovered log, which comes in one piece. */
const RECOVERED_RUN_BYTES = 256 << 10;

export class ProposalWindow {
  /** The oldest first; `#delivered` of them are packed. */
  readonly #runs = new Fifo<Run>();
  #delivered = 0;
  #base: Zxid;
  #bytes = 0;

  constructor(base: Zxid) {
    this.#base = base;
  }

  /** What comes after this zxid is in memory. */
  get base(): Zxid {
    return this.#base;
  }

  /** Consecutive ones, the caller has checked it. Asserts that they continue the window. */
  keep(proposals: readonly Proposal[]): void {
    const first = proposals[0];
    const last = proposals.at(-1);
    if (first === undefined || last === undefined) return;
    const end = this.#runs.last?.last ?? this.#base;
    assert(first.previous === end, () => `the window goes on after ${formatZxid(end)}`);
    const packed = packProposals(proposals);
    this.#runs.push({ previous: first.previous, last: last.zxid, proposals, packed });
    this.#bytes += RUN_BYTES + packed.length;
  }

  /** As `keep`, of any length. */
  keepRecovered(proposals: readonly Proposal[]): void {
    for (const run of chunksByBytes(proposals, RECOVERED_RUN_BYTES, packedBytesOf)) this.keep(run);
  }

  /** Forgets everything after `after`, of which nothing is delivered. */
  truncate(after: Zxid): void {
    assert(after >= this.#base, 'truncation below what was delivered');
    for (let run = this.#runs.last; run !== undefined && run.last > after; run = this.#runs.last) {
      this.#runs.pop();
      this.#bytes -= heldBytes(run);
      if (run.previous < after) this.keep(proposalsOf(run).filter(({ zxid }) => zxid <= after));
    }
    this.#delivered = Math.min(this.#delivered, this.#runs.length);
  }

  /** A snapshot at `zxid` replaced everything. */
  reset(zxid: Zxid): void {
    this.#runs.clear();
    this.#delivered = 0;
    this.#base = zxid;
    this.#bytes = 0;
  }

  /**
   * The proposals in (after, through], which must be in memory: of the first of them no more than
   * have `bytesMax`, but one at least.
   */
  slice(after: Zxid, through: Zxid, bytesMax = Number.POSITIVE_INFINITY): readonly Proposal[] {
    assert(after >= this.#base, () => `${formatZxid(after)} is older than the window`);
    const found: Proposal[] = [];
    let bytes = 0;
    for (let index = this.#indexAfter(after); index < this.#runs.length; index++) {
      const run = this.#runs.at(index);
      if (run === undefined || run.previous >= through) break;
      const proposals = proposalsOf(run);
      const isAll = found.length === 0 && run.previous >= after && run.last === through;
      if (isAll && run.packed.length <= bytesMax) return proposals;
      for (const proposal of proposals) {
        if (proposal.zxid <= after) continue;
        if (proposal.zxid > through) break;
        bytes += packedBytesOf(proposal);
        if (bytes > bytesMax && found.length > 0) return found;
        found.push(proposal);
      }
    }
    return found;
  }

  /** Lets go of delivered proposals beyond `bytesMax`. */
  trim(delivered: Zxid, bytesMax: number): void {
    for (; this.#delivered < this.#runs.length; this.#delivered++) {
      const run = this.#runs.at(this.#delivered);
      if (run === undefined || run.last > delivered) break;
      run.proposals = null;
    }
    while (this.#bytes > bytesMax && this.#delivered > 0) {
      const oldest = this.#runs.shift();
      if (oldest === undefined) break;
      this.#delivered -= 1;
      this.#bytes -= heldBytes(oldest);
      this.#base = oldest.last;
    }
  }

  /** Of the first run that holds something after `zxid`. */
  #indexAfter(zxid: Zxid): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const run = this.#runs.at(middle);
      if (run !== undefined && run.last <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function proposalsOf(run: Run): readonly Proposal[] {
  return run.proposals ?? unpackProposals(run.packed);
}

function heldBytes(run: Run): number {
  return RUN_BYTES + run.packed.length;
}
