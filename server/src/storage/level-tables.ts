/**
 * Looks at those parts of a LevelDB table file that an open database reads once and keeps in
 * memory: the index, the filter, and the footer that says where they are. Damage of them shows only
 * when the file is opened again. The other blocks are read by whoever reads the records.
 *
 * Never writes. The format is that of LevelDB's doc/table_format.md.
 */
import { open as openFile } from 'node:fs/promises';
import { maskedCrc32c } from './crc32c.js';
import { DamagedError } from './errors.js';

const FOOTER_BYTES = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
/** Behind each block: its type and a checksum of block and type. */
const TRAILER_BYTES = 5;
const UNCOMPRESSED = 0;

type File = Awaited<ReturnType<typeof openFile>>;

interface Handle {
  readonly offset: number;
  readonly length: number;
}

/** Returns the number of bytes read. Throws DamagedError. */
export async function checkTable(path: string): Promise<number> {
  const file = await openFile(path, 'r');
  try {
    const { size } = await file.stat();
    const table = { path, file, size, readBytes: 0 };
    if (size < FOOTER_BYTES) throw damaged(table, 'it has no footer');
    const footer = await bytesAt(table, { offset: size - FOOTER_BYTES, length: FOOTER_BYTES });
    if (!footer.subarray(-MAGIC.length).equals(MAGIC)) throw damaged(table, 'its footer is none');
    const reader = new HandleReader(footer);
    const about = await blockAt(table, reader.next());
    await blockAt(table, reader.next());
    if (about.type !== UNCOMPRESSED || about.bytes.length <= TRAILER_BYTES) {
      return table.readBytes;
    }
    const filter = firstHandle(about.bytes);
    if (filter !== null) await blockAt(table, filter);
    return table.readBytes;
  } finally {
    await file.close();
  }
}

interface Table {
  readonly path: string;
  readonly file: File;
  readonly size: number;
  /** Bytes read so far. */
  readBytes: number;
}

async function blockAt(table: Table, { offset, length }: Handle) {
  const all = { offset, length: length + TRAILER_BYTES };
  if (offset + all.length > table.size - FOOTER_BYTES) throw damaged(table, 'a block is outside');
  const bytes = await bytesAt(table, all);
  const checksum = bytes.readUInt32LE(length + 1);
  if (checksum !== maskedCrc32c(bytes, 0, length + 1)) {
    throw damaged(table, `the block at byte ${offset} has a wrong checksum`);
  }
  return { bytes: bytes.subarray(0, length), type: bytes[length] };
}

async function bytesAt(table: Table, { offset, length }: Handle): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await table.file.read(buffer, 0, length, offset);
  table.readBytes += bytesRead;
  if (bytesRead < length) throw damaged(table, 'it is shorter than it says');
  return buffer;
}

/** The value of the first entry of a block; null for an empty block. */
function firstHandle(block: Uint8Array): Handle | null {
  const reader = new HandleReader(block);
  // A key's length is in two parts: what it shares with the one before, and its own.
  const { offset: shared, length: own } = reader.next();
  if (shared !== 0 || own === 0) return null;
  reader.varint();
  reader.at += own;
  return reader.next();
}

class HandleReader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): Handle {
    return { offset: this.varint(), length: this.varint() };
  }

  /** Seven bits in each byte, the low ones first. */
  varint(): number {
    let value = 0;
    for (let scale = 1; this.at < this.#bytes.length; scale *= 0x80) {
      const byte = this.#bytes[this.at] ?? 0;
      this.at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  }
}

function damaged({ path }: Table, reason: string): DamagedError {
  return new DamagedError(`${path} is damaged: ${reason}`);
}
