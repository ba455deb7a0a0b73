/**
 * Checks the files of a LevelDB database before LevelDB opens it, and throws for damage that
 * LevelDB would silently skip.
 *
 * Opening rewrites: the write-ahead files become a table, what nothing names is deleted, and a
 * database without CURRENT becomes a new one. So damage must be found before. Never writes. Costs
 * one read of the write-ahead files (what was written since the last opening and is in no table),
 * and of those parts of each table that an open database reads once and keeps in memory: the index,
 * the filter and the footer. Other blocks are checked when their records are read. The format of
 * tables is that of LevelDB's doc/table_format.md.
 */
import { type FileHandle, open as openFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '@rookery/protocol';
import { codesOf, DamagedError, guarded, textOf } from './errors.js';

/** The size of a block of the write-ahead format. */
export const BLOCK_BYTES = 32 * 1024;
/** Checksum (4), length (2), type (1). A shorter rest of a block stays empty. */
const HEADER_BYTES = 7;
const TYPE_AT = 6;
const ZEROS = new Uint8Array(BLOCK_BYTES);
const PIECE = { full: 1, first: 2, middle: 3, last: 4 } as const;
const READ_BYTES = 8 * BLOCK_BYTES;
const LOG_FILE = /^\d+\.log$/;
const TABLE_FILE = /^\d+\.(ldb|sst)$/;
const MANIFEST_FILE = /^MANIFEST-\d+$/;
const KEY_ORDER_TAG = 1;
const LOG_NUMBER_TAG = 2;
/** The files left by a creation that ended before it wrote CURRENT. */
const FIRST_MANIFEST = 'MANIFEST-000001';

/** Throws DamagedError or StorageFault. A database that is not there yet is sound. */
export async function checkFiles(path: string): Promise<void> {
  await checkNames(path);
  await readable(path, async () => {
    for (const file of await filesOf(path)) {
      if (LOG_FILE.test(file)) await scanFile(join(path, file));
    }
  });
}

/** Checks that CURRENT, its manifest and the files in the manifest exist and are whole. */
export async function checkNames(path: string): Promise<void> {
  await readable(path, async () => await checkManifest(path, await filesOf(path)));
}

/** The files for `checkFile`: those that `checkNames` does not read. */
export async function filesToCheck(path: string): Promise<readonly string[]> {
  const files = await readable(path, () => filesOf(path));
  return files.filter((file) => LOG_FILE.test(file) || TABLE_FILE.test(file));
}

/**
 * Checks a write-ahead file, or the parts of a table that LevelDB keeps in memory. Returns the
 * number of bytes read: 0 for a file that LevelDB has removed since it was listed.
 */
export async function checkFile(path: string, file: string): Promise<number> {
  try {
    return await readable(path, async () => {
      return LOG_FILE.test(file)
        ? await scanFile(join(path, file))
        : await checkTable(join(path, file));
    });
  } catch (error) {
    if (codesOf(error).includes('ENOENT')) return 0;
    throw error;
  }
}

/** Finds out whether damaged files are the reason why a database could not be opened. */
export async function isDamaged(path: string): Promise<boolean> {
  try {
    await checkFiles(path);
    return false;
  } catch (error) {
    if (error instanceof DamagedError) return true;
    throw error;
  }
}

/** Reports an unreadable sector as damage, as LevelDB's own reads do. */
async function readable<T>(path: string, action: () => Promise<T>): Promise<T> {
  return await guarded(path, async () => {
    try {
      return await action();
    } catch (error) {
      if (!codesOf(error).includes('EIO')) throw error;
      throw new DamagedError(`${path} cannot be read: ${textOf(error)}`, { cause: error });
    }
  });
}

async function filesOf(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (codesOf(error).includes('ENOENT')) return [];
    throw error;
  }
}

