/**
 * The log on a disk that no process uses: the content of its files, and damage that must be
 * noticed.
 *
 * It parses the format by itself (server/src/storage/log-segment.ts defines it), because the
 * server's reader waits for a disk. Every damage done here can be told from a crash, or loses
 * nothing: it spares the newest write unless the meta record says that the log has reached it. Only
 * `flipLast` does not.
 */
import { crc32 } from 'node:zlib';
import { ProposalBatch, type Zxid } from '@rookery/protocol';
import {
  decodeHeader,
  type MemoryLogDirectory,
  parseSegmentName,
  RECORDS_START,
  recordParts,
  type SegmentHeader,
  seedOf,
} from '../../simulated.js';

/** What the meta record says about it. */
export interface KnownOfLog {
  readonly generation: number;
  /** The newest segment that was begun; -1 if that is not known. */
  readonly logSeq: number;
  /** The log has reached this zxid. */
  readonly recordedZxid: Zxid;
}

interface StoredRecord {
  readonly offset: number;
  readonly end: number;
  readonly isFirstOfWrite: boolean;
  readonly batch: ProposalBatch;
  /** The zxid of its first proposal. */
  readonly first: Zxid;
}

interface StoredSegment {
  readonly name: string;
  readonly header: SegmentHeader;
  /** The records that are not void. */
  readonly records: readonly StoredRecord[];
  /** Damage before this offset is noticed. */
  readonly provenEnd: number;
}

interface Place {
  readonly name: string;
  readonly offset: number;
  readonly length: number;
}

export interface FlippedLast {
  /** The last proposal in front of the damage. */
  readonly keeps: Zxid;
  /** Whether the meta record says that the log had reached what is damaged. */
  readonly isRecorded: boolean;
}

const SECTOR_BYTES = 512;
const RECORD_HEADER_BYTES = 16;
const COPY_BYTES = RECORDS_START / 2;
const COPY_HEADER_BYTES = 8;

export class StoredLog {
  readonly #log: MemoryLogDirectory;
  readonly #known: KnownOfLog;
  readonly #chain: readonly StoredSegment[];

  constructor(log: MemoryLogDirectory, known: KnownOfLog) {
    this.#log = log;
    this.#known = known;
    const headers = chainOf(log, known);
    this.#chain = headers.map((header, index) => this.#segmentOf(header, headers[index + 1]));
  }

  /** Records that are not void, in all segments. */
  get recordCount(): number {
    return this.#chain.reduce((sum, { records }) => sum + records.length, 0);
  }

  /** The last proposal; 0 if that is not known. */
  get last(): Zxid {
    const newest = this.#chain.at(-1);
    return newest?.records.at(-1)?.batch.last ?? newest?.header.base ?? 0;
  }

  /**
   * Replaces proposals by others of the same size: `change` gets a copy of the bytes of each record
   * and returns whether it has changed them. The checksums are right again.
   */
  rewrite(change: (batch: ProposalBatch) => boolean): void {
    for (const { name, header, records } of this.#chain) {
      for (const { offset, isFirstOfWrite, batch } of records) {
        const copy = ProposalBatch.parse(Uint8Array.from(batch.bytes));
        if (!change(copy)) continue;
        const at = { seed: seedOf(header.salt), offset, isFirst: isFirstOfWrite };
        this.#put(name, offset, recordParts([copy.bytes], at));
      }
    }
  }

