/**
 * One piece of the log: a database with a header, packed groups of proposals, and a successor mark.
 *
 * Keys: the first zxid of each group, 8 bytes; `header`, `successor` and `end` sort behind all of
 * them. Invariant: the successor mark is durable before the next segment gets its first record, so
 * a segment that went missing is noticed. What is cut off stays in the same segment: one batch. The
 * end mark proves that what is before it was durable: a last batch cannot prove it of itself.
 */
import {
  assert,
  claimRoom,
  cutRanges,
  formatZxid,
  type GrowingRanges,
  MarshallingError,
  type Proposal,
  packProposals,
  unpackProposals,
  type Zxid,
} from '@rookery/protocol';
import { z } from 'zod';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueOperation, KeyValueStore } from './key-value.js';
import { addGroup, putPredecessors, type SegmentSummary } from './predecessors.js';
import {
  SEAL_BYTES,
  seal,
  sealInPlace,
  sealJson,
  unseal,
  unsealJson,
  zxidKey,
  zxidOfKey,
} from './records.js';
import { SharedDatabase } from './shared-database.js';

export interface SegmentHeader {
  readonly generation: number;
  readonly seq: number;
  /** Of the first segment of a generation: the zxid that the log starts after. */
  readonly base: Zxid | null;
}

const HEADER_KEY = Uint8Array.of(0xff, 0x68);
const SUCCESSOR_KEY = Uint8Array.of(0xff, 0x6e);
const END_KEY = Uint8Array.of(0xff, 0x65);
/** Zxids are below 2^53, so every group's key is below this one. */
const GROUPS_END = Uint8Array.of(0xff);
const HEADER_SCHEMA = z.object({
  generation: z.number().int(),
  seq: z.number().int(),
  base: z.number().int().nullable(),
});
const SUCCESSOR_SCHEMA = z.object({ seq: z.number().int() });
const END_SCHEMA = z.object({ last: z.number().int() });
const NAME = /^log-(\d+)-(\d+)$/;

export function segmentName(generation: number, seq: number): string {
  return `log-${generation}-${seq}`;
}

export function parseSegmentName(name: string): { generation: number; seq: number } | null {
  const match = NAME.exec(name);
  return match === null ? null : { generation: Number(match[1]), seq: Number(match[2]) };
}

export class Segment {
  readonly header: SegmentHeader;
  readonly database: SharedDatabase;
  /** First and last zxid; 0 while it is empty. */
  first: Zxid = 0;
  last: Zxid = 0;
  /** The predecessor of `first`. */
  base: Zxid = 0;
  /** Written since it was empty: what was cut off a part of counts, as it still takes space. */
  bytes = 0;
  /** And in how many groups. */
  groupCount = 0;
  private ranges: GrowingRanges = [];

  constructor(database: SharedDatabase, header: SegmentHeader) {
    this.database = database;
    this.header = header;
  }

  /** Durable, and held, when resolved. */
  static async create(store: KeyValueStore, header: SegmentHeader): Promise<Segment> {
    const database = new SharedDatabase(store, segmentName(header.generation, header.seq));
    const open = await database.hold();
    const put = { type: 'put', key: HEADER_KEY, value: sealJson(HEADER_KEY, header) } as const;
    await open.batch([put], { sync: true });
    return new Segment(database, header);
  }

  /** One that was not read: what a later one says of it. */
  static known(database: SharedDatabase, generation: number, summary: SegmentSummary): Segment {
    const { seq, base } = summary;
    const segment = new Segment(database, { generation, seq, base: seq === 0 ? base : null });
    segment.first = summary.first;
    segment.last = summary.last;
    segment.base = base;
    segment.bytes = summary.bytes;
    segment.groupCount = summary.groupCount;
    segment.ranges = summary.ranges.map((range) => ({ ...range }));
    return segment;
  }

  get empty(): boolean {
    return this.last === 0;
  }

  get summary(): SegmentSummary {
    const { base, first, last, bytes, groupCount, ranges } = this;
    return { seq: this.header.seq, base, first, last, bytes, groupCount, ranges };
  }

  /** For that many bytes more; durable when resolved. Not while anything is written to it. */
  async makeRoom(bytes: number): Promise<void> {
    const open = await this.database.hold();
    await open.reserve(bytes);
  }

  /**
   * One synced batch of one record for each group, and of `before`: with the first groups, the
   * segments in front of it, complete. The caller has checked the chain.
   */
  async append(
    groups: readonly (readonly Proposal[])[],
    before: readonly SegmentSummary[],
  ): Promise<void> {
    const open = await this.database.hold();
    const records = groups.map((group) => putGroup(group));
    const operations = before.length > 0 ? [putPredecessors(before), ...records] : records;
    await open.batch(operations, { sync: true });
    groups.forEach((group, index) => {
      this.count(group, records[index]?.value.length ?? 0);
    });
  }

  /** Drops everything after `after`, in one synced batch. */
  async cut(after: Zxid): Promise<void> {
    const kept = this.first <= after;
    await this.database.use(async (open) => {
      const operations: KeyValueOperation[] = [{ type: 'del', key: END_KEY }];
      const from = kept ? await groupStart(open, after) : zxidKey(0);
      for await (const entries of open.iterate({ gte: from, lt: GROUPS_END })) {
        for (const [key, value] of entries) {
          if (zxidOfKey(key) > after) operations.push({ type: 'del', key });
          else operations.push(...shorten(this.database.name, key, value, after));
        }
      }
      await open.batch(operations, { sync: true });
    });
    this.last = kept ? after : 0;
    cutRanges(this.ranges, after);
    if (kept) return;
    this.first = 0;
    this.bytes = 0;
    this.groupCount = 0;
  }

