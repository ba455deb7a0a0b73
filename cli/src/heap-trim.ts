/**
 * Gives back memory once a member is quiet: what V8 keeps for new objects, and dead buffers.
 *
 * Buffers outside the heap, of answers left unread or of frames that were never whole,
 * are freed by a collection of all of it, and V8 begins none while nothing is allocated. So a quiet
 * member that has 64 MB more of them than it had at the least collects, at most every ten seconds.
 *
 * After a load the young generation has 32 MB, whether anything happens or not: V8 means to give
 * it back to a process in the background, which it takes no process of Node's for. So a member
 * whose heap is small, and mostly empty, and that did next to nothing for a second collects all of
 * it as on the system's word that memory is short: 20 to 70 ms. Not again for ten minutes, nor
 * while there is no more to give back than was left the last time. Beside a small tree it is not
 * worth the pause, and a large heap's would be too long. Nothing depends on it: where Node has no
 * inspector, or does not allow it, nothing happens. Called once by `rookery server`.
 */
import { getHeapStatistics } from 'node:v8';

const LOOK_EVERY_MS = 1000;
const AGAIN_AFTER_MS = 600_000;
/** Of the processor, in the time between two looks. */
const QUIET_CPU_MS = 50;
/** What is left of the young generation is far below. */
const SPARE_BYTES_MIN = 12 << 20;
/** Outside the heap. More than a small tree and all that waits for a collection have. */
const LARGE_TREE_BYTES = 128 << 20;
/** More buffers than there were at the least: most of them are dead, or the tree has grown. */
const GARBAGE_BYTES_MIN = 64 << 20;
const COLLECT_AGAIN_AFTER_MS = 10_000;
/** What is alive is marked, and that takes the time. */
const USED_BYTES_MAX = 48 << 20;

export interface HeapFacts {
  /** Since the look before. */
  readonly cpuMs: number;
  readonly usedBytes: number;
  /** What the system has given. */
  readonly totalBytes: number;
  /** Of that, what it had after it was trimmed last, 0 before: there is no less. */
  readonly leastBytes: number;
  /** Outside the heap. */
  readonly externalBytes: number;
  /** The least of that since it was collected last. */
  readonly leastExternalBytes: number;
}

export function trimHeapWhenQuiet(): void {
  let before = process.cpuUsage();
  let leastBytes = 0;
  let leastExternalBytes = Number.POSITIVE_INFINITY;
  let trimmedAtMs = Number.NEGATIVE_INFINITY;
  let collectedAtMs = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const nowMs = performance.now();
    const heap = getHeapStatistics();
    leastExternalBytes = Math.min(leastExternalBytes, heap.external_memory);
    const facts = {
      cpuMs: (user + system) / 1000,
      usedBytes: heap.used_heap_size,
      totalBytes: heap.total_heap_size,
      leastBytes,
      externalBytes: heap.external_memory,
      leastExternalBytes,
    };
    const isTrimmed = nowMs - trimmedAtMs >= AGAIN_AFTER_MS && isWorthTrimming(facts);
    const isDue = nowMs - collectedAtMs >= COLLECT_AGAIN_AFTER_MS;
    if (!isTrimmed && !(isDue && isWorthCollecting(facts))) return;
    if (isTrimmed) trimmedAtMs = nowMs;
    collectedAtMs = nowMs;
    void trimHeap().then(() => {
      const { total_heap_size, external_memory } = getHeapStatistics();
      if (isTrimmed) leastBytes = total_heap_size;
      leastExternalBytes = external_memory;
    });
  }, LOOK_EVERY_MS).unref();
}

export function isWorthTrimming(facts: HeapFacts): boolean {
  const { cpuMs, usedBytes, totalBytes, leastBytes, externalBytes } = facts;
  const spareBytes = totalBytes - Math.max(usedBytes, leastBytes);
  return (
    cpuMs <= QUIET_CPU_MS &&
    externalBytes > LARGE_TREE_BYTES &&
    usedBytes <= USED_BYTES_MAX &&
    spareBytes >= SPARE_BYTES_MIN
  );
}

export function isWorthCollecting(facts: HeapFacts): boolean {
  const { cpuMs, usedBytes, externalBytes, leastExternalBytes } = facts;
  return (
    cpuMs <= QUIET_CPU_MS &&
    usedBytes <= USED_BYTES_MAX &&
    externalBytes - leastExternalBytes >= GARBAGE_BYTES_MIN
  );
}

/** Collects all of it, in a task of its own; resolves when that is done, or cannot be. */
async function trimHeap(): Promise<void> {
  try {
    const { Session } = await import('node:inspector/promises');
    const session = new Session();
    session.connect();
    await session.post('HeapProfiler.collectGarbage');
    // A session may not end within its own answer.
    setImmediate(() => session.disconnect());
  } catch {
    // Members run well without.
  }
}
