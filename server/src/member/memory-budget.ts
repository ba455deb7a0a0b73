/**
 * What each part of a member may use of its memory: computed once at the start, from its limit.
 *
 * On a machine with much memory every part has its ceiling, the bound that was measured to be
 * enough. On a small one each has its share of the limit: the shares, together with what a process
 * takes before it holds anything (BASE_BYTES), stay below the whole, so that no client and no load
 * can fill the container that a member runs in. What lies in the JavaScript heap has a share of
 * V8's limit too. Pure. Called by Member.
 */
import type { MemoryLimit } from './memory-limit.js';

export interface MemoryBudget {
  /** What the replicated tree may take by its own estimate (`tree.bytes`). */
  readonly treeBytesMax: number;
  /** Watches, by what each costs: of one connection, and of all. */
  readonly watcherBytesMax: number;
  readonly watchBytesMax: number;
  /** Encoded lists of the children of large directories that are kept. */
  readonly listingBytesMax: number;
  /** Orders of large directories that are kept for pages. */
  readonly pageBytesMax: number;
  /** Proposals kept in memory while a learner is brought up. */
  readonly learnerWindowBytesMax: number;
  /** Proposals that wait for the disk: a leader proposes nothing while there are more. */
  readonly unwrittenBytesMax: number;
  /** A follower that is further behind gives its leader up and catches up later. */
  readonly behindBytesMax: number;
  /** Proposals that wait behind an incoming snapshot. */
  readonly snapshotWaitingBytesMax: number;
  /**
   * Changed records that begin a checkpoint: while it is written they are in memory three times, as
   * they were captured, in LevelDB's batch and in its table.
   */
  readonly checkpointBytesMax: number;
  /** What all connections together may have read and not answered: see the setting. */
  readonly inputBytesMax: number;
  /** What all clients together may leave unread of answers and events: see the setting. */
  readonly outputBytesMax: number;
}

/**
 * What a member needs without any load: program, V8's young generation, LevelDB's buffers, garbage.
 */
const BASE_BYTES = 112 << 20;
/** At least this part of the memory is usable: with less than the base a member must start, too. */
const USABLE_PART_MIN = 0.25;
/** A limit that no part comes near. For ensembles in one process, whose members share it. */
export const AMPLE_MEMORY: MemoryLimit = {
  bytes: 64 * 2 ** 30,
  source: 'setting',
  heapBytes: 4 * 2 ** 30,
};

interface Part {
  /** The part of what the limit leaves above the base. */
  readonly share: number;
  readonly ceilingBytes: number;
  /** The part of V8's heap limit, for what lies in the heap. */
  readonly heapShare?: number;
}

const PARTS = {
  /** The old tree and the new one lie beside each other while a snapshot is checked. */
  treeBytesMax: { share: 0.4, ceilingBytes: Number.MAX_SAFE_INTEGER },
  /**
   * Each watch counts 128 bytes and twice the characters of its path. A connection may have a
   * million of them on paths of 64 characters, more than any cache of a tree sets.
   */
  watcherBytesMax: { share: 0.06, ceilingBytes: 256 << 20, heapShare: 0.125 },
  watchBytesMax: { share: 0.12, ceilingBytes: 512 << 20, heapShare: 0.25 },
  listingBytesMax: { share: 0.03, ceilingBytes: 32 << 20 },
  pageBytesMax: { share: 0.06, ceilingBytes: 128 << 20, heapShare: 0.06 },
  learnerWindowBytesMax: { share: 0.06, ceilingBytes: 128 << 20 },
  unwrittenBytesMax: { share: 0.06, ceilingBytes: 64 << 20 },
  behindBytesMax: { share: 0.12, ceilingBytes: 256 << 20 },
  snapshotWaitingBytesMax: { share: 0.06, ceilingBytes: 64 << 20 },
  checkpointBytesMax: { share: 0.016, ceilingBytes: 64 << 20 },
  inputBytesMax: { share: 0.08, ceilingBytes: 256 << 20 },
  outputBytesMax: { share: 0.12, ceilingBytes: 512 << 20 },
} as const satisfies Record<keyof MemoryBudget, Part>;

export function memoryBudgetOf(limit: MemoryLimit): MemoryBudget {
  const usableBytes = Math.max(limit.bytes - BASE_BYTES, limit.bytes * USABLE_PART_MIN);
  const bytesOf = (part: Part): number => {
    const heapBytes = limit.heapBytes * (part.heapShare ?? Number.POSITIVE_INFINITY);
    return Math.floor(Math.min(part.share * usableBytes, part.ceilingBytes, heapBytes));
  };
  return {
    treeBytesMax: bytesOf(PARTS.treeBytesMax),
    watcherBytesMax: bytesOf(PARTS.watcherBytesMax),
    watchBytesMax: bytesOf(PARTS.watchBytesMax),
    listingBytesMax: bytesOf(PARTS.listingBytesMax),
    pageBytesMax: bytesOf(PARTS.pageBytesMax),
    learnerWindowBytesMax: bytesOf(PARTS.learnerWindowBytesMax),
    unwrittenBytesMax: bytesOf(PARTS.unwrittenBytesMax),
    behindBytesMax: bytesOf(PARTS.behindBytesMax),
    snapshotWaitingBytesMax: bytesOf(PARTS.snapshotWaitingBytesMax),
    checkpointBytesMax: bytesOf(PARTS.checkpointBytesMax),
    inputBytesMax: bytesOf(PARTS.inputBytesMax),
    outputBytesMax: bytesOf(PARTS.outputBytesMax),
  };
}
