/**
 * Reads a part of the log for a learner, segment by segment, and tells why it cannot be read.
 *
 * Owns the difference between what is gone (purged, truncated meanwhile) and what is lost. A loss
 * may be found only here, because a start does not read a segment of which its successor says what
 * it holds. Never changes a log.
 */
import { formatZxid, type ProposalBatch, type Zxid } from '@rookery/protocol';
import { DamagedError, HistoryGoneError, UnreadableHistoryError } from './errors.js';
import { RecordReader } from './log-record.js';
import type { Segment } from './log-segment.js';
import { BatchJoiner, storedBatch } from './stored-batches.js';

export interface ReadableLog {
  /** The segment that contains what follows `after`. */
  holderOf(after: Zxid): Segment | undefined;
  isInUse(segment: Segment): boolean;
  /** The number of truncations. */
  readonly truncations: number;
}

/**
 * What is in (after, through], in batches of about `bytesMax`. Throws HistoryGoneError;
 * UnreadableHistoryError for what a segment should hold and does not.
 */
export async function* readLog(
  log: ReadableLog,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<ProposalBatch> {
  const { truncations } = log;
  let previous = after;
  while (previous < through) {
    const start = previous;
    const segment = log.holderOf(start);
    if (segment === undefined) throw gone(start);
    // More may be appended while it is read.
    const end = Math.min(segment.last, through);
    try {
      for await (const batch of readSegment(segment, { after: start, through: end }, bytesMax)) {
        previous = batch.last;
        yield batch;
      }
      if (previous < end) throw lost(segment, previous);
    } catch (error) {
      // The log was truncated meanwhile, or is no longer in use.
      if (truncations !== log.truncations || !log.isInUse(segment)) throw gone(previous);
      // Another attempt would not succeed either.
      if (!(error instanceof DamagedError)) throw error;
      throw new UnreadableHistoryError(segment.last, error);
    }
  }
}

async function* readSegment(
  segment: Segment,
  { after, through }: { readonly after: Zxid; readonly through: Zxid },
  bytesMax: number,
): AsyncGenerator<ProposalBatch> {
  const file = await segment.file.acquire();
  try {
    const from = segment.offsetBefore(after);
    const reader = new RecordReader(file, { salt: segment.header.salt, from, end: segment.end });
    const joiner = new BatchJoiner(bytesMax);
    for (let last = after; last < through; ) {
      const record = await reader.next();
      if (record === null) break;
      const part = storedBatch(recordAt(segment, record), record.payload).part(after, through);
      if (part === null) continue;
      if (part.previous !== last) throw lost(segment, last);
      last = part.last;
      const batch = joiner.add(part);
      if (batch !== null) yield batch;
    }
    const rest = joiner.take();
    if (rest !== null) yield rest;
  } finally {
    await segment.file.release();
  }
}

/** Says where a record is, for messages. */
export function recordAt({ name }: Segment, { offset }: { readonly offset: number }): string {
  return `the record at ${offset} of ${name}`;
}

function lost({ name }: Segment, after: Zxid): DamagedError {
  return new DamagedError(`${name} has lost what follows ${formatZxid(after)}`);
}

function gone(after: Zxid): HistoryGoneError {
  return new HistoryGoneError(`the log does not hold what follows ${formatZxid(after)}`);
}
