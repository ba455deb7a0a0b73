/**
 * Writes a state as a snapshot of ZooKeeper, completely or not at all.
 *
 * The file is written under a temporary name and made durable. Then it is read again, and must have
 * what was written, whose znodes gave its digest (snapshot-writer.ts); only then does it get its
 * name.
 */
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { OperatorError } from '../config/operator-error.js';
import { openNewFile } from '../security/own-file.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { snapshotParts } from '../zookeeper-files/index.js';
import { checksumPath, sha256Of, writeChecksum } from './checksum-file.js';
import { exportedState } from './exported-nodes.js';
import { ContentSum, readBack } from './read-back.js';

/**
 * This level takes a third of the time of the default one, for files that are a fifth larger. What
 * a znode resembles is mostly right before it: with a window of 8 KB, files are no larger, and data
 * that hardly compresses take a quarter less time. Each chunk is a wait for another thread, and a
 * process that gives way to all others waits for long.
 */
const COMPRESSION = { level: 3, windowBits: 13, chunkSize: 256 << 10 } as const;

export interface WrittenSnapshot {
  readonly path: string;
  readonly zxid: bigint;
  readonly znodes: number;
  readonly bytes: number;
}

/** What has a state to be written. */
export interface StateHolder {
  readonly state: ReplicatedState;
}

/** The zxid in hex, as in the names of ZooKeeper's files. */
export function zxidName({ state }: StateHolder): string {
  return state.lastZxid.toString(16);
}

/**
 * `path` ends with `.gz` for a compressed file; `withChecksum` puts a file with its SHA-256 beside
 * it. Until it is whole, the file has the name `part`. Rejects with OperatorError.
 */
export async function writeSnapshot(
  { state }: StateHolder,
  path: string,
  { withChecksum, part = `${path}.part` }: { withChecksum: boolean; part?: string },
): Promise<WrittenSnapshot> {
  const snapshot = exportedState(state);
  const content = new ContentSum();
  const isCompressed = path.endsWith('.gz');
  try {
    await makeDirectory(dirname(path));
    const parts = Readable.from(content.over(snapshotParts(snapshot)));
    const steps = isCompressed ? [createGzip(COMPRESSION)] : [];
    const output = (await openNewFile(part)).createWriteStream();
    await pipeline([parts, ...steps, output]);
    await syncFile(part);
    const sha256 = await readBack(part, { isCompressed, content });
    if (withChecksum) await writeChecksum(checksumPath(part), sha256, path);
    if (await takesName(part, path, sha256)) {
      if (withChecksum) await rename(checksumPath(part), checksumPath(path));
    } else await removeParts(part);
    await syncFile(dirname(path));
    const { size } = await stat(path);
    return { path, zxid: snapshot.zxid, znodes: state.tree.nodeCount, bytes: size };
  } catch (error) {
    await removeParts(part);
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new OperatorError(`${path} cannot be written: ${error.message}`, { cause: error });
  }
}

/**
 * The parent directory must exist: Node's recursive mkdir never ends where nothing can be created,
 * such as in /proc. Rejects with OperatorError, or the system's error.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT') throw error;
    throw new OperatorError(`${path} cannot be made: its parent has to exist`, { cause: error });
  }
}

/**
 * Resolves with false where the name belongs to a file with the same content that cannot be
 * replaced. While an ensemble has no writes, its backups have one zxid, and the first of them may
 * be immutable.
 */
async function takesName(part: string, path: string, sha256: string): Promise<boolean> {
  try {
    await rename(part, path);
    return true;
  } catch (error) {
    const present = await sha256Of(path).catch(() => null);
    if (present !== sha256) throw error;
    return false;
  }
}

/** Never rejects: what stays is a part that has no name of a backup, and other errors matter. */
async function removeParts(part: string): Promise<void> {
  await Promise.allSettled([part, checksumPath(part)].map((path) => rm(path, { force: true })));
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
