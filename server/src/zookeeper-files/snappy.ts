/**
 * Reads ZooKeeper's files with the ending `.snappy`: blocks of Snappy behind a header, as the Java
 * library `snappy-java` writes streams.
 *
 *     82 "SNAPPY" 00, version, oldest version that can read it, then blocks: length, bytes
 *
 * One block is held at a time. Throws FileError for what is damaged. Called by readSnapshotFile,
 * which loads it when it is needed.
 */
import { errorMessage } from '@rookery/protocol';
import { uncompress } from 'snappyjs';
import { FileError } from './byte-cursor.js';
import { BufferedFile } from './log-file.js';

const MAGIC = Buffer.from('82534e4150505900', 'hex');
const VERSION = 1;
/** A block of a stream has 32 KB unless it was configured otherwise. */
const BLOCK_BYTES_MAX = 64 << 20;

const HEADER_BYTES = 16;

export async function* snappyBlocks(path: string): AsyncGenerator<Buffer> {
  const file = await BufferedFile.open(path);
  try {
    const header = await file.read(HEADER_BYTES);
    if (header === null || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new FileError('it does not begin as a file in Snappy does', 0);
    }
    const version = header.readInt32BE(MAGIC.length + 4);
    if (version > VERSION) throw new FileError(`it is in version ${version} of Snappy's`, 12);
    for (;;) {
      const at = file.offset;
      const head = await file.read(4);
      if (head === null && file.rest === 0) return;
      const length = head?.readInt32BE(0) ?? 0;
      if (head !== null && length < 0) throw new FileError('a block has no length', at);
      if (length > BLOCK_BYTES_MAX) {
        const bound = `at most ${BLOCK_BYTES_MAX} can be read`;
        throw new FileError(`the length of a block is ${length}; ${bound}`, at);
      }
      const block = head === null ? null : await file.read(length);
      if (block === null) throw new FileError('the file ends within a block', at);
      yield decompressed(block, at);
    }
  } finally {
    await file.close();
  }
}

function decompressed(block: Buffer, at: number): Buffer {
  try {
    return Buffer.from(uncompress(block, BLOCK_BYTES_MAX));
  } catch (error) {
    const reason = errorMessage(error);
    throw new FileError(`a block cannot be decompressed: ${reason}`, at);
  }
}
