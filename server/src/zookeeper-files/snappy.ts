/**
 * Reads ZooKeeper's files with the ending `.snappy`: blocks of Snappy behind a header, as the Java
 * library `snappy-java` writes streams.
 *
 *     82 "SNAPPY" 00, version, oldest version that can read it, then blocks: length, bytes
 *
 * Throws FileError for what is damaged. Called by readSnapshotFile, which loads it when it is
 * needed.
 */
import { errorMessage } from '@rookery/protocol';
import { uncompress } from 'snappyjs';
import { ByteCursor, FileError } from './byte-cursor.js';

const MAGIC = Buffer.from('82534e4150505900', 'hex');
const VERSION = 1;
/** A block of a stream has 32 KB unless it was configured otherwise. */
const BLOCK_BYTES_MAX = 64 << 20;

export function decompressSnappy(file: Buffer, bytesMax: number): Buffer {
  if (!file.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new FileError('it does not begin as a file in Snappy does', 0);
  }
  const cursor = new ByteCursor(file);
  cursor.offset = MAGIC.length;
  cursor.int('the header');
  const version = cursor.int('the header');
  if (version > VERSION) throw new FileError(`it is in version ${version} of Snappy's`, 12);
  const blocks: Buffer[] = [];
  let bytes = 0;
  while (cursor.left > 0) {
    const at = cursor.offset;
    const block = decompressed(cursor.buffer('a block'), at);
    bytes += block.length;
    if (bytes > bytesMax) throw new FileError(`it has more than ${bytesMax} bytes`, at);
    blocks.push(block);
  }
  return Buffer.concat(blocks, bytes);
}

function decompressed(block: Buffer | null, at: number): Buffer {
  if (block === null) throw new FileError('a block has no length', at);
  try {
    return Buffer.from(uncompress(block, BLOCK_BYTES_MAX));
  } catch (error) {
    const reason = errorMessage(error);
    throw new FileError(`a block cannot be decompressed: ${reason}`, at);
  }
}
