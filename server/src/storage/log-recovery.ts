/**
 * Reads a log back at start, checks every record and the whole chain, and never guesses.
 *
 * A torn last batch is gone without a trace (LevelDB drops it), as if it had never been written.
 * Whatever else is not as it was written is a DamagedError that says where: a missing segment, a
 * wrong checksum, a gap between two proposals.
 */
import {
  counterOf,
  epochOf,
  formatZxid,
  type HistorySummary,
  type Proposal,
  type Zxid,
} from '@rookery/protocol';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';
import {
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
}

/**
 * Throws DamagedError when the log of this generation is not sound or does not fit `checkpoint`.
 */
export async function recoverLog(
  store: KeyValueStore,
  at: { readonly generation: number; readonly checkpoint: Zxid },
  options: TxnLogOptions,
): Promise<RecoveredLog> {
  const { generation, checkpoint } = at;
  const chain = new Chain(checkpoint);
  const segments: Segment[] = [];
  let expected = false;
  for (const seq of await listSegments(store, generation)) {
    const name = segmentName(generation, seq);
    const previous = segments.at(-1);
    if (previous !== undefined && seq !== previous.header.seq + 1) {
      throw new DamagedError(
        `the log has a gap: ${name} does not follow ${previous.database.name}`,
      );
    }
    const database = new SharedDatabase(store, name);
    const read = await database.use((open) =>
      readSegment(open, { database, generation, seq }, chain),
    );
    if (read === null && previous !== undefined && !expected) {
      // Its creation was interrupted before anything could be written to it.
      await database.retire();
      expected = false;
      break;
    }
    if (read === null) throw new DamagedError(`${name} has no header`);
    // It may be used from now on, so nobody may lose it unnoticed: a crash came before the mark.
    if (previous !== undefined && !expected) await previous.markSuccessor();
    segments.push(read.segment);
    expected = read.successor;
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
  const activeSegment = segments[active] ?? lastSegment;
  const open = await activeSegment.database.hold();
  await open.reserve(firstRoomBytes(options));
  const log = new TxnLog(store, { generation, segments, active, last }, options);
  return { log, history: { base: log.base, ranges: chain.ranges }, suffix: chain.suffix };
}

/** Their numbers, in order. Throws DamagedError for a name that is none. */
async function listSegments(store: KeyValueStore, generation: number): Promise<readonly number[]> {
  const seqs: number[] = [];
  for (const name of await store.list()) {
    const parsed = parseSegmentName(name);
    if (parsed?.generation === generation) seqs.push(parsed.seq);
  }
  return seqs.sort((a, b) => a - b);
}

async function readSegment(
  open: KeyValueDatabase,
  at: { readonly database: SharedDatabase; readonly generation: number; readonly seq: number },
  chain: Chain,
): Promise<{ readonly segment: Segment; readonly successor: boolean } | null> {
  const { name } = at.database;
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
    for (const proposal of group.proposals) {
      chain.add(name, proposal);
      if (segment.empty) {
        segment.first = proposal.zxid;
        segment.base = proposal.previous;
      }
      segment.last = proposal.zxid;
    }
    segment.countGroup(group.bytes);
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
  readonly ranges: { epoch: number; first: number; last: number }[] = [];
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

  add(name: string, proposal: Proposal): void {
    const { zxid, previous } = proposal;
    if (this.last !== null && previous !== this.last) {
      const found = `${formatZxid(zxid)} follows ${formatZxid(previous)}`;
      throw new DamagedError(
        `the log has a gap in ${name}: ${found}, but what was read ends with ${formatZxid(this.last)}`,
      );
    }
    this.last = zxid;
    if (zxid === this.checkpoint) this.holdsCheckpoint = true;
    if (zxid > this.checkpoint) this.suffix.push(proposal);
    this.extendRanges(zxid);
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

  private extendRanges(zxid: Zxid): void {
    const epoch = epochOf(zxid);
    const counter = counterOf(zxid);
    const range = this.ranges.at(-1);
    if (range !== undefined && range.epoch === epoch && range.last + 1 === counter) {
      range.last = counter;
    } else {
      this.ranges.push({ epoch, first: counter, last: counter });
    }
  }
}
