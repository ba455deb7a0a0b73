/**
 * Which zxids a log contains: all of a few ranges after a base. Zxids of one epoch are consecutive
 * numbers, so a log of a million proposals has as many ranges as it has epochs.
 *
 * This is a separate implementation, on purpose not the core's `History`: the code under test must
 * not check itself. Appending costs one comparison; the newest range is examined first.
 */
import { type HistorySummary, makeZxid, type Proposal, type Zxid } from '@rookery/protocol';

export class ZxidRanges {
  /**
   * Zxids up to here are not listed: they are purged, or in the snapshot after which the log
   * starts.
   */
  base: Zxid = 0;
  #firsts: Zxid[] = [];
  #lasts: Zxid[] = [];

  static of(summary: HistorySummary): ZxidRanges {
    const ranges = new ZxidRanges();
    ranges.reset(summary.base);
    for (const { epoch, first, last } of summary.ranges) {
      ranges.extend(makeZxid(epoch, first), makeZxid(epoch, last));
    }
    return ranges;
  }

  clone(): ZxidRanges {
    const copy = new ZxidRanges();
    copy.base = this.base;
    copy.#firsts = [...this.#firsts];
    copy.#lasts = [...this.#lasts];
    return copy;
  }

  get last(): Zxid {
    return this.#lasts[this.#lasts.length - 1] ?? this.base;
  }

  /** Whether the zxid is in the log, or at or below its base. */
  covers(zxid: Zxid): boolean {
    if (zxid <= this.base) return true;
    for (let at = this.#lasts.length - 1; at >= 0; at--) {
      if (zxid > (this.#lasts[at] ?? 0)) return false;
      if (zxid >= (this.#firsts[at] ?? 0)) return true;
    }
    return false;
  }

  /** Returns the first listed zxid after `after`, or 0. */
  firstAfter(after: Zxid): Zxid {
    for (let at = 0; at < this.#lasts.length; at++) {
      if ((this.#lasts[at] ?? 0) > after) return Math.max(this.#firsts[at] ?? 0, after + 1);
    }
    return 0;
  }

  append(proposals: readonly Proposal[]): void {
    const count = proposals.length;
    const first = proposals[0]?.zxid ?? 0;
    const last = proposals[count - 1]?.zxid ?? 0;
    if (count === 0) return;
    if (last - first === count - 1) {
      this.extend(first, last);
      return;
    }
    for (let at = 0; at < count; at++) {
      const zxid = proposals[at]?.zxid ?? 0;
      this.extend(zxid, zxid);
    }
  }

  /** Appends the consecutive zxids from `first` to `last`, after all others. */
  extend(first: Zxid, last: Zxid): void {
    const newest = this.#lasts.length - 1;
    if (newest >= 0 && this.#lasts[newest] === first - 1) {
      this.#lasts[newest] = last;
      return;
    }
    this.#firsts.push(first);
    this.#lasts.push(last);
  }

  /** Removes everything after `after`. */
  cut(after: Zxid): void {
    for (let at = this.#lasts.length - 1; at >= 0; at--) {
      if ((this.#lasts[at] ?? 0) <= after) return;
      if ((this.#firsts[at] ?? 0) <= after) {
        this.#lasts[at] = after;
        return;
      }
      this.#firsts.pop();
      this.#lasts.pop();
    }
  }

  purge(base: Zxid): void {
    if (base <= this.base) return;
    this.base = base;
    while (this.#lasts.length > 0 && (this.#lasts[0] ?? 0) <= base) {
      this.#firsts.shift();
      this.#lasts.shift();
    }
    if (this.#lasts.length > 0 && (this.#firsts[0] ?? 0) <= base) this.#firsts[0] = base + 1;
  }

  reset(base: Zxid): void {
    this.base = base;
    this.#firsts = [];
    this.#lasts = [];
  }

  /** Whether both list the same zxids after both bases. */
  agreesWith(other: ZxidRanges): boolean {
    const base = Math.max(this.base, other.base);
    const [mine, theirs] = [this.clone(), other.clone()];
    mine.purge(base);
    theirs.purge(base);
    return mine.text() === theirs.text();
  }

  text(): string {
    const ranges = this.#lasts.map((last, at) => {
      return `0x${(this.#firsts[at] ?? 0).toString(16)}-0x${last.toString(16)}`;
    });
    return `(0x${this.base.toString(16)}) ${ranges.join(' ')}`;
  }
}
