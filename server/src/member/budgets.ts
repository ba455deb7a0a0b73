/**
 * The budgets of a member for memory and open files: the limits of this process, split among its
 * parts. Computed once at the start.
 *
 * On a machine with much memory every part has its ceiling, the bound that was measured to be
 * enough. On a small one each has its share of the limit: the shares, together with what a process
 * takes before it holds anything (BASE_BYTES), stay below the whole, so that no client and no load
 * can fill the container that a member runs in. What lies in the JavaScript heap has a share of
 * V8's limit too.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { OperatorError } from '../config/operator-error.js';
import type { Tuning } from '../config/tuning.js';

export interface MemoryBudget {
  /** What the replicated tree may take by its own estimate (`tree.bytes`). */
  readonly treeBytesMax: number;
  /** Watches, by what each costs: of one connection, and of all. */
  readonly watcherBytesMax: number;
  readonly watchBytesMax: number;
  /** Encoded lists of the children of large directories that are kept. */
  readonly listingBytesMax: number;
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
    learnerWindowBytesMax: bytesOf(PARTS.learnerWindowBytesMax),
    unwrittenBytesMax: bytesOf(PARTS.unwrittenBytesMax),
    behindBytesMax: bytesOf(PARTS.behindBytesMax),
    snapshotWaitingBytesMax: bytesOf(PARTS.snapshotWaitingBytesMax),
    checkpointBytesMax: bytesOf(PARTS.checkpointBytesMax),
    inputBytesMax: bytesOf(PARTS.inputBytesMax),
    outputBytesMax: bytesOf(PARTS.outputBytesMax),
  };
}

/**
 * Memory budget: the tuning file's value, else the system limit, split among the parts; what the
 * operator has set for a part replaces its share. Also logs it.
 */
export function budgetOf(
  config: Config,
  tuning: Tuning | undefined,
  system: MemoryLimit,
  logger: Logger,
): MemoryBudget {
  const told = tuning?.memoryBytes;
  const memory: MemoryLimit =
    told === undefined ? system : { ...system, bytes: told, source: 'setting' };
  const shares = memoryBudgetOf(memory);
  const budget = {
    ...shares,
    inputBytesMax: config.inputBytesMax ?? shares.inputBytesMax,
    outputBytesMax: config.outputBytesMax ?? shares.outputBytesMax,
  };
  logger.info({ ...memory, ...budget }, 'memory.budget');
  const { bytes, heapBytes } = memory;
  if (heapBytes > bytes) {
    logger.warn(
      { bytes, heapBytes },
      'memory.heap_beyond_limit: V8 may use more than the process; set --max-old-space-size',
    );
  }
  return budget;
}

export interface MemoryLimit {
  /** What the process may use in all; beyond it the kernel ends it. */
  readonly bytes: number;
  /** Who says so, for the log. */
  readonly source: 'cgroup v2' | 'cgroup v1' | 'machine' | 'setting';
  /** What V8 lets the JavaScript heap have; beyond it the process ends itself. */
  readonly heapBytes: number;
}

export interface MemoryFacts {
  /** The text of a file; null when there is none or it cannot be read. */
  readText(path: string): string | null;
  readonly machineBytes: number;
  readonly heapBytes: number;
}

/** Where each kind of control group is mounted: by itself, and beside the other kind. */
const V2_MOUNTS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'] as const;
const V1_MOUNTS = ['/sys/fs/cgroup/memory'] as const;
const V2_FILES = ['memory.max', 'memory.high'] as const;
const V1_FILES = ['memory.limit_in_bytes'] as const;
/** Groups from one's own to the root. */
const DEPTH_MAX = 64;

/**
 * How much memory this process may use: the smallest limit of its control groups, else the machine.
 *
 * Reads `memory.max` and `memory.high` of cgroup v2 and `memory.limit_in_bytes` of cgroup v1, of
 * the process's own group and of every group above it: the kernel enforces each of them. Within a
 * container the path in /proc/self/cgroup may be the host's, where the files of the own group lie
 * at the root of the mount; the walk to the root finds those too. All that is read comes in as a
 * function, so tests need no control groups. Called once at the start, by `server.ts`.
 */
export function memoryLimit(): MemoryLimit {
  return memoryLimitOf({
    readText,
    machineBytes: totalmem(),
    heapBytes: getHeapStatistics().heap_size_limit,
  });
}

