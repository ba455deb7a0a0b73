/**
 * Reads the log as releases up to meta format 5 kept it, to be written anew as files.
 *
 * A segment was a LevelDB database `log-<generation>-<seq>`: a header, packed proposals under the
 * first zxid of each group, a mark of where the log ended when it was quiet, and a mark, durable
 * before the next segment got its first record, that there is a next one. Reads from the segment of
 * the checkpoint on; whatever is not as it was written there is a DamagedError. Writes nothing.
 */
import {
  formatZxid,
  MarshallingError,
  type Proposal,
  unpackProposals,
  type Zxid,
} from '@rookery/protocol';
import { z } from 'zod';
import { DamagedError } from './errors.js';
import type { KeyValueDatabase, KeyValueStore } from './key-value.js';
import { unseal, unsealJson } from './records.js';

export interface FormerLog {
  /** What is read starts after it. */
  readonly base: Zxid;
  /** In order, in chunks of bounded size. Throws DamagedError, at its end, too. */
  proposals(): AsyncGenerator<readonly Proposal[]>;
}

interface FormerLogAt {
  readonly generation: number;
  readonly checkpoint: Zxid;
}

const SEGMENT_NAME = /^log-(\d+)-(\d+)$/;
/** All keys of groups are below it, those of the marks are not. */
const GROUPS_END = Uint8Array.of(0xff);
const HEADER = {
  key: Uint8Array.of(0xff, 0x68),
  what: 'header',
  schema: z.object({
    generation: z.number().int(),
    seq: z.number().int(),
    /** Of a segment 0: the zxid that the log starts after. */
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
const CHUNK_BYTES = 1 << 20;

/** Those that a segment is of; empty when no log was kept so. */
export async function formerGenerations(store: KeyValueStore): Promise<readonly number[]> {
  const segments = await segmentsOf(store);
  return [...new Set(segments.map(({ generation }) => generation))];
}

/** Of all generations. */
export async function destroyFormerLog(store: KeyValueStore): Promise<void> {
  for (const { name } of await segmentsOf(store)) await store.destroy(name);
}

/** Anything but what is left of a founding that was interrupted. What cannot be read counts. */
export async function holdsFormerLog(store: KeyValueStore): Promise<boolean> {
  for (const segment of await segmentsOf(store)) {
    if (segment.generation !== 0 || segment.seq !== 0) return true;
    try {
      const start = await startOf(store, segment);
      if (start !== null && (start.first !== null || start.base !== 0)) return true;
    } catch (error) {
      if (error instanceof DamagedError) return true;
      throw error;
    }
  }
  return false;
}

export async function openFormerLog(store: KeyValueStore, at: FormerLogAt): Promise<FormerLog> {
  const all = await segmentsOf(store);
  const segments = all.filter(({ generation }) => generation === at.generation);
  for (const [index, segment] of [...segments.entries()].reverse()) {
    const start = await startOf(store, segment);
    const isNeeded = start?.first != null && start.first <= at.checkpoint;
    if (!isNeeded && index > 0) continue;
    if (start === null) throw new DamagedError(`${segment.name} has no header`);
    const { base } = start;
    if (base === null) throw new DamagedError(`${segment.name} does not say where the log starts`);
    const from = { base, segments: segments.slice(index), checkpoint: at.checkpoint };
    return { base, proposals: () => chunksOf(store, from) };
  }
  throw new DamagedError(`the log is missing (log-${at.generation}-*)`);
}

interface FormerSegment {
  readonly name: string;
  readonly generation: number;
  readonly seq: number;
}

/** In order. */
async function segmentsOf(store: KeyValueStore): Promise<readonly FormerSegment[]> {
  const segments: FormerSegment[] = [];
  for (const name of await store.list()) {
    const match = SEGMENT_NAME.exec(name);
    if (match === null) continue;
    segments.push({ name, generation: Number(match[1]), seq: Number(match[2]) });
  }
  return segments.sort((a, b) => a.generation - b.generation || a.seq - b.seq);
}

/** Its first zxid, if it holds one, and the one before it; null when it has no header. */
async function startOf(store: KeyValueStore, segment: FormerSegment) {
  const open = await store.open(segment.name);
  try {
    const header = await headerOf(segment, open);
    if (header === null) return null;
    for await (const entries of open.iterate({ lt: GROUPS_END, limit: 1 })) {
      for (const [key, value] of entries) {
        const [first] = groupOf(segment.name, key, value);
        if (first !== undefined) return { first: first.zxid, base: first.previous };
      }
    }
    return { first: null, base: header.base };
  } finally {
    await open.close();
  }
}

interface From {
  readonly base: Zxid;
  readonly segments: readonly FormerSegment[];
  readonly checkpoint: Zxid;
}

async function* chunksOf(
  store: KeyValueStore,
  { base, segments, checkpoint }: From,
): AsyncGenerator<readonly Proposal[]> {
  let last = base;
  let holdsCheckpoint = base === checkpoint;
  let chunk: Proposal[] = [];
  let chunkBytes = 0;
  for await (const { name, proposals, bytes } of groupsOf(store, segments)) {
    for (const { zxid, previous } of proposals) {
      if (previous !== last) throw gap(name, { zxid, previous, last });
      last = zxid;
      if (zxid === checkpoint) holdsCheckpoint = true;
    }
    chunk.push(...proposals);
    chunkBytes += bytes;
    if (chunkBytes < CHUNK_BYTES) continue;
    yield chunk;
    chunk = [];
    chunkBytes = 0;
  }
  if (!holdsCheckpoint) {
    throw new DamagedError(
      `the log does not hold ${formatZxid(checkpoint)}, which the tree was saved at` +
        `; it ends with ${formatZxid(last)}`,
    );
  }
  if (chunk.length > 0) yield chunk;
}

interface Group {
  /** Of its segment. */
  readonly name: string;
  readonly proposals: readonly Proposal[];
  readonly bytes: number;
}

/** In order; checks the marks of each segment, and that none is missing. */
async function* groupsOf(
  store: KeyValueStore,
  segments: readonly FormerSegment[],
): AsyncGenerator<Group> {
  let mustFollow = true;
  for (const [index, segment] of segments.entries()) {
    const { name } = segment;
    const previous = segments[index - 1];
    if (previous !== undefined && segment.seq !== previous.seq + 1) {
      throw new DamagedError(`the log has a gap: ${name} does not follow ${previous.name}`);
    }
    const open = await store.open(name);
    try {
      const isBegun = (await headerOf(segment, open)) !== null;
      // The creation of the last one may have been interrupted: nothing was written to it yet.
      if (!isBegun && (mustFollow || index + 1 < segments.length)) {
        throw new DamagedError(`${name} has no header`);
      }
      yield* groupsIn(segment, open);
      mustFollow = (await markOf(name, open, SUCCESSOR)) !== null;
    } finally {
      await open.close();
    }
  }
  if (mustFollow) {
    throw new DamagedError(`what follows ${segments.at(-1)?.name} in the log is missing`);
  }
}

async function* groupsIn({ name }: FormerSegment, open: KeyValueDatabase): AsyncGenerator<Group> {
  let last = 0;
  for await (const entries of open.iterate({ lt: GROUPS_END })) {
    for (const [key, value] of entries) {
      const proposals = groupOf(name, key, value);
      last = proposals.at(-1)?.zxid ?? last;
      yield { name, proposals, bytes: value.length };
    }
  }
  const end = (await markOf(name, open, END))?.last ?? 0;
  if (last >= end) return;
  const found = `it ends with ${formatZxid(last)}`;
  throw new DamagedError(`${name} has lost its end: ${found} and went to ${formatZxid(end)}`);
}

/** Null when it was never written. */
async function headerOf({ name, generation, seq }: FormerSegment, open: KeyValueDatabase) {
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

async function markOf<T>(
  name: string,
  open: KeyValueDatabase,
  { key, what, schema }: { readonly key: Uint8Array; what: string; schema: z.ZodType<T> },
): Promise<T | null> {
  const sealed = await open.get(key);
  return sealed === undefined ? null : unsealJson(`the ${what} of ${name}`, key, sealed, schema);
}

function groupOf(name: string, key: Uint8Array, value: Uint8Array): readonly Proposal[] {
  const at = `the record at ${Buffer.from(key).toString('hex')} of ${name}`;
  const packed = unseal(key, value);
  if (packed === null) throw new DamagedError(`${at} has a wrong checksum`);
  try {
    const proposals = unpackProposals(packed);
    const first = proposals[0]?.zxid;
    if (first !== undefined && Buffer.compare(zxidKey(first), key) === 0) return proposals;
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    throw new DamagedError(`${at} is not understood: ${error.message}`, { cause: error });
  }
  throw new DamagedError(`${at} is under a wrong key`);
}

function gap(name: string, at: { zxid: Zxid; previous: Zxid; last: Zxid }): DamagedError {
  const found = `${formatZxid(at.zxid)} follows ${formatZxid(at.previous)}`;
  return new DamagedError(
    `the log has a gap in ${name}: ${found}, but what was read ends with ${formatZxid(at.last)}`,
  );
}

function zxidKey(zxid: Zxid): Uint8Array {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeBigUInt64BE(BigInt(zxid));
  return key;
}