  /** Writes one more record. False if a segment was begun that contains nothing yet. */
  append(batch: ProposalBatch): boolean {
    const newest = this.#chain.at(-1);
    if (newest === undefined || this.#hasUnrecordedSegment()) return false;
    const { name, header, records } = newest;
    const offset = records.at(-1)?.end ?? RECORDS_START;
    const at = { seed: seedOf(header.salt), offset, isFirst: true };
    // Whatever else is there was never part of the log.
    this.#log.tamper(name, (bytes) => bytes.fill(0, offset));
    this.#put(name, offset, recordParts([batch.bytes], at));
    return true;
  }

  /** Flips one bit of a copy of a header, or of a record. False if there is none to flip. */
  flipBit(which: number, whichBit: number): boolean {
    const places = this.#chain.flatMap((segment) => this.#placesIn(segment));
    const place = places[Math.floor(which * places.length)];
    if (place === undefined) return false;
    this.#flipIn(place, whichBit);
    return true;
  }

  /** Flips one bit of a record of the newest write. Null if there is no write. */
  flipLast(which: number, whichBit: number): FlippedLast | null {
    const newest = this.#chain.at(-1);
    if (newest === undefined) return null;
    const { name, header, records } = newest;
    const first = records.findLastIndex(({ isFirstOfWrite }) => isFirstOfWrite);
    if (first < 0) return null;
    const index = first + Math.floor(which * (records.length - first));
    const record = records[index];
    if (record === undefined) return null;
    const { offset, end } = record;
    this.#flipIn({ name, offset, length: end - offset }, whichBit);
    const keeps = records[index - 1]?.batch.last ?? header.base;
    return { keeps, isRecorded: this.#isKnown(record) };
  }

  #flipIn(place: Place, whichBit: number): void {
    const bit = Math.floor(whichBit * place.length * 8);
    this.#log.tamper(place.name, (bytes) => {
      const at = place.offset + (bit >>> 3);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
      return bytes;
    });
  }

  /** Makes the header of a segment read as zeros that others follow. False if there is none. */
  loseHeader(which: number): boolean {
    const followed = this.#chain.slice(0, -1);
    // Mostly an old one, which only learners could need.
    const lost = followed[Math.floor(which ** 2 * followed.length)];
    if (lost === undefined) return false;
    this.#log.tamper(lost.name, (bytes) => bytes.fill(0, 0, RECORDS_START));
    return true;
  }

  /** Makes consecutive sectors read as zeros. False if there are none to lose. */
  loseSectors(which: number, howMany: number): boolean {
    const starts = this.#chain.flatMap((segment) => this.#sectorsIn(segment));
    const start = starts[Math.floor(which * starts.length)];
    if (start === undefined) return false;
    // Mostly few.
    const count = Math.ceil(howMany ** 3 * (start.length / SECTOR_BYTES));
    const end = start.offset + Math.max(1, count) * SECTOR_BYTES;
    this.#log.tamper(start.name, (bytes) => bytes.fill(0, start.offset, end));
    return true;
  }

  /**
   * From some record on that the log is known to have contained, or from some segment on, the files
   * become what an older copy contains. False if the log is not known to have contained anything.
   */
  cut(how: number): boolean {
    if (how >= 0.75) return this.#loseSegments(4 * how - 3);
    return this.#cutAtRecord(how / 0.75);
  }

  #loseSegments(which: number): boolean {
    const lost = this.#chain.slice(Math.floor(which * this.#chain.length));
    for (const { name } of lost) this.#log.tamper(name, () => new Uint8Array(0));
    return lost.length > 0;
  }

  #cutAtRecord(how: number): boolean {
    const known = this.#chain.flatMap((segment, index) =>
      segment.records.filter((one) => this.#isKnown(one)).map(({ offset }) => ({ index, offset })),
    );
    const newest = known.filter(({ index }) => index === this.#chain.length - 1);
    const [places, die] = how < 0.5 && newest.length > 0 ? [newest, 2 * how] : [known, how];
    const place = places[Math.floor(die * places.length)];
    if (place === undefined) return false;
    // The files existed without content, or did not exist yet.
    const [isShorter, keepsHeaders] = [(how * 100) % 2 < 1, (how * 1000) % 2 < 1];
    for (const [index, { name, records }] of this.#chain.entries()) {
      if (index < place.index) continue;
      // A file without any known content must be missed because of its header.
      const isMissed = keepsHeaders && records.some((one) => this.#isKnown(one));
      const later = isMissed ? RECORDS_START : 0;
      const from = index === place.index ? place.offset : later;
      this.#log.tamper(name, (bytes) => (isShorter ? bytes.slice(0, from) : bytes.fill(0, from)));
    }
    return true;
  }

  #hasUnrecordedSegment(): boolean {
    const { generation, logSeq } = this.#known;
    return this.#log.names().some((name) => {
      const parsed = parseSegmentName(name);
      return parsed !== null && parsed.generation === generation && parsed.seq > logSeq;
    });
  }

  #put(name: string, offset: number, parts: readonly Uint8Array[]): void {
    const record = Buffer.concat(parts);
    this.#log.tamper(name, (bytes) => {
      const longer = new Uint8Array(Math.max(bytes.length, offset + record.length));
      longer.set(bytes);
      longer.set(record, offset);
      return longer;
    });
  }

  #isKnown({ first }: StoredRecord): boolean {
    return first <= this.#known.recordedZxid;
  }

  #segmentOf(header: SegmentHeader, next: SegmentHeader | undefined): StoredSegment {
    const name = nameOf(header);
    const all = recordsIn(this.#log.bytesOf(name), header.salt);
    if (next !== undefined) {
      const records = all.filter(({ first }) => first <= next.base);
      return { name, header, records, provenEnd: records.at(-1)?.end ?? RECORDS_START };
    }
    const newestWrite = all.findLast(({ isFirstOfWrite }) => isFirstOfWrite);
    const known = all.findLast((record) => this.#isKnown(record));
    const provenEnd = Math.max(newestWrite?.offset ?? RECORDS_START, known?.end ?? 0);
    return { name, header, records: all, provenEnd };
  }

  #placesIn({ name, records, provenEnd }: StoredSegment): readonly Place[] {
    const bytes = this.#log.bytesOf(name);
    const copies = [0, COPY_BYTES].filter((at) => decodeHeader(copyAt(bytes, at)) !== null);
    const headers = copies.map((offset) => {
      const length = COPY_HEADER_BYTES + bufferOf(bytes).readUInt32BE(offset + 4);
      return { name, offset, length };
    });
    const proven = records
      .filter(({ end }) => end <= provenEnd)
      .map(({ offset, end }) => ({ name, offset, length: end - offset }));
    return [...headers, ...proven];
  }

  /** The segments that contain anything, each with everything that may be lost from there on. */
  #sectorsIn({ name, records, provenEnd }: StoredSegment): readonly Place[] {
    const isAll = provenEnd >= (records.at(-1)?.end ?? RECORDS_START);
    // A sector that contains the beginning of something else is not lost together with what
    // precedes it.
    const sectors = isAll
      ? Math.ceil(provenEnd / SECTOR_BYTES)
      : Math.floor(provenEnd / SECTOR_BYTES);
    const end = sectors * SECTOR_BYTES;
    const bytes = this.#log.bytesOf(name);
    const places: Place[] = [];
    for (let offset = 0; offset < end; offset += SECTOR_BYTES) {
      const isEmpty = bytes.subarray(offset, offset + SECTOR_BYTES).every((byte) => byte === 0);
      if (!isEmpty) places.push({ name, offset, length: end - offset });
    }
    return places;
  }
}

