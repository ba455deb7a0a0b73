/**
 * Sources of a state without a running ensemble: a snapshot or backup, the data directory of a
 * ZooKeeper, or a member that does not run.
 *
 * Nothing is written. Throws OperatorError for a source that cannot be read or is damaged.
 */
import { stat } from 'node:fs/promises';
import {
  exportedNodes,
  loadEnsembleConfig,
  OperatorError,
  readSnapshotFile,
  readStoppedMember,
  readZooKeeperDirectory,
  SnapshotFileError,
  type SnapshotNode,
  ZooKeeperDataError,
} from '@rookery/server';
import { requireServer } from '../command/require-server.js';

const MEMBER = /^(.+):(\d{1,3})$/;

/** Visits each parent before its children. Resolves with the zxid; null if none is known. */
export async function readState(
  source: string,
  visit: (node: SnapshotNode) => void,
): Promise<bigint | null> {
  const [, config = null, id = ''] = MEMBER.exec(source) ?? [];
  if (config !== null) return await readMemberState(config, Number(id), visit);
  let isDirectory = false;
  try {
    isDirectory = (await stat(source)).isDirectory();
    if (isDirectory) {
      const setup = { dataDir: source, logDir: source, stopAtDamage: false };
      const { znodes, lastZxid } = await readZooKeeperDirectory(setup);
      for (const node of znodes.nodes()) visit(node);
      return lastZxid;
    }
    const { zxid, digest } = await readSnapshotFile(source, visit);
    return digest?.zxid ?? zxid;
  } catch (error) {
    if (error instanceof SnapshotFileError || error instanceof ZooKeeperDataError) {
      throw new OperatorError(`${source} is damaged: ${error.message}`, { cause: error });
    }
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (isDirectory && error.code === 'ENOENT') {
      const hint = 'CONFIG:ID names a member of Rookery';
      throw new OperatorError(`${source} is not a data directory of ZooKeeper; ${hint}`, {
        cause: error,
      });
    }
    throw new OperatorError(`${source} cannot be read: ${error.message}`, { cause: error });
  }
}

async function readMemberState(
  file: string,
  id: number,
  visit: (node: SnapshotNode) => void,
): Promise<bigint> {
  const config = loadEnsembleConfig(file);
  requireServer(config, file, id);
  const { state } = await readStoppedMember(config, id);
  for (const node of exportedNodes(state)) visit(node);
  return BigInt(state.lastZxid);
}

/** The path of the root is `/`. */
export function shownPath({ path }: Pick<SnapshotNode, 'path'>): string {
  return path === '' ? '/' : path;
}
