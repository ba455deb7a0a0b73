/**
 * Reads a log back at start, checks every record of it and the whole chain, and never guesses.
 *
 * Segments that end before the checkpoint, and of which a later one says what they hold, are not
 * opened: only a learner may need them, and what is wrong with them is found when it does.
 * A torn last batch is gone without a trace (LevelDB drops it), as if it had never been written.
 * Whatever else is not as it was written is a DamagedError that says where: a missing segment, a
 * wrong checksum, a gap between two proposals. It counts only from the segment of the checkpoint
 * on; what is in front of that segment is destroyed instead.
 */
import {
  extendRanges,
  formatZxid,
  type GrowingRanges,
  type HistorySummary,
  makeZxid,
  type Proposal,
  type Zxid,
} from '@rookery/protocol';
import { DamagedError } from './errors.js';
import type { KeyValueStore } from './key-value.js';
import { addGroup, predecessorsIn, type SegmentSummary } from './predecessors.js';
import {
  firstGroup,
  hasSuccessor,
  markedEnd,
  parseSegmentName,
  readHeader,
  Segment,
  segmentName,
} from './segment.js';
import { SharedDatabase } from './shared-database.js';
import { firstRoomBytes, TxnLog, type TxnLogOptions } from './txn-log.js';

export interface RecoveredLog {
  readonly log: TxnLog;
  readonly history: HistorySummary;
  /** The proposals after `checkpoint`. */
  readonly suffix: readonly Proposal[];
  /** Why segments in front of what a start needs were destroyed; absent when none was. */
  readonly unreadable?: string;
}

/**
 * Throws DamagedError when what a start needs of the log of this generation is not sound, or does
 * not fit `checkpoint`. Damage, or a gap, in front of what a start needs costs nobody a vote: those
 * segments are there for learners alone, so they are destroyed, and a learner that would have
 * needed them gets a snapshot.
 */
export async function recoverLog(
  store: KeyValueStore,
  at: { readonly generation: number; readonly checkpoint: Zxid },
  options: TxnLogOptions,
): Promise<RecoveredLog> {
  const seqs = await listSegments(store, at.generation);
  try {
    return await recoverFrom(store, { ...at, seqs }, options);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    const needed = await firstNeeded(store, at, seqs);
    if (needed <= 0) throw error;
    const recovered = await recoverNeeded(store, { ...at, seqs: seqs.slice(needed) }, options);
    if (recovered === null) throw error;
    // The oldest first: after a crash in between, what is left is still one chain, or is damaged
    // in the same place and is destroyed by the next start.
    for (const seq of seqs.slice(0, needed)) await store.destroy(segmentName(at.generation, seq));
    return { ...recovered, unreadable: error.message };
  }
}

/** Null when what is left is not sound either: then nothing may be destroyed. */
async function recoverNeeded(
  store: KeyValueStore,
  from: RecoveryRange,
  options: TxnLogOptions,
): Promise<RecoveredLog | null> {
  try {
    return await recoverFrom(store, from, options);
  } catch (error) {
    if (error instanceof DamagedError) return null;
    throw error;
  }
}

async function recoverFrom(
  store: KeyValueStore,
  from: RecoveryRange,
  options: TxnLogOptions,
): Promise<RecoveredLog> {
  const databases = from.seqs.map((seq) => {
    return new SharedDatabase(store, segmentName(from.generation, seq));
  });
  try {
    return await recoverSegments(store, { ...from, databases }, options);
  } catch (error) {
    for (const database of databases) await database.letGo().catch(() => undefined);
    throw error;
  }
}

/**
 * Index of the newest segment that begins at or before the checkpoint: a start needs it and those
 * after it, and none before it. -1 when no segment says so.
 */
async function firstNeeded(
  store: KeyValueStore,
  { generation, checkpoint }: { readonly generation: number; readonly checkpoint: Zxid },
  seqs: readonly number[],
): Promise<number> {
  try {
    for (let index = seqs.length - 1; index >= 0; index--) {
      const name = segmentName(generation, seqs[index] ?? 0);
      const database = new SharedDatabase(store, name);
      const group = await database.use((open) => firstGroup(name, open));
      const first = group?.[0];
      if (first !== undefined && first.zxid <= checkpoint) return index;
    }
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
  }
  return -1;
}

/** The segments that a recovery reads, oldest first, and where the tree's checkpoint is. */
interface RecoveryRange {
  readonly generation: number;
  readonly checkpoint: Zxid;
  readonly seqs: readonly number[];
}

interface Found extends RecoveryRange {
  /** One for each of `seqs`; whoever opens one holds it. */
  readonly databases: readonly SharedDatabase[];
}