async function checkManifest(path: string, files: readonly string[]): Promise<void> {
  if (!files.includes('CURRENT')) {
    const rest = files.find(
      (file) =>
        LOG_FILE.test(file) ||
        TABLE_FILE.test(file) ||
        (MANIFEST_FILE.test(file) && file !== FIRST_MANIFEST),
    );
    if (rest === undefined) return;
    throw new DamagedError(`${path} is damaged: CURRENT is missing, but ${rest} is there`);
  }
  const manifest = (await readFile(join(path, 'CURRENT'), 'utf8')).trimEnd();
  if (!MANIFEST_FILE.test(manifest)) {
    throw new DamagedError(`${path} is damaged: CURRENT names no manifest`);
  }
  if (!files.includes(manifest)) {
    throw new DamagedError(`${path} is damaged: CURRENT names ${manifest}, which is missing`);
  }
  await scanFile(join(path, manifest));
  const logNumber = logNumberIn(await readFile(join(path, manifest)));
  // The number 0 is in a manifest whose database was never opened to its end.
  if (logNumber === 0) return;
  if (files.some((file) => LOG_FILE.test(file) && Number.parseInt(file, 10) === logNumber)) return;
  throw new DamagedError(
    `${path} is damaged: ${manifest} names the write-ahead file ${logNumber}, which is missing`,
  );
}

/**
 * The write-ahead file that the newest edit of a manifest names; 0 for none. An edit begins with
 * the name of the key order if it holds it, then the number: each a tag and a value.
 */
function logNumberIn(manifest: Uint8Array): number {
  let logNumber = 0;
  for (const edit of batchBeginnings(manifest)) {
    let at = 0;
    if (edit[at] === KEY_ORDER_TAG) at = 2 + (edit[1] ?? 0);
    if (edit[at] === LOG_NUMBER_TAG) logNumber = new HandleReader(edit, at + 1).varint();
  }
  return logNumber;
}

/** Returns the number of bytes read. */
async function scanFile(path: string): Promise<number> {
  let readBytes = 0;
  const scan = new WriteAheadScan();
  const buffer = new Uint8Array(READ_BYTES);
  const file = await openFile(path, 'r');
  try {
    for (let length = READ_BYTES; length === READ_BYTES; ) {
      length = await fill(file, buffer);
      readBytes += length;
      for (let at = 0; at < length; at += BLOCK_BYTES) {
        const damage = scan.block(buffer.subarray(at, Math.min(at + BLOCK_BYTES, length)));
        if (damage === null) continue;
        const { offset, reason } = damage;
        throw new DamagedError(
          `${path} is damaged at byte ${offset}: ${reason}, and a later one is there`,
        );
      }
    }
    return readBytes;
  } finally {
    await file.close();
  }
}

/** Reads as much as there is and fits, in several reads if necessary. */
async function fill(file: FileHandle, buffer: Uint8Array): Promise<number> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

const FOOTER_BYTES = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
/** Behind each block: its type and a checksum of block and type. */
const TRAILER_BYTES = 5;
const UNCOMPRESSED = 0;

interface Handle {
  readonly offset: number;
  readonly length: number;
}

