/** The storage of a member; see storage.ts. */
export {
  type CheckpointerHooks,
  type CheckpointOptions,
  type CheckpointSource,
  Checkpointer,
  type FrozenState,
} from './checkpointer.js';
export {
  DamagedError,
  DirectoryError,
  FormatError,
  HistoryGoneError,
  IdentityError,
  SnapshotDamagedError,
  StorageFault,
  StoreLockedError,
} from './errors.js';
export type { KeyValueStore } from './key-value.js';
export { LevelStore, openLevelStores } from './level-store.js';
export { MemoryStore } from './memory-store.js';
export {
  type Epochs,
  type Recovered,
  type SnapshotSink,
  type SnapshotSource,
  type StateLoader,
  Storage,
  type StorageOptions,
  type StorageSetup,
  type TreeRecord,
} from './storage.js';
export { StorageQueue, type StorageQueueHooks } from './storage-queue.js';
