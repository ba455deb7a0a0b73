/**
 * Writes a state as a snapshot of ZooKeeper, completely or not at all.
 *
 * The file is written under a temporary name and made durable. It is then read again and must match
 * what was written, and its digest (snapshot-writer.ts); only then does it get its name. A checksum
 * file beside it serves `sha256sum -c`.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../config/operator-error.js';
import { openNewFile } from '../security/own-file.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { FileError, snapshotParts } from '../zookeeper-files/index.js';
import { exportedState } from './exported-nodes.js';

/**
 * This level takes a third of the time of the default one, for files that are a fifth larger. What
 * a znode resembles is mostly right before it: with a window of 8 KB, files are no larger, and data
 * that hardly compresses take a quarter less time. Each chunk is a wait for another thread, and a
 * process that gives way to all others waits for long.
 */
const COMPRESSION = { level: 3, windowBits: 13, chunkSize: 256 << 10 } as const;

interface WrittenSnapshot {
  readonly path: string;
  readonly zxid: bigint;
  readonly znodes: number;
  readonly bytes: number;
}

/** Anything that holds a state. */
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

/** Large chunks, because each is a wait for another thread. */
const CHUNK_BYTES = 1 << 20;
const DIFFERS = 'was read again and is not what was written';

/** The length and the CRC-32 of bytes that come in parts. */
class ContentSum {
  #bytes = 0;
  #crc = 0;

  /** Yields the parts as they are. */
  *over(parts: Iterable<Uint8Array>): Generator<Uint8Array> {
    for (const part of parts) {
      this.add(part);
      yield part;
    }
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    this.#crc = crc32(part, this.#crc);
  }

  equals(other: ContentSum): boolean {
    return this.#bytes === other.#bytes && this.#crc === other.#crc;
  }
}

/**
 * Proves that a file which was written has what was meant to be in it: its content is summed up on
 * the way to the file, and again, decompressed, on the way back from it.
 */
interface Written {
  readonly isCompressed: boolean;
  /** The sum of what was written, before it was compressed. */
  readonly content: ContentSum;
}

/**
 * Resolves with the SHA-256 of the file in hex. Rejects with OperatorError where the file does not
 * have the content, and with the system's errors.
 */
async function readBack(path: string, written: Written): Promise<string> {
  const hash = createHash('sha256');
  const content = new ContentSum();
  async function* hashed(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  }
  async function sum(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of chunks) content.add(chunk);
  }
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  try {
    if (written.isCompressed) {
      await pipeline(file, hashed, createGunzip({ chunkSize: CHUNK_BYTES }), sum);
    } else {
      await pipeline(file, hashed, sum);
    }
  } catch (error) {
    if (!isOfZlib(error)) throw error;
    throw new OperatorError(`${path} ${DIFFERS}: ${error.message}`, { cause: error });
  }
  if (!content.equals(written.content)) throw new OperatorError(`${path} ${DIFFERS}`);
  return hash.digest('hex');
}

function isOfZlib(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && `${error.code}`.startsWith('Z_');
}

/** A SHA-256 in hex, and what is around it. */
const HEAD_BYTES = 4096;

/**
 * The SHA-256 of a backup, in a file beside it that `sha256sum -c` reads.
 *
 * The checksums within a snapshot cover all of its content, but not the header of a compressed
 * file, where a changed byte changes nothing. A backup without such a file is accepted as it is.
 */
export function checksumPath(path: string): string {
  return `${path}.sha256`;
}

/** The file is durable when this resolves. `name` is that of the file which has the checksum. */
export async function writeChecksum(to: string, sha256: string, name: string): Promise<void> {
  const file = await openNewFile(to);
  try {
    await file.write(`${sha256}  ${basename(name)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Throws FileError where the file beside the backup contains another checksum. */
export async function checkChecksum(path: string): Promise<'equal' | 'none'> {
  let text: string;
  try {
    text = await headOf(checksumPath(path));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'none';
    throw error;
  }
  const [written = ''] = text.split(/\s/, 1);
  const computed = await sha256Of(path);
  if (written === computed) return 'equal';
  throw new FileError(`${checksumPath(path)} says ${written}, the file has ${computed}`, null);
}

/** The checksum is at the beginning, whatever follows. */
async function headOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
