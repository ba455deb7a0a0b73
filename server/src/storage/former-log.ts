/**
 * Reads the log as releases up to meta format 5 kept it, to be written anew as files.
 *
 * It was a chain of segments, see former-segment.ts. Reads from the segment of the checkpoint on;
 * whatever is not as it was written there is a DamagedError. Writes nothing.
 */
import { formatZxid, type ProposalBatch, type Zxid } from '@rookery/protocol';
import { DamagedError } from './errors.js';
import {
  batchesIn,
  type FormerBatch,
  type FormerSegment,
  hasSuccessor,
  headerOf,
  segmentsOf,
  startOf,
} from './former-segment.js';
import type { KeyValueStore } from './key-value.js';

export interface FormerLog {
  /** The batches start after this zxid. */
  readonly base: Zxid;
  /** The batches in order, in chunks of bounded size. Throws DamagedError, also at the end. */
  batches(): AsyncGenerator<readonly ProposalBatch[]>;
}

interface FormerLogAt {
  readonly generation: number;
  readonly checkpoint: Zxid;
}

const CHUNK_BYTES = 1 << 20;

/** Returns the generations that have segments; none if no log was kept in LevelDB. */
export async function formerGenerations(store: KeyValueStore): Promise<readonly number[]> {
  const segments = await segmentsOf(store);
  return [...new Set(segments.map(({ generation }) => generation))];
}

/** Removes the segments of all generations. */
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
    return { base, batches: () => chunksOf(store, from) };
  }
  throw new DamagedError(`the log is missing (log-${at.generation}-*)`);
}

interface From {
  readonly base: Zxid;
  readonly segments: readonly FormerSegment[];
  readonly checkpoint: Zxid;
}

async function* chunksOf(
  store: KeyValueStore,
  { base, segments, checkpoint }: From,
): AsyncGenerator<readonly ProposalBatch[]> {
  let last = base;
  let holdsCheckpoint = base === checkpoint;
  let chunk: ProposalBatch[] = [];
  let chunkBytes = 0;
  for await (const { name, batch } of batchesOf(store, segments)) {
    const { first: zxid, previous } = batch;
    if (previous !== last) throw gap(name, { zxid, previous, last });
    last = batch.last;
    if (batch.part(checkpoint - 1, checkpoint) !== null) holdsCheckpoint = true;
    chunk.push(batch);
    chunkBytes += batch.bytes.length;
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

/** In order; checks the marks of each segment, and that none is missing. */
async function* batchesOf(
  store: KeyValueStore,
  segments: readonly FormerSegment[],
): AsyncGenerator<FormerBatch> {
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
      yield* batchesIn(segment, open);
      mustFollow = await hasSuccessor(segment, open);
    } finally {
      await open.close();
    }
  }
  if (mustFollow) {
    throw new DamagedError(`what follows ${segments.at(-1)?.name} in the log is missing`);
  }
}

function gap(name: string, at: { zxid: Zxid; previous: Zxid; last: Zxid }): DamagedError {
  const found = `${formatZxid(at.zxid)} follows ${formatZxid(at.previous)}`;
  return new DamagedError(
    `the log has a gap in ${name}: ${found}, but what was read ends with ${formatZxid(at.last)}`,
  );
}
