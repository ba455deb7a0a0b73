/**
 * The inner face of a member, for this repository's own simulator and tests (`test/`): not in the
 * package that users install.
 */
export type { MemberObserver } from '../driver/observer.js';
export { Member, type Surroundings } from '../member.js';
export type { ReplicatedState } from '../state/replicated-state.js';
export type { Txn, TxnOp } from '../state/txn.js';
export { decodeTxn } from '../state/txn-codec.js';
export type { Recovered } from '../storage/index.js';
export type { RoleName, StorageOutput, Ticket, ZabInput, ZabOutput } from '../zab/index.js';
export { seededRandom } from './seeded-random.js';
