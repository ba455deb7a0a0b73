/**
 * How much memory this process may use: the smallest limit of its control groups, else the machine.
 *
 * Reads `memory.max` and `memory.high` of cgroup v2 and `memory.limit_in_bytes` of cgroup v1, of
 * the process's own group and of every group above it: the kernel enforces each of them. Within a
 * container the path in /proc/self/cgroup may be the host's, where the files of the own group lie
 * at the root of the mount; the walk to the root finds those too. All that is read comes in as a
 * function, so tests need no control groups. Called once at the start, by `server.ts`.
 */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

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
