/** The core under test: its internal interface, which the server package does not export. */
export type {
  DiskRoom,
  LinkId,
  NoteFacts,
  RoleName,
  StorageOutput,
  Ticket,
  ZabInput,
  ZabOptions,
  ZabOutput,
  ZabStart,
} from '../../../server/src/zab/index.js';
export { Zab } from '../../../server/src/zab/index.js';