  /** A group that it holds, in order. */
  count(group: readonly Proposal[], bytes: number): void {
    const first = group[0];
    const last = group.at(-1);
    assert(first !== undefined && last !== undefined, 'a group holds a proposal');
    if (this.empty) {
      this.first = first.zxid;
      this.base = first.previous;
    }
    this.last = last.zxid;
    addGroup(this.ranges, group);
    this.bytes += bytes;
    this.groupCount += 1;
  }

  /** The groups in order, the one that holds `after` or its successor first. Checks each record. */
  async *groups(open: KeyValueDatabase, after: Zxid): AsyncGenerator<ReadGroup> {
    const from = await groupStart(open, after);
    for await (const entries of open.iterate({ gte: from, lt: GROUPS_END })) {
      for (const [key, value] of entries) {
        yield { proposals: readGroup(this.database.name, key, value), bytes: value.length };
      }
    }
  }

  /** In a synced batch of its own: everything up to here was durable before. */
  async markEnd(): Promise<void> {
    const open = await this.database.hold();
    const value = sealJson(END_KEY, { last: this.last });
    await open.batch([{ type: 'put', key: END_KEY, value }], { sync: true });
  }

  async markSuccessor(): Promise<void> {
    const value = sealJson(SUCCESSOR_KEY, { seq: this.header.seq + 1 });
    const put = { type: 'put', key: SUCCESSOR_KEY, value } as const;
    await this.database.use((open) => open.batch([put], { sync: true }));
  }
}

export interface ReadGroup {
  readonly proposals: readonly Proposal[];
  readonly bytes: number;
}

/** Null when it holds none. Throws DamagedError. */
export async function firstGroup(
  name: string,
  open: KeyValueDatabase,
): Promise<readonly Proposal[] | null> {
  for await (const entries of open.iterate({ lt: GROUPS_END, limit: 1 })) {
    const entry = entries[0];
    if (entry !== undefined) return readGroup(name, ...entry);
  }
  return null;
}

/** Null when the header was never written. Throws DamagedError. */
export async function readHeader(
  name: string,
  open: KeyValueDatabase,
): Promise<SegmentHeader | null> {
  const sealed = await open.get(HEADER_KEY);
  if (sealed === undefined) return null;
  return unsealJson(`the header of ${name}`, HEADER_KEY, sealed, HEADER_SCHEMA);
}

export async function hasSuccessor(name: string, open: KeyValueDatabase): Promise<boolean> {
  const sealed = await open.get(SUCCESSOR_KEY);
  if (sealed === undefined) return false;
  unsealJson(`the successor mark of ${name}`, SUCCESSOR_KEY, sealed, SUCCESSOR_SCHEMA);
  return true;
}

/** The last zxid that was durable when the end was marked last; 0 if it was not. */
export async function markedEnd(name: string, open: KeyValueDatabase): Promise<Zxid> {
  const sealed = await open.get(END_KEY);
  if (sealed === undefined) return 0;
  return unsealJson(`the end mark of ${name}`, END_KEY, sealed, END_SCHEMA).last;
}

function putGroup(proposals: readonly Proposal[]) {
  const first = proposals[0];
  assert(first !== undefined, 'a group holds a proposal');
  const key = zxidKey(first.zxid);
  const packed = packProposals(proposals);
  const hasRoom = claimRoom(packed, SEAL_BYTES) !== null;
  const value = hasRoom ? sealInPlace(key, packed) : seal(key, packed);
  return { type: 'put', key, value } as const;
}

function readGroup(name: string, key: Uint8Array, value: Uint8Array): readonly Proposal[] {
  const at = `the record at ${formatZxid(zxidOfKey(key))} of ${name}`;
  const packed = unseal(key, value);
  if (packed === null) throw new DamagedError(`${at} has a wrong checksum`);
  const proposals = unpack(at, packed);
  if (proposals[0]?.zxid !== zxidOfKey(key)) throw new DamagedError(`${at} is under a wrong key`);
  return proposals;
}

function unpack(at: string, packed: Uint8Array): readonly Proposal[] {
  try {
    return unpackProposals(packed);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    throw new DamagedError(`${at} is not understood: ${error.message}`, { cause: error });
  }
}

/** What is left of the group that holds `after`: nothing to do when it ends there. */
function shorten(
  name: string,
  key: Uint8Array,
  value: Uint8Array,
  after: Zxid,
): readonly KeyValueOperation[] {
  const proposals = readGroup(name, key, value);
  const kept = proposals.filter((proposal) => proposal.zxid <= after);
  assert(kept.at(-1)?.zxid === after, `${formatZxid(after)} is a proposal of the log`);
  return kept.length === proposals.length ? [] : [putGroup(kept)];
}

/** The key of the last group that starts at or before `zxid`, or the lowest key. */
async function groupStart(open: KeyValueDatabase, zxid: Zxid): Promise<Uint8Array> {
  for await (const entries of open.iterate({ lte: zxidKey(zxid), reverse: true, limit: 1 })) {
    const entry = entries[0];
    if (entry !== undefined) return entry[0];
  }
  return zxidKey(0);
}
