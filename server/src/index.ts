/** What an embedder and the command line use of a member. */
// Declarations use Node's types, which TypeScript 6 and later include only where they are named.
/// <reference types="node" preserve="true" />
export {
  clientAddressOf,
  isEveryAddress,
  isLoopback,
  type ListenAddress,
  metricsHostOf,
  peerAddressOf,
  secureClientAddressOf,
} from './config/addresses.js';
export { readFileUpTo, SMALL_FILE_BYTES_MAX } from './config/bounded-file.js';
export type { Config, ServerAddress } from './config/config.js';
export { ConfigError, loadConfig, loadEnsembleConfig, memberDirectories } from './config/config.js';
export type { LogLevel } from './config/config-schema.js';
export { checkSettings } from './config/config-schema.js';
export { missingPeerAuth } from './config/config-security.js';
export type { FourLetterWord } from './config/four-letter-words.js';
export { OperatorError } from './config/operator-error.js';
export { DuplicateKeysError, parseStrictJson } from './config/strict-json.js';
export { type Tuning, tuningFromEnvironment } from './config/tuning.js';
export { compareParts, holdersOf, partOf, recipeOf } from './http/api/recipe-names.js';
export { type MemoryLimit, memoryLimit } from './member/budgets.js';
export { rootAclOf } from './member/root-acl.js';
export { certificateProblem as peerCertificateProblem } from './net/peer-certificate.js';
export {
  type Backup,
  backupsIn,
  type CheckpointFacts,
  checkChecksum,
  collectRarely,
  expiredBackups,
  exportedNodes,
  exportedState,
  type FoundBackups,
  type KeepRule,
  loggedTransactions,
  lowerPriority,
  type MembersToRestore,
  makeDirectory,
  newestSurvivor,
  type RestorePlan,
  RestorePlanner,
  readBackup,
  readCheckpointFacts,
  readStoppedMember,
  recoveryPlan,
  removeBackups,
  requireRestorable,
  restoreMembers,
  type StateHolder,
  type StoppedMember,
  type Transaction,
  whileMemberWaits,
  writeSnapshot,
  zooKeeperTransactions,
  zxidName,
} from './offline/index.js';
export { changesByEverybody } from './pipeline/access.js';
export { readSaslUsers } from './security/digest-md5.js';
export {
  openContinuedFileSync,
  openDirectoryProblem,
  replaceOwnFile,
} from './security/own-file.js';
export { scryptEntry } from './security/password-hashes.js';
export { readPeerSecrets } from './security/peer-secrets.js';
export { readSecretFile } from './security/secret-file.js';
export {
  EXPIRY_WARN_MS,
  loadTlsFiles,
  revocationListEnd,
  type TlsFiles,
  type TlsMaterial,
} from './security/tls-files.js';
export type { RunningServer, ServerOptions } from './server.js';
export { startServer } from './server.js';
export { StorageFault } from './storage/index.js';
export {
  type AclEntry,
  CONTAINER_OWNER,
  endText,
  FileError as SnapshotFileError,
  headText,
  ownerKind,
  type ReadDirectory,
  readLogHeader,
  readSnapshot,
  readSnapshotFile,
  readZooKeeperDirectory,
  type SnapshotContent,
  type SnapshotDigest,
  type SnapshotFacts,
  type SnapshotFile,
  type SnapshotNode,
  snapshotParts,
  ZooKeeperDataError,
} from './zookeeper-files/index.js';
