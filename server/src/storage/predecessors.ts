/**
 * What a segment of the log says of those before it, so that a start does not have to read them.
 *
 * Owns the record and what it is worth: it is written with the first groups of a segment, in one
 * batch, when those before are complete. It is believed only where the chain goes on from it: what
 * is cut off and written anew leaves a record behind that does not fit. Never opens a database.
 */
import {
  type EpochRange,
  epochOf,
  extendRanges,
  type GrowingRanges,
  type Proposal,
  type Zxid,
} from '@rookery/protocol';
import { z } from 'zod';
import type { KeyValueDatabase, KeyValueOperation } from './key-value.js';
import { sealJson, unsealJson } from './records.js';

/** All that a log wants to know of a segment that nobody reads. Not of an empty one. */
export interface SegmentSummary {
  readonly seq: number;
  /** The predecessor of `first`. */
  readonly base: Zxid;
  readonly first: Zxid;
  readonly last: Zxid;
  readonly bytes: number;
  readonly groupCount: number;
  readonly ranges: readonly EpochRange[];
}

/** Sorts behind all groups, and not among the marks that older versions know. */
const KEY = Uint8Array.of(0xff, 0x70);
/** Older ones are read at a start: a log is longer than this only while something pins it. */
const SUMMARIES_MAX = 64;
const RANGE_SCHEMA = z.object({
  epoch: z.number().int(),
  first: z.number().int(),
  last: z.number().int(),
});
const SCHEMA = z.array(
  z.object({
    seq: z.number().int(),
    base: z.number().int(),
    first: z.number().int(),
    last: z.number().int(),
    bytes: z.number().int(),
    groupCount: z.number().int(),
    ranges: z.array(RANGE_SCHEMA),
  }),
);

export function putPredecessors(summaries: readonly SegmentSummary[]): KeyValueOperation {
  return { type: 'put', key: KEY, value: sealJson(KEY, summaries.slice(-SUMMARIES_MAX)) };
}

/** None when it does not say; throws DamagedError. */
export async function predecessorsIn(
  name: string,
  open: KeyValueDatabase,
): Promise<readonly SegmentSummary[]> {
  const sealed = await open.get(KEY);
  if (sealed === undefined) return [];
  return unsealJson(`what ${name} says of its predecessors`, KEY, sealed, SCHEMA);
}

/** Of a whole group: zxids of one epoch are consecutive. */
export function addGroup(ranges: GrowingRanges, proposals: readonly Proposal[]): void {
  const first = proposals[0]?.zxid ?? 0;
  const last = proposals.at(-1)?.zxid ?? 0;
  if (epochOf(first) === epochOf(last)) {
    extendRanges(ranges, first, last);
    return;
  }
  for (const { zxid } of proposals) {
    extendRanges(ranges, zxid, zxid);
  }
}