/**
 * The newest segment and those that it follows, oldest first. One that was begun without a mention
 * in meta contains nothing, and a crash may still undo its header, so it proves nothing either.
 */
function chainOf(log: MemoryLogDirectory, known: KnownOfLog): readonly SegmentHeader[] {
  const headers = new Map<number, SegmentHeader>();
  for (const name of log.names()) {
    const { generation = -1, seq = Number.POSITIVE_INFINITY } = parseSegmentName(name) ?? {};
    if (generation !== known.generation || seq > known.logSeq) continue;
    const header = decodeHeader(log.bytesOf(name).subarray(0, RECORDS_START));
    if (header !== null) headers.set(seq, header);
  }
  const chain: SegmentHeader[] = [];
  for (let header = headers.get(Math.max(-1, ...headers.keys())); header !== undefined; ) {
    chain.unshift(header);
    header = header.follows === null ? undefined : headers.get(header.follows);
  }
  return chain;
}

function recordsIn(bytes: Uint8Array, salt: string): readonly StoredRecord[] {
  const records: StoredRecord[] = [];
  const buffer = bufferOf(bytes);
  const seed = crc32(salt);
  for (let offset = RECORDS_START; offset + RECORD_HEADER_BYTES <= bytes.length; ) {
    const length = buffer.readUInt32BE(offset + 4);
    const payload = buffer.subarray(offset + RECORD_HEADER_BYTES).subarray(0, length);
    const covered = buffer.subarray(offset + 4, offset + RECORD_HEADER_BYTES);
    if (buffer.readUInt32BE(offset) !== crc32(covered, (seed ^ offset) >>> 0)) break;
    if (buffer.readUInt32BE(offset + 12) !== crc32(payload)) break;
    const end = Math.ceil((offset + RECORD_HEADER_BYTES + length) / 8) * 8;
    const isFirstOfWrite = buffer.readUInt32BE(offset + 8) === 1;
    const batch = ProposalBatch.parse(payload);
    records.push({ offset, end, isFirstOfWrite, batch, first: batch.first });
    offset = end;
  }
  return records;
}

function nameOf({ generation, seq }: SegmentHeader): string {
  return `${generation}-${seq}.log`;
}

function copyAt(bytes: Uint8Array, at: number): Uint8Array {
  return bytes.subarray(at, at + COPY_BYTES);
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
