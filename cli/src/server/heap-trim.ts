/**
 * Gives back memory once a member is quiet: what V8 keeps for new objects, and dead buffers.
 *
 * Buffers outside the heap, of answers that were left unread or of frames that were never complete,
 * are freed by a full collection, and V8 begins none while nothing is allocated. A quiet member
 * that has 64 MB more of them than its minimum therefore collects, at most every ten seconds.
 *
 * After a load, the young generation keeps 32 MB even if nothing happens: V8 gives it back only in
 * a process that it considers to be in the background, and it never considers a Node process so. A
 * member whose heap is small and mostly empty, and that did next to nothing for a second, therefore
 * collects everything as if the system had reported that memory is short. That takes 20 to 70 ms.
 * It happens at most once in ten minutes, and only if there is more to give back than was left the
 * last time.
 *
 * With a small tree it is not worth the pause, and with a large heap the pause would be too long.
 * Nothing depends on it: where Node has no inspector, or does not allow it, nothing happens.
 * `rookery server` calls this once.
 */
import { getHeapStatistics } from 'node:v8';

const LOOK_EVERY_MS = 1000;
const AGAIN_AFTER_MS = 600_000;
/** The processor time between two samples below which a member is quiet. */
const QUIET_CPU_MS = 50;
/** What remains of a trimmed young generation is far below this. */
const SPARE_BYTES_MIN = 12 << 20;
/**
 * Bytes outside the heap; more than a small tree has together with everything that waits for a
 * collection.
 */
const LARGE_TREE_BYTES = 128 << 20;
/**
 * With this many bytes of buffers above the minimum, most of them are dead, or the tree has grown.
 */
const GARBAGE_BYTES_MIN = 64 << 20;
const COLLECT_AGAIN_AFTER_MS = 10_000;
/** The bytes that are alive must be marked, which takes time. */
const USED_BYTES_MAX = 48 << 20;

interface HeapFacts {
  /** The processor time since the previous sample. */
  readonly cpuMs: number;
  readonly usedBytes: number;
  /** The memory that the system has given to the heap. */
  readonly totalBytes: number;
  /**
   * What the heap still had after it was last trimmed, 0 before that; it cannot be reduced further.
   */
  readonly leastBytes: number;
  /** The bytes outside the heap. */
  readonly externalBytes: number;
  /** The minimum of `externalBytes` since the last collection. */
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

/**
 * Collects everything, in a task of its own; resolves when that is done or turns out to be
 * impossible.
 */
async function trimHeap(): Promise<void> {
  try {
    const { Session } = await import('node:inspector/promises');
    const session = new Session();
    session.connect();
    await session.post('HeapProfiler.collectGarbage');
    // A session must not end within the handling of its own answer.
    setImmediate(() => session.disconnect());
  } catch {
    // A member runs well without it.
  }
}
