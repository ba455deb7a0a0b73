/**
 * The inner face of a member, for this repository's own simulator and tests (`test/`): not in the
 * package that users install.
 */

export type { Config } from '../config.js';
export type { MemberObserver } from '../driver/observer.js';
export { Member, type Surroundings } from '../member.js';
export { MemoryNetwork } from '../net/memory-transport.js';
export type { Timer, Timers } from '../net/timers.js';
export type { ByteStream, Transport } from '../net/transport.js';
export type { ReplicatedState } from '../state/replicated-state.js';
export type { Txn, TxnOp } from '../state/txn.js';
export { decodeTxn } from '../state/txn-codec.js';
export { MemoryStore, type Recovered, StorageFault } from '../storage/index.js';
export type { Tuning } from '../tuning.js';
export type { RoleName, StorageOutput, Ticket, ZabInput, ZabOutput } from '../zab/index.js';
export { MemoryClient } from './memory-client.js';
export { MemoryEnsemble, simulatedConfig } from './memory-ensemble.js';
export { connected, everyoneServes, expectEqual, names, write } from './scenario.js';
export { seededRandom } from './seeded-random.js';
