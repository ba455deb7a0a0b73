/**
 * Lets the heap of a member grow by a decent step before V8 collects the whole of it again.
 *
 * V8 lets the old generation grow in proportion to what was alive when it was collected last. A
 * member with a small tree has 20 MB alive, and under writes that was a collection three times a
 * second, each of which kept two cores busy for 10 ms: the p99 of its answers. Dead packs and
 * buffers outside the heap wait for a collection too, so a step is no larger than makes one in half
 * a minute of usual load, and smaller beside a large tree, whose memory is worth more. Where
 * more is alive than a few steps, V8's own judgement holds. What is granted is a share of what the
 * next collection finds alive, so it is bounded, and taken back as soon as more is there than a
 * small heap can have: a member that loads 100 MB would else have taken a gigabyte. Called once by
 * `rookery server`.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

const STEP_BYTES = 32 << 20;
/** Beside a large tree: a collection takes no longer there, its rows are not in the heap. */
const LARGE_TREE_STEP_BYTES = 16 << 20;
/** Outside the heap. More than a small tree and all that waits for a collection have. */
export const LARGE_TREE_BYTES = 128 << 20;
/** What V8 grants by itself, about. */
const USUAL_PERCENT = 70;
/** Of a heap that has only begun: V8 itself grants up to 300. */
const PERCENT_MAX = 400;
/** More than a heap that is granted a step ever has, its garbage included. */
const SMALL_BYTES_MAX = 2.5 * STEP_BYTES;

export function growHeapInSteps(): void {
  let granted = 0;
  const observer = new PerformanceObserver((list) => {
    const { used_heap_size: usedBytes, external_memory: externalBytes } = getHeapStatistics();
    const isSmall = usedBytes <= SMALL_BYTES_MAX;
    if (isSmall && !list.getEntries().some(isMajor)) return;
    const percent = isSmall ? growthPercent(usedBytes, externalBytes) : 0;
    // For the limit that the next collection sets.
    if (percent !== granted) setFlagsFromString(`--heap-growing-percent=${percent}`);
    granted = percent;
  });
  observer.observe({ entryTypes: ['gc'] });
}

/** How far a heap of so many bytes may grow, in percent of them; 0 leaves it to V8. */
export function growthPercent(usedBytes: number, externalBytes: number): number {
  const stepBytes = externalBytes > LARGE_TREE_BYTES ? LARGE_TREE_STEP_BYTES : STEP_BYTES;
  const percent = Math.min(Math.round((100 * stepBytes) / usedBytes), PERCENT_MAX);
  return percent > USUAL_PERCENT ? percent : 0;
}

function isMajor(entry: object): boolean {
  const detail: unknown = 'detail' in entry ? entry.detail : null;
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return false;
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
