/**
 * Writes the state of a stopped member as a snapshot of ZooKeeper, completely or not at all.
 *
 * The file is written under a temporary name, made durable, read again and verified by its digest;
 * only then does it get its name.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  exportedState,
  loadEnsembleConfig,
  OperatorError,
  readSnapshot,
  readSnapshotFile,
  readStoppedMember,
  type StoppedMember,
  snapshotParts,
} from '@rookery/server';

import { checksumPath, writeChecksum } from './checksum-file.js';

/** This level takes a third of the time of the default one, for files that are a fifth larger. */
const COMPRESSION_LEVEL = 3;

export interface MemberOfFile {
  readonly config: string;
  readonly id: number;
}

export interface WrittenSnapshot {
  readonly path: string;
  readonly zxid: bigint;
  readonly znodes: number;
  readonly bytes: number;
}

export async function readMember({ config, id }: MemberOfFile): Promise<StoppedMember> {
  const loaded = loadEnsembleConfig(config);
  if (!loaded.servers.some((server) => server.id === id)) {
    throw new OperatorError(`${config} has no server with the id ${id}`);
  }
  return await readStoppedMember(loaded, id);
}

/** A source of the state to be written. */
export type StateHolder = Pick<StoppedMember, 'state'>;

/** The zxid in hex, as in the names of ZooKeeper's files. */
export function zxidName({ state }: StateHolder): string {
  return state.lastZxid.toString(16);
}

/**
 * `path` ends with `.gz` for a compressed file; `withChecksum` puts a file with its SHA-256 beside
 * it. Rejects with OperatorError.
 */
export async function writeSnapshot(
  { state }: StateHolder,
  path: string,
  { withChecksum }: { readonly withChecksum: boolean },
): Promise<WrittenSnapshot> {
  const content = exportedState(state);
  const part = `${path}.part`;
  try {
    await makeDirectory(dirname(path));
    const steps = path.endsWith('.gz') ? [createGzip({ level: COMPRESSION_LEVEL })] : [];
    await pipeline([Readable.from(snapshotParts(content)), ...steps, createWriteStream(part)]);
    await syncFile(part);
    const znodes = await verified(part, content.zxid);
    if (withChecksum) await writeChecksum(part, path, `${checksumPath(path)}.part`);
    await rename(part, path);
    if (withChecksum) await rename(`${checksumPath(path)}.part`, checksumPath(path));
    await syncFile(dirname(path));
    return { path, zxid: content.zxid, znodes, bytes: (await stat(path)).size };
  } catch (error) {
    await rm(part, { force: true });
    await rm(`${checksumPath(path)}.part`, { force: true });
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new OperatorError(`${path} cannot be written: ${error.message}`, { cause: error });
  }
}

/**
 * The parent directory must exist: Node's recursive mkdir never ends where nothing can be created,
 * such as in /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

async function verified(file: string, zxid: bigint): Promise<number> {
  const { bytes } = await readSnapshotFile(file);
  const { digest, nodes } = readSnapshot(bytes, () => undefined);
  if (digest === null || digest.kept !== digest.computed || digest.zxid !== zxid) {
    throw new OperatorError(`${file} was read again and is not what was written`);
  }
  return nodes;
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
