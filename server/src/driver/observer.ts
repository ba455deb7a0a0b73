/**
 * The interface through which the simulator's checkers see every step of the core and every change
 * of the tree. Production has no observer. An observer never changes anything.
 */
import type { Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Txn } from '../state/txn.js';
import type { Recovered } from '../storage/index.js';
import type { ZabInput, ZabOutput } from '../zab/index.js';

export interface MemberObserver {
  /** Called before the first step, with what was recovered from disk. */
  onRecovered(recovered: Recovered): void;
  /** The core has made a step. None of its outputs has been carried out yet. */
  onStep(input: ZabInput, outputs: readonly ZabOutput[]): void;
  /** The transaction has been applied to `state`, which must not be changed. */
  onApplied(zxid: Zxid, txn: Txn, state: ReplicatedState): void;
}
