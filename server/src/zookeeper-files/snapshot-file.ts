/**
 * A snapshot of ZooKeeper on disk: `snapshot.<zxid>`, plain or with `.gz` or `.snappy`.
 *
 * The file is held in memory as a whole. Throws FileError for what is damaged, and the system's
 * error for a file that cannot be opened.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { errorMessage } from '@rookery/protocol';
import { FileError } from './byte-cursor.js';

/** More than a tree that members could hold. */
const BYTES_MAX = 2 ** 32;
/** Each chunk is a wait for another thread; the default makes nine thousand of a large snapshot. */
const CHUNK_BYTES = 1 << 20;
const decompress = promisify(gunzip);

export interface SnapshotFile {
  /** By its name; null where that is another. */
  readonly zxid: bigint | null;
  /** Decompressed. */
  readonly bytes: Buffer;
}

export async function readSnapshotFile(path: string): Promise<SnapshotFile> {
  const name = basename(path);
  const [, hex = null, compression = ''] = /^snapshot\.([\da-f]{1,16})(\.\w+)?$/.exec(name) ?? [];
  const zxid = hex === null ? null : BigInt(`0x${hex}`);
  const file = await readFile(path);
  if (compression === '.snappy') {
    const { decompressSnappy } = await import('./snappy.js');
    return { zxid, bytes: decompressSnappy(file, BYTES_MAX) };
  }
  return { zxid, bytes: isGzip(file) ? await decompressed(file) : file };
}

function isGzip(file: Buffer): boolean {
  return file[0] === 0x1f && file[1] === 0x8b;
}

async function decompressed(file: Buffer): Promise<Buffer> {
  try {
    return await decompress(file, { maxOutputLength: BYTES_MAX, chunkSize: CHUNK_BYTES });
  } catch (error) {
    const reason = errorMessage(error);
    throw new FileError(`it cannot be decompressed: ${reason}`, null);
  }
}
