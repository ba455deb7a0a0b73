/**
 * Who watches a member from inside: the simulator's checkers, which must see every step of the core
 * and every change of the tree. Nobody in production; it never changes anything.
 */
import type { Zxid } from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Txn } from '../state/txn.js';
import type { Recovered } from '../storage/index.js';
import type { ZabInput, ZabOutput } from '../zab/index.js';

export interface MemberObserver {
  /** What the disk held when the member started; before its first step. */
  onRecovered(recovered: Recovered): void;
  /** The core has made a step; none of its outputs has been carried out. */
  onStep(input: ZabInput, outputs: readonly ZabOutput[]): void;
  /** The transaction is in the tree and the sessions; `state` is theirs, to be read only. */
  onApplied(zxid: Zxid, txn: Txn, state: ReplicatedState): void;
}
