/** Reads and writes the files of Apache ZooKeeper. */
export { FileError } from './byte-cursor.js';
export {
  type DirectoryToRead,
  type ReadDirectory,
  readZooKeeperDirectory,
  ZooKeeperDataError,
} from './data-directory.js';
export { readLogFile, readLogHeader } from './log-file.js';
export { decodeLogRecord, type LogRecord } from './log-record.js';
export { endText, headText, logRecordText } from './log-text.js';
export { readSnapshotFile, type SnapshotFile } from './snapshot-file.js';
export {
  type AclEntry,
  type NodeToWrite,
  OPEN_LIST,
  type SnapshotNode,
} from './snapshot-node.js';
export {
  readSnapshot,
  type SnapshotDigest,
  type SnapshotFacts,
} from './snapshot-reader.js';
export { type SnapshotContent, snapshotParts } from './snapshot-writer.js';
export { CONTAINER_OWNER, ownerKind, ownerOfTtl, ttlMsOf } from './znode-table.js';
