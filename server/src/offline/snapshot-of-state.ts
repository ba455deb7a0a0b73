/**
 * The records of a state as a leader would send them to a learner: the checkpoint first, then all
 * that a capture hands out, and last a record with the number of all others.
 */

import type { ReplicatedState } from '../state/replicated-state.js';
import { changeWithChecksum, checkpointRecord } from '../storage/checkpoint.js';
import type { TreeRecord } from '../storage/index.js';
import { trailerRecord } from '../storage/snapshot-source.js';

const BLOCK_BYTES = 128 << 10;
const SLICE_COUNT = 2000;
const SLICE_BYTES = 1 << 20;

/** The state must have been captured never before, so that all of it is handed out. */
export function* snapshotOfState(state: ReplicatedState): Generator<readonly TreeRecord[]> {
  const frozen = state.freeze(BLOCK_BYTES);
  yield [checkpointRecord(frozen)];
  let count = 1;
  while (!state.captureDone) {
    const records: TreeRecord[] = [];
    for (const change of state.captureSome(SLICE_COUNT, SLICE_BYTES)) {
      const operation = changeWithChecksum(change);
      if (operation.type === 'put') records.push([operation.key, operation.value]);
    }
    count += records.length;
    yield records;
  }
  yield [trailerRecord(count)];
}
