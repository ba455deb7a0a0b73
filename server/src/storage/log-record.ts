/**
 * The format of a record in a file of the log, and how it is distinguished from other bytes there.
 * The payload is consecutive proposals that are written together, up to 1 MB, or one larger
 * proposal.
 *
 * A record is: checksum of this header (4 bytes), length of the payload (4), flags (4), checksum of
 * the payload (4), the payload, zeros up to a multiple of 8; all big-endian. The header's checksum
 * includes the segment's salt and the record's offset, so neither what the file contained before it
 * was recycled nor bytes that a client chose can pass for a record. It is CRC-32 rather than
 * CRC-32C, because Node computes it in native code.
 */
import { crc32 } from 'node:zlib';
import type { LogFile } from './log-files.js';

const HEADER_BYTES = 16;
const ALIGNMENT = 8;
/** The record is the first one of its write, so everything before it was durable by then. */
const FIRST_OF_WRITE = 1;
const READ_BYTES = 256 * 1024;

export interface LogRecord {
  readonly offset: number;
  /** The offset of the next record. */
  readonly end: number;
  readonly isFirstOfWrite: boolean;
  readonly payload: Uint8Array;
}

/** The bytes of the file that a record with such a payload takes. */
export function recordBytes(payloadBytes: number): number {
  return Math.ceil((HEADER_BYTES + payloadBytes) / ALIGNMENT) * ALIGNMENT;
}

/**
 * The parts of a record, to be written one after the other at `offset`; `seed` is that of the
 * segment's salt.
 */
export function recordParts(
  payload: readonly Uint8Array[],
  at: { readonly seed: number; readonly offset: number; readonly isFirst: boolean },
): readonly Uint8Array[] {
  let length = 0;
  let checksum = 0;
  for (const part of payload) {
    length += part.length;
    checksum = crc32(part, checksum);
  }
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(length, 4);
  header.writeUInt32BE(at.isFirst ? FIRST_OF_WRITE : 0, 8);
  header.writeUInt32BE(checksum, 12);
  header.writeUInt32BE(headerChecksum(header, at.seed, at.offset), 0);
  const padding = recordBytes(length) - HEADER_BYTES - length;
  return padding === 0 ? [header, ...payload] : [header, ...payload, PADDING.subarray(0, padding)];
}

/** Reads the records of a segment in order, and stops at the first bytes that are not a record. */
export class RecordReader {
  /** The offset at which the next record is expected. */
  position: number;
  readonly #file: LogFile;
  readonly #seed: number;
  readonly #end: number;
  #window: Buffer = Buffer.alloc(0);
  #windowStart = 0;

  /** Reads records in [from, end). */
  constructor(
    file: LogFile,
    at: { readonly salt: string; readonly from: number; readonly end?: number },
  ) {
    this.#file = file;
    this.#seed = seedOf(at.salt);
    this.position = at.from;
    this.#end = at.end ?? file.size;
  }

  /** The record at `position`, or null if there is no valid one. */
  async next(): Promise<LogRecord | null> {
    const offset = this.position;
    const header = await this.#headerAt(offset);
    if (header === null) return null;
    const bytes = await this.#bytes(offset, HEADER_BYTES + header.length);
    const payload = bytes.subarray(HEADER_BYTES);
    if (payload.length !== header.length || crc32(payload) !== header.checksum) return null;
    const end = offset + recordBytes(header.length);
    this.position = end;
    return { offset, end, isFirstOfWrite: header.isFirst, payload };
  }

  /**
   * Whether a later write than the one at `position` reached the file. If so, the bytes there were
   * durable, and are damaged. Otherwise they are an incomplete write on which nobody relied.
   */
  async hasLaterWrite(): Promise<boolean> {
    const step = READ_BYTES - HEADER_BYTES;
    for (let start = this.position + ALIGNMENT; start < this.#end; start += step) {
      const window = await this.#bytes(start, Math.min(READ_BYTES, this.#end - start));
      const candidates = this.#firstsOfWrites(window, start);
      for (const { offset, length, checksum } of candidates) {
        const bytes = await this.#bytes(offset, HEADER_BYTES + length);
        if (crc32(bytes.subarray(HEADER_BYTES)) === checksum) return true;
      }
    }
    return false;
  }

  /** Returns the headers with the flag that lie in the window. */
  #firstsOfWrites(window: Buffer, start: number) {
    const found: { offset: number; length: number; checksum: number }[] = [];
    for (let at = 0; at + HEADER_BYTES <= window.length; at += ALIGNMENT) {
      if (window.readUInt32BE(at + 8) !== FIRST_OF_WRITE) continue;
      const header = this.#parse(window.subarray(at, at + HEADER_BYTES), start + at);
      if (header !== null) found.push({ offset: start + at, ...header });
    }
    return found;
  }

  async #headerAt(offset: number) {
    if (offset + HEADER_BYTES > this.#end) return null;
    return this.#parse(await this.#bytes(offset, HEADER_BYTES), offset);
  }

  /**
   * Returns the header at an offset; null if there is none, or the record does not fit into the
   * file.
   */
  #parse(bytes: Buffer, offset: number) {
    if (bytes.length < HEADER_BYTES) return null;
    const length = bytes.readUInt32BE(4);
    const flags = bytes.readUInt32BE(8);
    if (length === 0 || offset + HEADER_BYTES + length > this.#end || flags > FIRST_OF_WRITE) {
      return null;
    }
    if (bytes.readUInt32BE(0) !== headerChecksum(bytes, this.#seed, offset)) return null;
    return { length, isFirst: flags === FIRST_OF_WRITE, checksum: bytes.readUInt32BE(12) };
  }

  async #bytes(offset: number, length: number): Promise<Buffer> {
    const known = this.#inWindow(offset, length);
    if (known !== null) return known;
    const wanted = Math.min(Math.max(READ_BYTES, length), this.#end - offset);
    const read = await this.#file.read(offset, wanted);
    this.#window = Buffer.from(read.buffer, read.byteOffset, read.length);
    this.#windowStart = offset;
    return this.#window.subarray(0, length);
  }

  #inWindow(offset: number, length: number): Buffer | null {
    const start = offset - this.#windowStart;
    if (start < 0 || start + length > this.#window.length) return null;
    return this.#window.subarray(start, start + length);
  }
}

const PADDING = new Uint8Array(ALIGNMENT);

/** What a segment's salt adds to the checksums of its records. */
export function seedOf(salt: string): number {
  return crc32(salt);
}

function headerChecksum(header: Uint8Array, seed: number, offset: number): number {
  return crc32(header.subarray(4, HEADER_BYTES), (seed ^ offset) >>> 0);
}