/** Returns the number of bytes read. Throws DamagedError. */
async function checkTable(path: string): Promise<number> {
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
  readonly file: FileHandle;
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
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
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

export interface WriteAheadDamage {
  /** The offset of the bad record in the file, in bytes. */
  readonly offset: number;
  readonly reason: string;
}

/**
 * Distinguishes damage in a file of LevelDB's write-ahead format from a tail that a crash tore.
 *
 * LevelDB silently drops a bad record and the rest of its 32 KB block, and so would return a
 * shorter log that looks whole. But batches are written one at a time, each synced before the next:
 * the valid beginning of a later batch proves that everything before it was whole once. So bad
 * bytes before one are damage, and bad bytes without a later batch are the torn end of the last
 * write. (A later piece of the same batch proves nothing: a power cut may keep the second half of
 * one write and lose the first.) Damage in the last batch looks like a torn one.
 */
export class WriteAheadScan {
  /** The offset of a batch whose last piece has not been read yet. */
  #open: number | null = null;
  /** The first bad record. It is damage once the beginning of a later batch is found. */
  #bad: WriteAheadDamage | null = null;
  #offset = 0;
  #ended = false;

  /** Whether everything so far is whole batches. */
  get whole(): boolean {
    return this.#open === null && this.#bad === null;
  }

  /**
   * The blocks of a file in order, all but the last of BLOCK_BYTES. Stop at the first damage.
   */
  block(block: Uint8Array): WriteAheadDamage | null {
    assert(!this.#ended && block.length <= BLOCK_BYTES, 'only the last block is short, none long');
    this.#ended = block.length < BLOCK_BYTES;
    const damage = this.#scan(block);
    this.#offset += block.length;
    return damage;
  }

  #scan(block: Uint8Array): WriteAheadDamage | null {
    let at = 0;
    while (at + HEADER_BYTES <= block.length && this.#bad === null) {
      const length = pieceLength(block, at);
      if (length === null) {
        this.#bad = { offset: this.#offset + at, reason: 'a record does not check' };
        break;
      }
      const damage = this.#place(block[at + TYPE_AT], this.#offset + at);
      if (damage !== null) return damage;
      at += HEADER_BYTES + length;
    }
    if (this.#bad === null && this.#ended && at < block.length) {
      this.#bad = { offset: this.#offset + at, reason: 'the last record is cut short' };
    }
    if (this.#bad === null) return null;
    // Most of it is preallocated space, which is searched very fast.
    if (Buffer.compare(block, ZEROS.subarray(0, block.length)) === 0) return null;
    // The length of a bad record cannot be trusted, so the next record may begin anywhere.
    for (; at + HEADER_BYTES <= block.length; at++) {
      if (beginsBatch(block[at + TYPE_AT]) && pieceLength(block, at) !== null) return this.#bad;
    }
    return null;
  }

  /** Takes a sound piece. */
  #place(type: number | undefined, offset: number): WriteAheadDamage | null {
    const open = this.#open;
    const begins = beginsBatch(type);
    if (begins && open !== null) return { offset: open, reason: 'a batch has lost its end' };
    if (!begins && open === null) return { offset, reason: 'a batch has lost its beginning' };
    if (type === PIECE.first) this.#open = offset;
    if (type === PIECE.last) this.#open = null;
    return null;
  }
}

/** Yields views of the beginning of each batch, up to the first bad piece. */
function* batchBeginnings(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += BLOCK_BYTES) {
    const block = bytes.subarray(start, start + BLOCK_BYTES);
    for (let at = 0; at + HEADER_BYTES <= block.length; ) {
      const length = pieceLength(block, at);
      if (length === null) return;
      const payload = block.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
      if (beginsBatch(block[at + TYPE_AT])) yield payload;
      at += HEADER_BYTES + length;
    }
  }
}

function beginsBatch(type: number | undefined): boolean {
  return type === PIECE.full || type === PIECE.first;
}

/** The payload size of the piece that begins here; null if there is no sound one. */
function pieceLength(block: Uint8Array, at: number): number | null {
  const type = block[at + TYPE_AT] ?? 0;
  if (type < PIECE.full || type > PIECE.last) return null;
  const length = (block[at + 4] ?? 0) | ((block[at + 5] ?? 0) << 8);
  const end = at + HEADER_BYTES + length;
  if (end > block.length) return null;
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  return view.getUint32(at, true) === maskedCrc32c(block, at + TYPE_AT, end) ? length : null;
}

const POLYNOMIAL = 0x82f63b78;
const STEP_BYTES = 8;
const MASK_DELTA = 0xa282ead8;

/** Table n, at index n * 256, is for a byte that is followed by n more bytes. */
const TABLES = makeTables();

/**
 * CRC-32C (Castagnoli), the checksum of LevelDB's files; Node has only the other CRC-32. Eight
 * bytes a step, through eight tables: a start reads whole log files with it.
 */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = TABLES;
  let crc = -1;
  let at = start;
  for (; at + STEP_BYTES <= end; at += STEP_BYTES) {
    const low = crc ^ view.getInt32(at, true);
    const high = view.getInt32(at + 4, true);
    crc =
      (tables[1792 + (low & 0xff)] ?? 0) ^
      (tables[1536 + ((low >>> 8) & 0xff)] ?? 0) ^
      (tables[1280 + ((low >>> 16) & 0xff)] ?? 0) ^
      (tables[1024 + (low >>> 24)] ?? 0) ^
      (tables[768 + (high & 0xff)] ?? 0) ^
      (tables[512 + ((high >>> 8) & 0xff)] ?? 0) ^
      (tables[256 + ((high >>> 16) & 0xff)] ?? 0) ^
      (tables[high >>> 24] ?? 0);
  }
  for (; at < end; at++) {
    crc = (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/** The checksum as LevelDB stores it: rotated, because its files contain checksums. */
export function maskedCrc32c(bytes: Uint8Array, start: number, end: number): number {
  const crc = crc32c(bytes, start, end);
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(STEP_BYTES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? POLYNOMIAL ^ (crc >>> 1) : crc >>> 1;
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at++) {
    const before = tables[at - 256] ?? 0;
    tables[at] = (tables[before & 0xff] ?? 0) ^ (before >>> 8);
  }
  return tables;
}
