/**
 * Gives back the memory that V8 keeps for new objects, once a member with a large tree is quiet.
 *
 * After a load the young generation has 32 MB, whether anything happens or not: V8 means to give
 * it back to a process in the background, which it takes no process of Node's for. So a member
 * whose heap is mostly empty and that did next to nothing for a second collects all of it as on
 * the system's word that memory is short: 20 to 70 ms, once, as nothing is left to give back until
 * there was a load again. Beside a small tree it is not worth the pause. Called once by
 * `rookery server`.
 */
import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import { LARGE_TREE_BYTES } from './heap-growth.js';

const LOOK_EVERY_MS = 1000;
/** Of the processor, in the time between two looks. */
const QUIET_CPU_MS = 50;
/** What is left of the young generation is far below. */
const SPARE_BYTES_MIN = 12 << 20;

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
}

export function trimHeapWhenQuiet(): void {
  let before = process.cpuUsage();
  let leastBytes = 0;
  let isTrimmed = false;
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const heap = getHeapStatistics();
    if (isTrimmed) leastBytes = heap.total_heap_size;
    const facts = {
      cpuMs: (user + system) / 1000,
      usedBytes: heap.used_heap_size,
      totalBytes: heap.total_heap_size,
      leastBytes,
      externalBytes: heap.external_memory,
    };
    isTrimmed = isWorthTrimming(facts);
    if (isTrimmed) trimHeap();
  }, LOOK_EVERY_MS).unref();
}

export function isWorthTrimming(facts: HeapFacts): boolean {
  const { cpuMs, usedBytes, totalBytes, leastBytes, externalBytes } = facts;
  const spareBytes = totalBytes - Math.max(usedBytes, leastBytes);
  const isLarge = externalBytes > LARGE_TREE_BYTES;
  return cpuMs <= QUIET_CPU_MS && isLarge && spareBytes >= SPARE_BYTES_MIN;
}

/** All of it is collected, in a task of its own. */
function trimHeap(): void {
  const session = new Session();
  session.connect();
  // Done or not: nothing depends on it. The session may not end within its own answer.
  session.post('HeapProfiler.collectGarbage', () => setImmediate(() => session.disconnect()));
}
