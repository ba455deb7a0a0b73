/**
 * Lets a process that makes a backup collect its garbage rarely.
 *
 * Nearly all of its memory is outside V8's heap, and comes and goes: parts of the stream and of the
 * file. V8 counts it as growth of a heap in which 13 MB are alive. In a backup of a million znodes,
 * it made forty full collections, which took a quarter of the processor time.
 *
 * Nothing else depends on the flag. A release of V8 that does not know it prints a line on stderr,
 * and then decides alone.
 */
import { setFlagsFromString } from 'node:v8';

/** V8 itself lets a heap grow by up to 300 percent before it collects all of it again. */
const GROWTH_PERCENT = 400;

/** Holds for the rest of this process. */
export function collectRarely(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
