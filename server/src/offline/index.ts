/** Works on the directories of members that are not running. */
export {
  type Backup,
  backupsIn,
  expiredBackups,
  type FoundBackups,
  type KeepRule,
  type LeftFile,
  removeBackups,
} from './backup-directory.js';
export {
  encodedBackup,
  type OpenedBackup,
  readBackup,
  type StreamedBackup,
} from './backup-stream.js';
export { exportedNodes, exportedState } from './exported-nodes.js';
export { collectRarely, lowerPriority, whileMemberWaits } from './lower-priority.js';
export { type MembersToRestore, requireRestorable, restoreMembers } from './restore.js';
export { newestSurvivor, type RestorePlan, RestorePlanner, recoveryPlan } from './restore-plan.js';
export {
  checkChecksum,
  makeDirectory,
  type StateHolder,
  writeSnapshot,
  zxidName,
} from './snapshot-output.js';
export {
  type CheckpointFacts,
  readCheckpointFacts,
  readStoppedMember,
  type StoppedMember,
} from './stopped-member.js';
export {
  type Change,
  loggedTransactions,
  type Transaction,
  zooKeeperTransactions,
} from './transactions.js';
