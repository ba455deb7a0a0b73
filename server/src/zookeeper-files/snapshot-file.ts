/**
 * Opens a snapshot of ZooKeeper on disk: `snapshot.<zxid>`, plain or with `.gz` or `.snappy`.
 *
 * It is read and decompressed as a stream, so what it unpacks to takes no memory of itself. Rejects
 * with FileError for what is damaged, FileBoundError for what is larger than can be read, and the
 * system's error for a file that cannot be opened.
 */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { FileError } from './byte-cursor.js';
import type { SnapshotNode } from './snapshot-node.js';
import { type SnapshotFacts, SnapshotReader } from './snapshot-reader.js';

/** Each chunk is a wait for another thread; the default makes nine thousand of a large snapshot. */
const CHUNK_BYTES = 1 << 20;

export interface SnapshotFile extends SnapshotFacts {
  /** By its name; null where that is another. */
  readonly zxid: bigint | null;
  /** The number of bytes, decompressed. */
  readonly bytes: number;
}

/**
 * `visit` is called for each znode, parents before children. What it is given shares the memory of
 * a part of the file, a megabyte or the znode's data, until it is let go.
 */
export async function readSnapshotFile(
  path: string,
  visit: (node: SnapshotNode) => void,
): Promise<SnapshotFile> {
  const name = basename(path);
  const [, hex = null, compression = ''] = /^snapshot\.([\da-f]{1,16})(\.\w+)?$/.exec(name) ?? [];
  const reader = new SnapshotReader(visit);
  if (compression === '.snappy') {
    const { snappyBlocks } = await import('./snappy.js');
    for await (const block of snappyBlocks(path)) reader.push(block);
  } else await pushFile(path, reader);
  const facts = reader.end();
  return { ...facts, zxid: hex === null ? null : BigInt(`0x${hex}`), bytes: reader.bytes };
}

async function pushFile(path: string, reader: SnapshotReader): Promise<void> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const chunks: AsyncIterator<Buffer> = file[Symbol.asyncIterator]();
  const push = async (parts: AsyncIterable<Buffer>) => {
    for await (const part of parts) reader.push(part);
  };
  try {
    const { value: first, done } = await chunks.next();
    if (done === true) return;
    const all = allOf(first, chunks);
    if (isGzip(first)) await pipeline(all, createGunzip({ chunkSize: CHUNK_BYTES }), push);
    else await push(all);
  } catch (error) {
    if (!isOfZlib(error)) throw error;
    throw new FileError(`it cannot be decompressed: ${error.message}`, null);
  } finally {
    file.destroy();
  }
}

async function* allOf(first: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (;;) {
    const { value, done } = await chunks.next();
    if (done === true) return;
    yield value;
  }
}

function isGzip(file: Buffer): boolean {
  return file[0] === 0x1f && file[1] === 0x8b;
}

function isOfZlib(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && `${error.code}`.startsWith('Z_');
}
