/**
 * The internal interface of a member, for this repository's own simulator and tests (`test/`). It
 * is not in the package that users install.
 */

export type { Config } from '../config/config.js';
export { settingsJsonSchema } from '../config/config-schema.js';
export type { Tuning } from '../config/tuning.js';
export type { MemberObserver } from '../driver/parts.js';
export { defaultReserve, type Space } from '../driver/write-bounds.js';
export { Member } from '../member/member.js';
export { sharedSettings } from '../member/member-options.js';
export type { Surroundings } from '../member/surroundings.js';
export { PeerNames } from '../net/peer-names.js';
export { PeerDialler } from '../net/peer-port.js';
export { TcpTransport } from '../net/tcp.js';
export { systemTimers, type Timer, type Timers } from '../net/timers.js';
export type {
  Address,
  ByteStream,
  Chunks,
  Listener,
  ListenOptions,
  OnStream,
  Transport,
} from '../net/transport.js';
export { exportedNodes } from '../offline/exported-nodes.js';
export { restoreStores } from '../offline/restore.js';
export { newestSurvivor, recoveryPlan } from '../offline/restore-plan.js';
export { readStores, type StoppedMember } from '../offline/stopped-member.js';
export { nameText, x509Name } from '../security/x509-name.js';
export { ephemeralPaths } from '../state/ephemerals.js';
export { LEVEL } from '../state/level.js';
export {
  type CheckpointRecord,
  IGNORE_CHANGES,
  ReplicatedState,
} from '../state/replicated-state.js';
export type { NodeOp, Txn, TxnOp } from '../state/txn.js';
export { txnOf, writeTxn } from '../state/txn-codec.js';
export {
  openStores,
  type Recovered,
  Storage,
  StorageFault,
  type Stores,
} from '../storage/index.js';
export {
  decodeHeader,
  parseSegmentName,
  RECORDS_START,
  recordParts,
  type SegmentHeader,
  seedOf,
} from '../storage/log-segment.js';
export { addChecksum } from '../storage/records.js';
export type {
  NoteFacts,
  RoleName,
  StorageOutput,
  Ticket,
  ZabInput,
  ZabOutput,
} from '../zab/index.js';
export { MemoryClient } from './memory-client.js';
export { MemoryEnsemble, simulatedConfig } from './memory-ensemble.js';
export { keptLog } from './net/fixtures.js';
export { MemoryNetwork } from './net/memory-transport.js';
export type { TestClient } from './pipeline/test-client.js';
export { isExpired, resume, TestEnsemble } from './pipeline/test-ensemble.js';
export {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notes,
  serving,
  TINY_LOG,
  write,
} from './scenario.js';
export {
  TestAuthority,
  type TestCertificate,
  writePkcs12,
} from './security/certificates.js';
export { seededRandom } from './seeded-random.js';
export { MemoryLogDirectory } from './storage/memory-log.js';
export { MemoryStore } from './storage/memory-store.js';
