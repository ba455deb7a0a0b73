/** The storage of a member; see storage.ts. */
export {
  Checkpointer,
  type CheckpointerHooks,
  type CheckpointOptions,
  type CheckpointSource,
  DEFAULT_CHECKPOINT_OPTIONS,
  type FrozenState,
} from './checkpointer.js';
export {
  DEFAULT_STORAGE_OPTIONS,
  type Epochs,
  type KnownRecord,
  type Recovered,
  type SnapshotSink,
  type SnapshotSource,
  type StateLoader,
  type StorageOptions,
  type StorageSetup,
  type Stores,
  type TreeRecord,
} from './contract.js';
export {
  DamagedError,
  DirectoryError,
  FormatError,
  HistoryGoneError,
  IdentityError,
  RepairOutdatedError,
  SnapshotDamagedError,
  StorageFault,
  StoreLockedError,
} from './errors.js';
export type { GenerationRepair } from './generation-repair.js';
export type { KeyValueStore, LogDirectory, LogFile } from './key-value.js';
export { Storage, StorageQueue, type StorageQueueHooks } from './storage.js';
export { openStores } from './stores.js';
