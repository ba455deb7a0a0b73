/**
 * Reads a log back at start, checks every record of it and the whole chain, and never guesses.
 *
 * The torn end of the newest segment counts as never written. Any other difference from what was
 * written is a DamagedError that names the place: a missing segment, a wrong checksum, a gap
 * between two proposals. Only segments from that of the checkpoint on count: earlier ones are kept
 * for learners only, are not read where their successor says what they hold, and are removed if
 * damaged.
 */
import {
  extendRanges,
  formatZxid,
  type GrowingRanges,
  type HistorySummary,
  holds,
  makeZxid,
  type ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import type { LogSetup } from './contract.js';
import { DamagedError } from './errors.js';
import type { LogDirectory, LogFile } from './key-value.js';
import {
  BatchJoiner,
  encodeHeader,
  ownerOf,
  parseSegmentName,
  RECORDS_START,
  RecordReader,
  readHeader,
  Segment,
  type SegmentHeader,
  segmentName,
  storedBatch,
} from './log-segment.js';
import { SharedResource } from './shared-resource.js';
import { recordAt, TxnLog } from './txn-log.js';

/** The approximate size of the batches after the checkpoint, in bytes. */
const SUFFIX_BATCH_BYTES = 256 << 10;

export interface RecoveredLog {
  readonly log: TxnLog;
  /** The newest segment that was begun. A later start without it has lost something. */
  readonly logSeq: number;
  readonly history: HistorySummary;
  /** The proposals after `checkpoint`. */
  readonly suffix: readonly ProposalBatch[];
  /** Why segments before those that a start needs were removed; absent if none was. */
  readonly unreadable?: string;
}

interface LogAt {
  readonly generation: number;
  readonly checkpoint: Zxid;
  /** The newest segment that is known to have been begun. */
  readonly logSeq: number;
}

/**
 * Throws DamagedError when what a start needs of the log of this generation is not sound, or does
 * not fit `checkpoint`. Changes nothing before it is sure.
 */
export async function recoverLog(setup: LogSetup, at: LogAt): Promise<RecoveredLog> {
  const directory = setup.logFiles;
  const names = await namesOf(directory, at.generation);
  const { chain, broken } = chainOf(await headersOf(directory, names), at);
  const needed = chain.findLastIndex((header) => header.base <= at.checkpoint);
  if (needed < 0) {
    const missing = `the log does not hold ${formatZxid(at.checkpoint)}, which the tree was saved at`;
    throw new DamagedError(broken ?? missing);
  }
  const { segments, unreadable, suffix } = await readChain(directory, { chain, needed, ...at });
  const keptNames = new Set(segments.map(({ name }) => name));
  for (const name of names) if (!keptNames.has(name)) await directory.remove(name);
  const last = segments.at(-1)?.last ?? at.checkpoint;
  const lastSeq = Math.max(at.logSeq, ...names.map((name) => parseSegmentName(name)?.seq ?? 0));
  const log = new TxnLog(setup, { generation: at.generation, segments, last, lastSeq });
  const reason = unreadable ?? broken;
  return {
    log,
    logSeq: segments.at(-1)?.seq ?? at.logSeq,
    history: { base: log.base, ranges: joined(segments) },
    suffix,
    ...(reason === undefined ? {} : { unreadable: reason }),
  };
}

async function namesOf(directory: LogDirectory, generation: number): Promise<readonly string[]> {
  const names = await directory.list();
  return names.filter((name) => parseSegmentName(name)?.generation === generation).sort();
}

/** The header of each segment; null for a file that was never begun or has lost it. */
async function headersOf(
  directory: LogDirectory,
  names: readonly string[],
): Promise<ReadonlyMap<number, SegmentHeader | null>> {
  const headers = new Map<number, SegmentHeader | null>();
  for (const name of names) {
    const file = await directory.open(name);
    try {
      headers.set(parseSegmentName(name)?.seq ?? 0, await readHeader(file, name));
    } finally {
      await file.close();
    }
  }
  return headers;
}

/**
 * The newest segment and those that it follows, oldest first, as far back as they go: segments that
 * a truncation made void are not among them. `broken` says why it begins later than it might.
 */
function chainOf(
  headers: ReadonlyMap<number, SegmentHeader | null>,
  { generation, logSeq }: LogAt,
): { readonly chain: readonly SegmentHeader[]; readonly broken?: string } {
  const begun = [...headers.values()].filter((header) => header !== null);
  const newest = begun.toSorted((a, b) => a.seq - b.seq).at(-1) ?? null;
  if (newest === null && headers.size === 0) {
    throw new DamagedError(`the log is missing (${generation}-*.log)`);
  }
  if (newest === null || newest.seq < logSeq) {
    const name = segmentName(generation, logSeq);
    const how = headers.has(logSeq) ? 'has lost its header' : 'is missing';
    throw new DamagedError(`${name}, the newest part of the log, ${how}`);
  }
  const chain = [newest];
  for (let header = newest; header.follows !== null; ) {
    const previous = headers.get(header.follows);
    // It was purged or is lost, which matters only if a start needs it.
    if (previous === undefined) break;
    if (previous === null) {
      const broken = `${segmentName(generation, header.follows)} has lost its header`;
      return { chain, broken };
    }
    chain.unshift(previous);
    header = previous;
  }
  return { chain };
}

async function readChain(
  directory: LogDirectory,
  from: LogAt & { readonly chain: readonly SegmentHeader[]; readonly needed: number },
) {
  const { chain, needed, checkpoint } = from;
  const suffix: ProposalBatch[] = [];
  let segments: Segment[] = [];
  let unreadable: string | undefined;
  for (const [index, header] of chain.entries()) {
    const next = chain[index + 1];
    const name = segmentName(header.generation, header.seq);
    const segment = new Segment(new SharedResource(ownerOf(directory), name), header);
    if (index < needed && next?.previous != null) {
      segment.adopt(next.base, next.previous);
      segments.push(segment);
      continue;
    }
    try {
      const through = next?.base ?? null;
      suffix.push(...(await readSegment(segment, { through, checkpoint })));
      segments.push(segment);
    } catch (error) {
      if (index >= needed || !(error instanceof DamagedError)) throw error;
      // Only learners could need what comes before it, and they get a snapshot instead.
      unreadable = error.message;
      segments = [];
    }
  }
  return { segments, suffix, unreadable };
}

/**
 * Counts what the segment holds up to `through`, or up to its end where that is null. Returns the
 * proposals after the checkpoint. Throws DamagedError.
 */
async function readSegment(
  segment: Segment,
  at: { readonly through: Zxid | null; readonly checkpoint: Zxid },
): Promise<readonly ProposalBatch[]> {
  const { name, header, base } = segment;
  const { through, checkpoint } = at;
  const suffix: ProposalBatch[] = [];
  const joiner = new BatchJoiner(SUFFIX_BATCH_BYTES);
  await segment.file.use(async (file) => {
    const reader = new RecordReader(file, { salt: header.salt, from: RECORDS_START });
    // The offset of the newest write; null before the first record.
    let newest: number | null = null;
    while (through === null || segment.last < through) {
      const record = await reader.next();
      if (record === null) {
        await checkEnd(segment, reader, through);
        if (newest === null) return await file.write(0, [encodeHeader(header)]);
        return await makeDurable(file, newest, reader.position);
      }
      if (record.isFirstOfWrite) newest = record.offset;
      const batch = storedBatch(recordAt(segment, record), record.payload);
      checkFollows(segment, batch);
      segment.count([batch]);
      const part = batch.part(checkpoint, through ?? batch.last);
      const joined = part === null ? null : joiner.add(part);
      if (joined !== null) suffix.push(joined.compact());
    }
    if (!holds(segment, through)) {
      throw new DamagedError(`${name} does not hold ${formatZxid(through)}, where the log goes on`);
    }
    segment.cut(through);
  });
  const rest = joiner.take();
  if (rest !== null) suffix.push(rest.compact());
  const isElsewhere = base >= checkpoint || (through !== null && through < checkpoint);
  if (isElsewhere || holds(segment, checkpoint)) return suffix;
  throw new DamagedError(
    `the log does not hold ${formatZxid(checkpoint)}, which the tree was saved at` +
      `; ${name} ends with ${formatZxid(segment.last)}`,
  );
}

/** Handles a place without a valid record: torn end or damage. */
async function checkEnd(
  { name, last }: Segment,
  reader: RecordReader,
  through: Zxid | null,
): Promise<void> {
  if (through === null && !(await reader.hasLaterWrite())) return;
  throw new DamagedError(
    `the record at ${reader.position} of ${name}, behind ${formatZxid(last)}, ` +
      'has a wrong checksum, or is missing',
  );
}

/**
 * The last process may have written this without syncing it, or have ended because the sync failed.
 * In the second case the system may take it for written, so it is written again.
 */
async function makeDurable(file: LogFile, from: number, to: number): Promise<void> {
  await file.write(from, [await file.read(from, to - from)]);
}

function checkFollows({ name, last }: Segment, { first, previous }: ProposalBatch): void {
  if (previous === last) return;
  const found = `${formatZxid(first)} follows ${formatZxid(previous)}`;
  throw new DamagedError(
    `the log has a gap in ${name}: ${found}, but what was read ends with ${formatZxid(last)}`,
  );
}

function joined(segments: readonly Segment[]): GrowingRanges {
  const ranges: GrowingRanges = [];
  for (const { epoch, first, last } of segments.flatMap((segment) => segment.ranges)) {
    extendRanges(ranges, makeZxid(epoch, first), makeZxid(epoch, last));
  }
  return ranges;
}