export function memoryLimitOf(facts: MemoryFacts): MemoryLimit {
  const { machineBytes, heapBytes } = facts;
  const { v2, v1 } = groupPaths(facts.readText('/proc/self/cgroup') ?? '');
  const v2Bytes = smallestLimit(facts, { path: v2, mounts: V2_MOUNTS, files: V2_FILES });
  const v1Bytes = smallestLimit(facts, { path: v1, mounts: V1_MOUNTS, files: V1_FILES });
  const bytes = Math.min(v2Bytes, v1Bytes, machineBytes);
  if (bytes === machineBytes) return { bytes, source: 'machine', heapBytes };
  return { bytes, source: bytes === v2Bytes ? 'cgroup v2' : 'cgroup v1', heapBytes };
}

/** Lines are `number:controllers:path`; that of v2 has the number 0 and no controllers. */
function groupPaths(text: string): { v2: string | null; v1: string | null } {
  let v2: string | null = null;
  let v1: string | null = null;
  for (const line of text.split('\n')) {
    const [, number, controllers, path] = /^(\d+):([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (number === '0' && controllers === '') v2 = path;
    else if (controllers.split(',').includes('memory')) v1 = path;
  }
  return { v2, v1 };
}

interface Hierarchy {
  readonly path: string | null;
  readonly mounts: readonly string[];
  readonly files: readonly string[];
}

/** Infinite when no group on the way to the root limits anything. */
function smallestLimit({ readText }: MemoryFacts, { path, mounts, files }: Hierarchy): number {
  if (path === null) return Number.POSITIVE_INFINITY;
  const parts = path.split('/').filter((part) => part !== '' && part !== '..');
  const count = Math.min(parts.length, DEPTH_MAX);
  let smallest = Number.POSITIVE_INFINITY;
  for (const mount of mounts) {
    for (let depth = count; depth >= 0; depth--) {
      const group = [mount, ...parts.slice(0, depth)].join('/');
      for (const file of files) {
        smallest = Math.min(smallest, limitOf(readText(`${group}/${file}`)));
      }
    }
  }
  return smallest;
}

/** v2 writes `max` for no limit, v1 a number larger than any machine. */
function limitOf(text: string | null): number {
  const digits = /^\d+/.exec(text ?? '')?.[0];
  const bytes = Number(digits ?? Number.NaN);
  return bytes > 0 ? bytes : Number.POSITIVE_INFINITY;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // Not Linux, not mounted, or not ours to read: this file limits nothing that we can know of.
    return null;
  }
}

/**
 * How the open files of a process are shared out: storage and members first, clients last.
 *
 * A member that runs out of file descriptors cannot open its next log segment and ends. So half of
 * a small limit, 2,048 files of a large one, belong to the databases and the process itself; every
 * other member has its links; strangers at the peer port have a few; clients have what is left.
 * Together they are the limit. Pure. Called by Member.
 */
export interface FileBudget {
  /** Accepted streams at the client port, with those without a session and those about to close. */
  readonly clientStreamsMax: number;
  /** Accepted streams at the peer port that have not said who they are. */
  readonly peerStrangersMax: number;
}

/** A member with a small tree needs at least this many. */
export const OPEN_FILES_MIN = 128;

const RESERVED_FILES = 2048;
const RESERVED_PART = 1 / 2;
/** The link, one that replaces it, one that is dialled, and one that only wakes the dialler. */
const FILES_PER_MEMBER = 4;
const STRANGERS_MAX = 128;
const STRANGERS_PART = 1 / 16;

/** Throws OperatorError where that is too little. */
export function fileBudgetOf(openFilesMax: number, members: number): FileBudget {
  if (!Number.isFinite(openFilesMax)) {
    return { clientStreamsMax: openFilesMax, peerStrangersMax: STRANGERS_MAX };
  }
  const reserved = Math.min(RESERVED_FILES, Math.ceil(openFilesMax * RESERVED_PART));
  const memberFiles = FILES_PER_MEMBER * (members - 1);
  const peerStrangersMax = Math.min(STRANGERS_MAX, Math.floor(openFilesMax * STRANGERS_PART));
  const clientStreamsMax = openFilesMax - reserved - memberFiles - peerStrangersMax;
  if (openFilesMax < OPEN_FILES_MIN || clientStreamsMax < 1) {
    throw new OperatorError(
      `the process may have ${openFilesMax} open files: too few for a member of ${members} ` +
        `and its clients (raise it, for instance by ulimit -n)`,
    );
  }
  return { clientStreamsMax, peerStrangersMax };
}