async function recoverSegments(
  store: KeyValueStore,
  found: Found,
  options: TxnLogOptions,
): Promise<RecoveredLog> {
  const { generation, checkpoint } = found;
  const chain = new Chain(checkpoint);
  const known = await knownSegments(found);
  const segments: Segment[] = [];
  let expected = false;
  for (const [index, database] of found.databases.entries()) {
    const seq = found.seqs[index] ?? 0;
    const previous = segments.at(-1);
    if (previous !== undefined && seq !== previous.header.seq + 1) {
      throw new DamagedError(
        `the log has a gap: ${database.name} does not follow ${previous.database.name}`,
      );
    }
    const summary = known.get(seq);
    if (summary !== undefined) {
      chain.addKnown(database.name, summary);
      segments.push(Segment.known(database, generation, summary));
      // Or the later one that says so would not have been written to.
      expected = true;
      continue;
    }
    const read = await recoverSegment({ database, generation, seq }, chain);
    if (read === null && previous !== undefined && !expected) {
      // Its creation was interrupted before anything could be written to it.
      await database.retire();
      break;
    }
    if (read === null) throw new DamagedError(`${database.name} has no header`);
    // It may be used from now on, so nobody may lose it unnoticed: a crash came before the mark.
    if (previous !== undefined && !expected) await previous.markSuccessor();
    segments.push(read.segment);
    expected = read.successor;
    // Until there is a later one that holds anything, it is the one that is written on.
    if (!read.segment.empty) await previous?.database.letGo();
  }
  const lastSegment = segments.at(-1);
  if (lastSegment === undefined) throw new DamagedError(`the log is missing (log-${generation}-*)`);
  if (expected) {
    throw new DamagedError(`what follows ${lastSegment.database.name} in the log is missing`);
  }
  const last = chain.finish();
  const active = Math.max(
    0,
    segments.findLastIndex((segment) => !segment.empty),
  );
  for (const [index, { database }] of segments.entries()) {
    if (index !== active) await database.letGo();
  }
  const open = await (segments[active] ?? lastSegment).database.hold();
  await open.reserve(firstRoomBytes(options));
  const log = new TxnLog(store, { generation, segments, active, last }, options);
  return { log, history: { base: log.base, ranges: chain.ranges }, suffix: chain.suffix };
}

/**
 * Those that need not be read, by number: the newest segment that holds anything says what is in
 * front of it, and the chain goes on from there.
 */
async function knownSegments(found: Found): Promise<ReadonlyMap<number, SegmentSummary>> {
  const known = new Map<number, SegmentSummary>();
  for (const database of [...found.databases].reverse()) {
    const open = await database.hold();
    const first = await firstGroup(database.name, open);
    if (first === null) continue;
    const summaries = await predecessorsIn(database.name, open);
    if (summaries.at(-1)?.last !== first[0]?.previous) break;
    for (const summary of summaries) {
      if (summary.last < found.checkpoint) known.set(summary.seq, summary);
    }
    break;
  }
  return known;
}

/** Their numbers, in order. Throws DamagedError for a name that is none. */
async function listSegments(store: KeyValueStore, generation: number): Promise<number[]> {
  const seqs: number[] = [];
  for (const name of await store.list()) {
    const parsed = parseSegmentName(name);
    if (parsed?.generation === generation) seqs.push(parsed.seq);
  }
  return seqs.sort((a, b) => a - b);
}

/** Holds its database. Null when it has no header and nothing else. */
async function recoverSegment(
  at: { readonly database: SharedDatabase; readonly generation: number; readonly seq: number },
  chain: Chain,
): Promise<{ readonly segment: Segment; readonly successor: boolean } | null> {
  const { name } = at.database;
  const open = await at.database.hold();
  const header = await readHeader(name, open);
  if (header === null) {
    for await (const entries of open.iterate({ limit: 1 })) {
      if (entries.length > 0) throw new DamagedError(`${name} has lost its header`);
    }
    return null;
  }
  if (header.generation !== at.generation || header.seq !== at.seq) {
    throw new DamagedError(`${name} has the header of log-${header.generation}-${header.seq}`);
  }
  if (at.seq === 0) {
    if (header.base === null) throw new DamagedError(`${name} does not say where the log starts`);
    chain.start(header.base);
  }
  const segment = new Segment(at.database, header);
  for await (const group of segment.groups(open, 0)) {
    chain.add(name, group.proposals);
    segment.count(group.proposals, group.bytes);
  }
  const end = await markedEnd(name, open);
  if (segment.last < end) {
    const found = `it ends with ${formatZxid(segment.last)}`;
    throw new DamagedError(`${name} has lost its end: ${found} and went to ${formatZxid(end)}`);
  }
  return { segment, successor: await hasSuccessor(name, open) };
}

/** What has been read so far, and whether it hangs together. */
class Chain {
  readonly ranges: GrowingRanges = [];
  readonly suffix: Proposal[] = [];
  private readonly checkpoint: Zxid;
  private last: Zxid | null = null;
  private holdsCheckpoint = false;

  constructor(checkpoint: Zxid) {
    this.checkpoint = checkpoint;
  }

  /** The log starts after `base`; known for its very first segment only. */
  start(base: Zxid): void {
    this.last = base;
    this.holdsCheckpoint = base === this.checkpoint;
  }

  add(name: string, group: readonly Proposal[]): void {
    for (const proposal of group) {
      this.follow(name, proposal.zxid, proposal.previous);
      this.last = proposal.zxid;
      if (proposal.zxid === this.checkpoint) this.holdsCheckpoint = true;
      if (proposal.zxid > this.checkpoint) this.suffix.push(proposal);
    }
    addGroup(this.ranges, group);
  }

  /** A segment that ends before the checkpoint. */
  addKnown(name: string, { first, base, last, ranges }: SegmentSummary): void {
    this.follow(name, first, base);
    this.last = last;
    for (const range of ranges) {
      extendRanges(
        this.ranges,
        makeZxid(range.epoch, range.first),
        makeZxid(range.epoch, range.last),
      );
    }
  }

  finish(): Zxid {
    if (this.last === null) throw new DamagedError('the log has lost all its records');
    if (!this.holdsCheckpoint) {
      throw new DamagedError(
        `the log does not hold ${formatZxid(this.checkpoint)}, which the tree was saved at` +
          `; it ends with ${formatZxid(this.last)}`,
      );
    }
    return this.last;
  }

  private follow(name: string, zxid: Zxid, previous: Zxid): void {
    if (this.last === null || previous === this.last) return;
    const found = `${formatZxid(zxid)} follows ${formatZxid(previous)}`;
    throw new DamagedError(
      `the log has a gap in ${name}: ${found}, but what was read ends with ${formatZxid(this.last)}`,
    );
  }
}
