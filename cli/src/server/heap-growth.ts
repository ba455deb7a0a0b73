/**
 * Lets the heap of a member grow by a reasonable step before V8 collects all of it again.
 *
 * V8 lets the old generation grow in proportion to the bytes that were alive at the last
 * collection. A member with a small tree has 12 MB alive; under writes that meant three collections
 * a second, each of which kept two cores busy for 10 ms and determined the p99 of its answers. Dead
 * batches and buffers outside the heap count as growth, and also wait for a collection. The step is
 * therefore large enough that, at half of the maximum load of small values, a collection comes
 * every minute or so; with a larger step, memory still rose after ten minutes. Values of 64 KB used
 * up such a step twelve times a second, and a third of the processor time went into collections:
 * while they are that frequent the step doubles, and it halves again when they are rare.
 *
 * Where more than three steps' worth is alive, V8's own judgement applies. The grant is a share of
 * what the next collection finds alive. It is thus bounded, and it is withdrawn as soon as the heap
 * holds more than a small heap can: a member that loads 100 MB would otherwise have taken a
 * gigabyte. `rookery server` calls this once.
 *
 * Nothing else depends on the flag. A release of V8 that does not know it prints a line on stderr,
 * and then decides alone.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

const STEP_BYTES_MIN = 16 << 20;
const STEP_BYTES_MAX = 64 << 20;
/** The largest step as a share of what this process may use in all. */
const STEP_SHARE = 1 / 16;
/** The step doubles when the last full collection was less than this time ago. */
const OFTEN_MS = 1000;
/** The step halves when the last full collection was more than this time ago. */
const RARELY_MS = 10_000;
/** With more alive, the step matters little: V8 itself grants at least 8 MB. */
const SMALL_ALIVE_BYTES = 45 << 20;
/** The limit for a heap that has only begun to fill; V8 itself grants up to 300. */
const PERCENT_MAX = 400;
/** More than a heap to which a step was granted can hold, including its growth. */
const SMALL_BYTES_MAX = SMALL_ALIVE_BYTES + 2 * STEP_BYTES_MIN;
/** V8's names of the spaces that grow by rules of their own. */
const YOUNG_SPACES = new Set(['new_space', 'new_large_object_space']);

/** `limitBytes` is what this process may use in all. */
export function growHeapInSteps(limitBytes: number): void {
  const step = new HeapStep(limitBytes);
  let granted = 0;
  const observer = new PerformanceObserver((list) => {
    const bytes = oldGenerationBytes();
    const isSmall = bytes <= SMALL_BYTES_MAX;
    const major = list.getEntries().findLast(isMajor);
    if (isSmall && major === undefined) return;
    if (major !== undefined) step.onCollection(major.startTime);
    const percent = isSmall ? growthPercent(bytes, step.bytes) : 0;
    // The flag applies to the limit that the next collection sets.
    if (percent !== granted) setFlagsFromString(`--heap-growing-percent=${percent}`);
    granted = percent;
  });
  observer.observe({ entryTypes: ['gc'] });
}

/**
 * The number of bytes that a small heap may grow between two full collections; it depends on how
 * often they come.
 */
export class HeapStep {
  bytes = STEP_BYTES_MIN;
  readonly #bytesMax: number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(limitBytes: number) {
    const share = Math.min(STEP_BYTES_MAX, limitBytes * STEP_SHARE);
    this.#bytesMax = Math.max(STEP_BYTES_MIN, share);
  }

  /** Records that a full collection began. */
  onCollection(nowMs: number): void {
    const sinceMs = nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (sinceMs < OFTEN_MS) this.bytes = Math.min(2 * this.bytes, this.#bytesMax);
    else if (sinceMs > RARELY_MS) this.bytes = Math.max(this.bytes / 2, STEP_BYTES_MIN);
  }
}

/**
 * Returns by how many percent an old generation of `oldBytes` may grow; 0 leaves the decision to
 * V8.
 */
export function growthPercent(oldBytes: number, stepBytes: number): number {
  if (oldBytes > SMALL_ALIVE_BYTES) return 0;
  return Math.min(Math.round((100 * stepBytes) / oldBytes), PERCENT_MAX);
}

function oldGenerationBytes(): number {
  return getHeapSpaceStatistics()
    .filter((space) => !YOUNG_SPACES.has(space.space_name))
    .reduce((bytes, space) => bytes + space.space_used_size, 0);
}

function isMajor(entry: object): boolean {
  const detail: unknown = 'detail' in entry ? entry.detail : null;
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return false;
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
