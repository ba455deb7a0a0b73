/**
 * Reads a part of the log for a learner, segment by segment, and tells why it cannot be read.
 *
 * Owns the difference between what is gone (purged, cut off meanwhile) and what is lost: a segment
 * says what it holds, and a start does not read all of them (predecessors.ts). Never changes a log.
 */
import { formatZxid, type Proposal, type Zxid } from '@rookery/protocol';
import { codesOf } from './disk-errors.js';
import { DamagedError, HistoryGoneError, StorageFault, UnreadableHistoryError } from './errors.js';
import type { Segment } from './segment.js';

export interface ReadableLog {
  /** The segment that holds what follows `after`. */
  holderOf(after: Zxid): Segment | undefined;
  isInUse(segment: Segment): boolean;
  /** How often something was cut off its end. */
  readonly truncations: number;
}

/**
 * What is in (after, through], in chunks of about `bytesMax`. Throws HistoryGoneError;
 * UnreadableHistoryError for what a segment should hold and does not.
 */
export async function* readLog(
  log: ReadableLog,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<readonly Proposal[]> {
  const { truncations } = log;
  let previous = after;
  while (previous < through) {
    const start = previous;
    const segment = log.holderOf(start);
    if (segment === undefined) throw gone(start);
    // More may be appended while it is read.
    const end = Math.min(segment.last, through);
    try {
      for await (const chunk of readSegment(segment, { after: start, through }, bytesMax)) {
        checkFollows(segment, chunk, previous);
        previous = chunk.at(-1)?.zxid ?? previous;
        yield chunk;
      }
      if (previous < end) throw lost(segment, previous);
    } catch (error) {
      // Cut off meanwhile, or not in use any more.
      if (truncations !== log.truncations || !log.isInUse(segment)) throw gone(previous);
      if (!isUnreadable(error)) throw error;
      throw new UnreadableHistoryError(segment.last, error);
    }
  }
}

async function* readSegment(
  segment: Segment,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<readonly Proposal[]> {
  const open = await segment.database.acquire();
  try {
    let chunk: Proposal[] = [];
    let bytes = 0;
    for await (const group of segment.groups(open, after)) {
      for (const proposal of group.proposals) {
        if (proposal.zxid > after && proposal.zxid <= through) chunk.push(proposal);
      }
      bytes += group.bytes;
      if (bytes >= bytesMax && chunk.length > 0) {
        yield chunk;
        chunk = [];
        bytes = 0;
      }
      if ((group.proposals.at(-1)?.zxid ?? 0) >= through) break;
    }
    if (chunk.length > 0) yield chunk;
  } finally {
    await segment.database.release();
  }
}

function checkFollows(segment: Segment, chunk: readonly Proposal[], after: Zxid): void {
  let last = after;
  for (const { zxid, previous } of chunk) {
    if (previous !== last) throw lost(segment, last);
    last = zxid;
  }
}

/** What a later try would not read either: not too many open files, nor the end of the process. */
function isUnreadable(error: unknown): error is Error {
  const isBadDisk = error instanceof StorageFault && codesOf(error).includes('EIO');
  return isBadDisk || error instanceof DamagedError;
}

function lost({ database }: Segment, after: Zxid): DamagedError {
  return new DamagedError(`${database.name} has lost what follows ${formatZxid(after)}`);
}

function gone(after: Zxid): HistoryGoneError {
  return new HistoryGoneError(`the log does not hold what follows ${formatZxid(after)}`);
}
