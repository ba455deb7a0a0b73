/** Work on the directories of members that do not run. */
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
export { type CheckpointFacts, readCheckpointFacts } from './checkpoint-facts.js';
export { checkChecksum } from './checksum-file.js';
export { exportedNodes, exportedState } from './exported-nodes.js';
export { lowerPriority, whileMemberWaits } from './lower-priority.js';
export { collectRarely } from './rare-collections.js';
export { newestSurvivor, recoveryPlan } from './recovery.js';
export { type MembersToRestore, requireRestorable, restoreMembers } from './restore.js';
export { type RestorePlan, RestorePlanner } from './restore-plan.js';
export {
  makeDirectory,
  type StateHolder,
  writeSnapshot,
  zxidName,
} from './snapshot-output.js';
export { readStoppedMember, type StoppedMember } from './stopped-member.js';
export {
  type Change,
  loggedTransactions,
  type Transaction,
  zooKeeperTransactions,
} from './transactions.js';
