/**
 * Reads a part of the log for a learner, segment by segment, and tells why it cannot be read.
 *
 * Owns the difference between what is gone (purged, truncated meanwhile) and what is lost: a
 * segment's successor says what it holds, and a start does not read all of them. Never changes a
 * log.
 */
import {
  formatZxid,
  MarshallingError,
  type Proposal,
  unpackProposals,
  type Zxid,
} from '@rookery/protocol';
import { DamagedError, HistoryGoneError, UnreadableHistoryError } from './errors.js';
import { type LogRecord, RecordReader } from './log-record.js';
import type { Segment } from './log-segment.js';

export interface ReadableLog {
  /** The segment that holds what follows `after`. */
  holderOf(after: Zxid): Segment | undefined;
  isInUse(segment: Segment): boolean;
  /** How often a suffix was cut off. */
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
      for await (const chunk of readSegment(segment, { after: start, through: end }, bytesMax)) {
        checkFollows(segment, chunk, previous);
        previous = chunk.at(-1)?.zxid ?? previous;
        yield chunk;
      }
      if (previous < end) throw lost(segment, previous);
    } catch (error) {
      // Truncated meanwhile, or not in use any more.
      if (truncations !== log.truncations || !log.isInUse(segment)) throw gone(previous);
      // A later try would not read it either.
      if (!(error instanceof DamagedError)) throw error;
      throw new UnreadableHistoryError(segment.last, error);
    }
  }
}

async function* readSegment(
  segment: Segment,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<readonly Proposal[]> {
  const file = await segment.file.acquire();
  try {
    const from = segment.offsetBefore(after);
    const reader = new RecordReader(file, { salt: segment.header.salt, from, end: segment.end });
    let chunk: Proposal[] = [];
    let bytes = 0;
    for (let last = after; last < through; ) {
      const record = await reader.next();
      if (record === null) break;
      for (const proposal of proposalsOf(segment.name, record)) {
        last = proposal.zxid;
        if (last > after && last <= through) chunk.push(proposal);
      }
      bytes += record.payload.length;
      if (bytes >= bytesMax && chunk.length > 0) {
        yield chunk;
        chunk = [];
        bytes = 0;
      }
    }
    if (chunk.length > 0) yield chunk;
  } finally {
    await segment.file.release();
  }
}

/** Throws DamagedError for what no release has written. */
export function proposalsOf(name: string, { offset, payload }: LogRecord): readonly Proposal[] {
  try {
    return unpackProposals(payload);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    const at = `the record at ${offset} of ${name}`;
    throw new DamagedError(`${at} is not understood: ${error.message}`, { cause: error });
  }
}

function checkFollows(segment: Segment, chunk: readonly Proposal[], after: Zxid): void {
  let last = after;
  for (const { zxid, previous } of chunk) {
    if (previous !== last) throw lost(segment, last);
    last = zxid;
  }
}

function lost({ name }: Segment, after: Zxid): DamagedError {
  return new DamagedError(`${name} has lost what follows ${formatZxid(after)}`);
}

function gone(after: Zxid): HistoryGoneError {
  return new HistoryGoneError(`the log does not hold what follows ${formatZxid(after)}`);
}
