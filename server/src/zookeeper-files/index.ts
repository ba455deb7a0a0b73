/** Files of Apache ZooKeeper. */
export { FileError } from './byte-cursor.js';
export { readSnapshotFile, type SnapshotFile } from './snapshot-file.js';
export type { SnapshotNode } from './snapshot-node.js';
export {
  readSnapshot,
  type SnapshotDigest,
  type SnapshotFacts,
} from './snapshot-reader.js';
