/**
 * The ranges of zxids that a log holds, and how they grow and are cut.
 *
 * The zxids of one epoch are consecutive, so a log consists of a few ranges. They are changed in
 * place.
 */

import type { HistorySummary } from './messages.js';
import type { Zxid } from './proposal.js';
import { counterOf, epochOf, makeZxid } from './zxid.js';

/** In ascending order. */
export type GrowingRanges = { epoch: number; first: number; last: number }[];

/** Whether the log holds `zxid`, or begins right after it. */
export function holds({ base, ranges }: HistorySummary, zxid: Zxid): boolean {
  const counter = counterOf(zxid);
  const epoch = epochOf(zxid);
  if (zxid === base) return true;
  // The zxid is nearly always in the newest range.
  for (let index = ranges.length - 1; index >= 0; index--) {
    const range = ranges[index];
    if (range === undefined || range.epoch < epoch) return false;
    if (range.epoch > epoch) continue;
    if (range.first <= counter && counter <= range.last) return true;
  }
  return false;
}

/** Returns the newest zxid of the log; for an empty log, the zxid after which it begins. */
export function lastOfRanges({ base, ranges }: HistorySummary): Zxid {
  const range = ranges.at(-1);
  return range === undefined ? base : makeZxid(range.epoch, range.last);
}

/** Whether a log can have these ranges: ascending, behind its base, none empty. */
export function isWellFormed({ base, ranges }: HistorySummary): boolean {
  let last = base;
  for (const range of ranges) {
    if (range.last < range.first || makeZxid(range.epoch, range.first) <= last) return false;
    last = makeZxid(range.epoch, range.last);
  }
  return true;
}

/** Adds the zxids from `first` to `last`, of one epoch, which are newer than all others. */
export function extendRanges(ranges: GrowingRanges, first: Zxid, last: Zxid): void {
  const epoch = epochOf(first);
  const newest = ranges.at(-1);
  if (newest !== undefined && newest.epoch === epoch && newest.last + 1 === counterOf(first)) {
    newest.last = counterOf(last);
  } else {
    ranges.push({ epoch, first: counterOf(first), last: counterOf(last) });
  }
}

/** Removes all zxids after `after`. */
export function cutRanges(ranges: GrowingRanges, after: Zxid): void {
  for (let range = ranges.at(-1); range !== undefined; range = ranges.at(-1)) {
    if (makeZxid(range.epoch, range.last) <= after) return;
    if (makeZxid(range.epoch, range.first) <= after) {
      range.last = counterOf(after);
      return;
    }
    ranges.pop();
  }
}
