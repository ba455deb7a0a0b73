/** The ranges of zxids of a log grow by batches of proposals. */
import { epochOf, extendRanges, type GrowingRanges, type Proposal } from '@rookery/protocol';

/** The proposals are consecutive and come behind all that is there. */
export function addToRanges(ranges: GrowingRanges, proposals: readonly Proposal[]): void {
  const first = proposals[0]?.zxid ?? 0;
  const last = proposals.at(-1)?.zxid ?? 0;
  if (epochOf(first) === epochOf(last)) {
    extendRanges(ranges, first, last);
    return;
  }
  for (const { zxid } of proposals) extendRanges(ranges, zxid, zxid);
}
