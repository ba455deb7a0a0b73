/**
 * One piece of the log as releases up to meta format 5 kept it: a LevelDB database.
 *
 * Named `log-<generation>-<seq>`. It held a header, packed proposals under the first zxid of each
 * group, a mark of where the log ended when it was quiet, and a mark, durable before the next
 * segment got its first record, that there is a next one. Every value had a checksum. Only reads.
 */
import { formatZxid, type ProposalBatch, type Zxid } from '@rookery/protocol';
import { z } from 'zod';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';
import { verifiedJson, verifiedPayload } from './records.js';
import { storedBatch } from './stored-batches.js';

const SEGMENT_NAME = /^log-(\d+)-(\d+)$/;
/** All keys of groups are below it, those of the marks are not. */
const GROUPS_END = Uint8Array.of(0xff);
const HEADER = {
  key: Uint8Array.of(0xff, 0x68),
  what: 'header',
  schema: z.object({
    generation: z.number().int(),
    seq: z.number().int(),
    /** In segment 0, the zxid that the log starts after; null in others. */
    base: z.number().int().nullable(),
  }),
};
const SUCCESSOR = {
  key: Uint8Array.of(0xff, 0x6e),
  what: 'successor mark',
  schema: z.object({ seq: z.number().int() }),
};
const END = {
  key: Uint8Array.of(0xff, 0x65),
  what: 'end mark',
  schema: z.object({ last: z.number().int() }),
};
const KEY_BYTES = 8;

export interface FormerSegment {
  readonly name: string;
  readonly generation: number;
  readonly seq: number;
}

/** Returns the segments by generation, and in the order of the log. */
export async function segmentsOf(store: KeyValueStore): Promise<readonly FormerSegment[]> {
  const segments: FormerSegment[] = [];
  for (const name of await store.list()) {
    const match = SEGMENT_NAME.exec(name);
    if (match === null) continue;
    segments.push({ name, generation: Number(match[1]), seq: Number(match[2]) });
  }
  return segments.sort((a, b) => a.generation - b.generation || a.seq - b.seq);
}

/**
 * Returns the segment's first zxid, if it holds one, and the one before it; null without a header.
 */
export async function startOf(store: KeyValueStore, segment: FormerSegment) {
  const open = await store.open(segment.name);
  try {
    const header = await headerOf(segment, open);
    if (header === null) return null;
    for await (const entries of open.iterate({ lt: GROUPS_END, limit: 1 })) {
      for (const [key, value] of entries) {
        const { first, previous } = batchOf(segment.name, key, value);
        return { first, base: previous };
      }
    }
    return { first: null, base: header.base };
  } finally {
    await open.close();
  }
}

export interface FormerBatch {
  /** The name of its segment. */
  readonly name: string;
  readonly batch: ProposalBatch;
}

/** Returns the batches in order, and checks the mark of the end. */
export async function* batchesIn(
  { name }: FormerSegment,
  open: KeyValueDatabase,
): AsyncGenerator<FormerBatch> {
  let last = 0;
  for await (const entries of open.iterate({ lt: GROUPS_END })) {
    for (const [key, value] of entries) {
      const batch = batchOf(name, key, value);
      last = batch.last;
      yield { name, batch };
    }
  }
  const end = (await markOf(name, open, END))?.last ?? 0;
  if (last >= end) return;
  const found = `it ends with ${formatZxid(last)}`;
  throw new DamagedError(`${name} has lost its end: ${found} and went to ${formatZxid(end)}`);
}

/** Null when it was never written. */
export async function headerOf({ name, generation, seq }: FormerSegment, open: KeyValueDatabase) {
  const header = await markOf(name, open, HEADER);
  if (header === null) {
    for await (const entries of open.iterate({ limit: 1 })) {
      if (entries.length > 0) throw new DamagedError(`${name} has lost its header`);
    }
  } else if (header.generation !== generation || header.seq !== seq) {
    throw new DamagedError(`${name} has the header of log-${header.generation}-${header.seq}`);
  }
  return header;
}

export async function hasSuccessor(
  { name }: FormerSegment,
  open: KeyValueDatabase,
): Promise<boolean> {
  return (await markOf(name, open, SUCCESSOR)) !== null;
}

/** Null when there is none. */
async function markOf<T>(
  name: string,
  open: KeyValueDatabase,
  { key, what, schema }: { readonly key: Uint8Array; what: string; schema: z.ZodType<T> },
): Promise<T | null> {
  const stored = await open.get(key);
  return stored === undefined ? null : verifiedJson(`the ${what} of ${name}`, key, stored, schema);
}

function batchOf(name: string, key: Uint8Array, value: Uint8Array): ProposalBatch {
  const at = `the record at ${Buffer.from(key).toString('hex')} of ${name}`;
  const payload = verifiedPayload(key, value);
  if (payload === null) throw new DamagedError(`${at} has a wrong checksum`);
  const batch = storedBatch(at, payload);
  if (Buffer.compare(zxidKey(batch.first), key) === 0) return batch;
  throw new DamagedError(`${at} is under a wrong key`);
}

function zxidKey(zxid: Zxid): Uint8Array {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeBigUInt64BE(BigInt(zxid));
  return key;
}
