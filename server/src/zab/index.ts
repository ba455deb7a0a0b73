/** The replication core: Zab as a pure state machine. */
export type {
  DiskRoom,
  LinkId,
  NoteFacts,
  ReplicaView,
  RoleName,
  RoleView,
  StorageOutput,
  Ticket,
  ZabInput,
  ZabOptions,
  ZabOutput,
  ZabStart,
} from './types.js';
export { Zab } from './zab.js';
