/**
 * What the heap of this process holds, to tell whether something adds up. Collects all garbage
 * first. Leaves out compiled code, which V8 makes and discards for many minutes in a process that
 * does always the same. Used by recipe-heap.test.ts and the soak's process.
 */
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const COLLECTIONS = 3;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

export async function heapBytes(): Promise<number> {
  if (typeof collect !== 'function') throw new Error('there is no garbage collector to call');
  for (let round = 0; round < COLLECTIONS; round++) {
    // What is weakly held goes only between turns.
    await new Promise(setImmediate);
    collect();
  }
  const code = getHeapCodeStatistics();
  const codeBytes = code.code_and_metadata_size + code.bytecode_and_metadata_size;
  return process.memoryUsage().heapUsed - codeBytes;
}
