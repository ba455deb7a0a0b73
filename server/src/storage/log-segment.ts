/**
 * Writes and reads one file of the log: a header, stored twice, and the records of proposals.
 *
 * A segment is written only by the process that began it, from its header on, and nothing in it is
 * ever overwritten. It continues after `base`; what it contains after the base of its successor is
 * void, because a truncation begins a new segment. This file owns the formats of the header and of
 * a record; `txn-log.ts` knows which segments make up the log.
 *
 * A record holds consecutive proposals that are written together, up to 1 MB, or one larger
 * proposal: checksum of its header (4 bytes), length of the payload (4), flags (4), checksum of the
 * payload (4), the payload, zeros up to a multiple of 8; all big-endian. The header's checksum
 * includes the segment's salt and the record's offset, so neither what the file contained before it
 * was recycled nor bytes that a client chose can pass for a record. It is CRC-32 rather than
 * CRC-32C, because Node computes it in native code.
 */
import { crc32 } from 'node:zlib';
import {
  assert,
  cutRanges,
  extendRanges,
  type GrowingRanges,
  MarshallingError,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { z } from 'zod';
import { DISK_FORMAT } from './data-directory.js';
import { DamagedError } from './errors.js';
import { CLEARED_BYTES, type LogDirectory, type LogFile } from './key-value.js';
import { type ResourceOwner, SharedResource } from './shared-resource.js';

/** The offset of the first record: the header takes all that `LogDirectory.create` clears. */
export const RECORDS_START = CLEARED_BYTES;
/** The size of each of the header's two copies. */
const COPY_BYTES = CLEARED_BYTES / 2;
const HEADER_PREFIX_BYTES = 8;
/** The distance between remembered offsets, so that readers need not start at the beginning. */
const MARK_BYTES = 256 * 1024;

const RANGE_SCHEMA = z.object({
  epoch: z.number().int(),
  first: z.number().int(),
  last: z.number().int(),
});
const HEADER_SCHEMA = z.object({
  format: z.literal(DISK_FORMAT),
  generation: z.number().int().min(0),
  seq: z.number().int().min(0),
  /** The segment continues after this zxid. */
  base: z.number().int().min(0),
  /** The number of the segment that ends with `base`; null when the log starts here. */
  follows: z.number().int().min(0).nullable(),
  /** 16 random hex digits, part of each record's checksum. */
  salt: z.string().length(16),
  /** What the previous segment contains; null if it is unknown or too long. */
  previous: z
    .object({ bytes: z.number().int().min(0), ranges: z.array(RANGE_SCHEMA).readonly() })
    .nullable(),
});

export type SegmentHeader = Readonly<z.infer<typeof HEADER_SCHEMA>>;
/** What a segment's header says about the previous segment. */
type SegmentContents = NonNullable<SegmentHeader['previous']>;
type SharedFile = SharedResource<LogFile>;
type NewSegment = Omit<SegmentHeader, 'format'>;

const NAME = /^(\d+)-(\d+)\.log$/;

export function segmentName(generation: number, seq: number): string {
  return `${generation}-${seq}.log`;
}

export function parseSegmentName(name: string): { generation: number; seq: number } | null {
  const match = NAME.exec(name);
  return match === null ? null : { generation: Number(match[1]), seq: Number(match[2]) };
}

/** Encodes both copies. `previous` is left out if it does not fit. */
export function encodeHeader(header: NewSegment): Uint8Array {
  const bytes = Buffer.alloc(CLEARED_BYTES);
  const whole = Buffer.from(JSON.stringify({ format: DISK_FORMAT, ...header }));
  const json =
    whole.length <= COPY_BYTES - HEADER_PREFIX_BYTES
      ? whole
      : Buffer.from(JSON.stringify({ format: DISK_FORMAT, ...header, previous: null }));
  for (const start of [0, COPY_BYTES]) {
    bytes.writeUInt32BE(crc32(json), start);
    bytes.writeUInt32BE(json.length, start + 4);
    json.copy(bytes, start + HEADER_PREFIX_BYTES);
  }
  return bytes;
}

/** Null if no copy is valid: the segment was never begun or is damaged. */
export function decodeHeader(bytes: Uint8Array): SegmentHeader | null {
  return decodeCopy(bytes.subarray(0, COPY_BYTES)) ?? decodeCopy(bytes.subarray(COPY_BYTES));
}

function decodeCopy(copy: Uint8Array): SegmentHeader | null {
  if (copy.length < HEADER_PREFIX_BYTES) return null;
  const view = new DataView(copy.buffer, copy.byteOffset, copy.byteLength);
  const json = copy.subarray(HEADER_PREFIX_BYTES, HEADER_PREFIX_BYTES + view.getUint32(4));
  if (json.length === 0 || crc32(json) !== view.getUint32(0)) return null;
  const parsed = HEADER_SCHEMA.safeParse(JSON.parse(new TextDecoder().decode(json)));
  return parsed.success ? parsed.data : null;
}

/** A segment of the log that was begun; its file is open while it is written or read. */
export class Segment {
  readonly file: SharedFile;
  readonly header: SegmentHeader;
  /** The last zxid of the segment, or its base if it is empty. */
  last: Zxid;
  /** The bytes of its records. */
  bytes = 0;
  ranges: GrowingRanges = [];
  readonly #seed: number;
  /** The open file; null if an earlier process began the segment, or after `endAppending`. */
  #appended: LogFile | null = null;
  /** In ascending order: the record at `offset` begins with the proposal after `after`. */
  readonly #marks: { readonly after: Zxid; readonly offset: number }[] = [];

  constructor(file: SharedFile, header: SegmentHeader) {
    this.file = file;
    this.header = header;
    this.last = header.base;
    this.#seed = seedOf(header.salt);
  }

  /** Makes the file a segment and pins it. The header is durable when resolved. */
  static async begin(directory: LogDirectory, file: LogFile, header: NewSegment): Promise<Segment> {
    await file.write(0, [encodeHeader(header)]);
    const name = segmentName(header.generation, header.seq);
    const shared = SharedResource.pinned(ownerOf(directory), name, file);
    const segment = new Segment(shared, { format: DISK_FORMAT, ...header });
    segment.#appended = file;
    return segment;
  }

  /** Takes over its contents from the next segment's header, so that it need not be read. */
  adopt(last: Zxid, { bytes, ranges }: SegmentContents): void {
    this.last = last;
    this.bytes = bytes;
    this.ranges = ranges.map((range) => ({ ...range }));
  }

  get name(): string {
    return this.file.name;
  }
  /** Whether it may be appended to: this process began it and has begun no other one since. */
  get isAppendable(): boolean {
    return this.#appended !== null;
  }
  get seq(): number {
    return this.header.seq;
  }
  get base(): Zxid {
    return this.header.base;
  }
  /** The offset of the next record. */
  get end(): number {
    return RECORDS_START + this.bytes;
  }

  /** Appends batches in one synced write. The caller has checked the chain. */
  async append(batches: readonly ProposalBatch[], bytesMax: number): Promise<void> {
    const file = this.#appended;
    assert(file !== null, () => `${this.name} is appendable`);
    const parts: Uint8Array[] = [];
    let offset = this.end;
    const records = recordsOf(batches, bytesMax);
    for (const [index, record] of records.entries()) {
      const payload = record.map(({ bytes }) => bytes);
      const at = { seed: this.#seed, offset, isFirst: index === 0 };
      for (const part of recordParts(payload, at)) {
        parts.push(part);
        offset += part.length;
      }
    }
    await file.write(this.end, parts);
    for (const record of records) this.count(record);
    assert(this.end === offset, 'what was written is what was counted');
  }

  /** The segment is no longer appended to. Its file is closed once its readers have ended. */
  async endAppending(): Promise<void> {
    this.#appended = null;
    await this.file.unpin();
  }

  /** Takes the batches of the next record into account: the last zxid, the ranges, the size. */
  count(record: readonly ProposalBatch[]): void {
    if (this.end - (this.#marks.at(-1)?.offset ?? 0) >= MARK_BYTES) {
      this.#marks.push({ after: this.last, offset: this.end });
    }
    let payloadBytes = 0;
    for (const batch of record) {
      payloadBytes += batch.bytes.length;
      for (const { first, last } of batch.ranges()) extendRanges(this.ranges, first, last);
      this.last = batch.last;
    }
    this.bytes += recordBytes(payloadBytes);
  }

  /** Cuts off everything after `after`, which is void from now on. Its bytes stay. */
  cut(after: Zxid): void {
    this.last = after;
    cutRanges(this.ranges, after);
  }

  /**
   * Returns the offset of a record at or before the one that contains the proposal after `after`.
   */
  offsetBefore(after: Zxid): number {
    return this.#marks.findLast((mark) => mark.after <= after)?.offset ?? RECORDS_START;
  }
}

/** Reads the header of a file; null if there is none, or it cannot be read. */
export async function readHeader(file: LogFile, name: string): Promise<SegmentHeader | null> {
  // Each copy is read separately, because a sector of the other one may be unreadable.
  const header =
    decodeCopy(await readCopy(file, 0)) ?? decodeCopy(await readCopy(file, COPY_BYTES));
  return header !== null && segmentName(header.generation, header.seq) === name ? header : null;
}

async function readCopy(file: LogFile, start: number): Promise<Uint8Array> {
  try {
    return await file.read(start, COPY_BYTES);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    return new Uint8Array();
  }
}

/** Opens files on demand. */
export function ownerOf(directory: LogDirectory): ResourceOwner<LogFile> {
  return {
    open: (name) => directory.open(name),
    destroy: (name) => directory.remove(name),
  };
}

/** Divides batches into records of at most `bytesMax`, or of one larger proposal. */
export function recordsOf(
  batches: readonly ProposalBatch[],
  bytesMax: number,
): readonly (readonly ProposalBatch[])[] {
  const records: ProposalBatch[][] = [];
  let record: ProposalBatch[] = [];
  let bytes = 0;
  for (const batch of batches) {
    for (let after = batch.previous; after < batch.last; ) {
      const piece = batch.part(after, batch.last, bytesMax);
      assert(piece !== null, 'a part has one proposal at least');
      if (records.length === 0 || bytes + piece.bytes.length > bytesMax) {
        record = [];
        records.push(record);
        bytes = 0;
      }
      record.push(piece);
      bytes += piece.bytes.length;
      after = piece.last;
    }
  }
  return records;
}

const HEADER_BYTES = 16;
const ALIGNMENT = 8;
/** The record is the first one of its write, so everything before it was durable by then. */
const FIRST_OF_WRITE = 1;
const READ_BYTES = 256 * 1024;

interface LogRecord {
  readonly offset: number;
  /** The offset of the next record. */
  readonly end: number;
  readonly isFirstOfWrite: boolean;
  readonly payload: Uint8Array;
}

/** The bytes of the file that a record with such a payload takes. */
function recordBytes(payloadBytes: number): number {
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
   * durable, and are damaged. Otherwise they are an incomplete write that was never acknowledged.
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

/** Parses a record; `at` says where it is. Throws DamagedError. */
export function storedBatch(at: string, bytes: Uint8Array): ProposalBatch {
  try {
    return ProposalBatch.parse(bytes);
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    throw new DamagedError(`${at} is not understood: ${error.message}`, { cause: error });
  }
}

/** Joins consecutive batches until they have about `bytesMax`. */
export class BatchJoiner {
  readonly #bytesMax: number;
  #parts: ProposalBatch[] = [];
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The joined batch once it is large enough; otherwise null. */
  add(part: ProposalBatch): ProposalBatch | null {
    this.#parts.push(part);
    this.#bytes += part.bytes.length;
    return this.#bytes >= this.#bytesMax ? this.take() : null;
  }

  /** The rest; null if there is none. */
  take(): ProposalBatch | null {
    if (this.#parts.length === 0) return null;
    const batch = ProposalBatch.join(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return batch;
  }
}
