/**
 * Stores the name and the data of each znode, side by side in one slot of the slabs.
 *
 * A name is stored as ASCII where possible, otherwise as UTF-16 code units, so that comparing it
 * with a path never decodes anything. The full path is not stored: it is the names from the root
 * down. Called by Tree, which keeps the digest and the counts.
 */
import type { JuteWriter } from '@rookery/protocol';
import { DataSlabs, PayloadCompaction } from './data-slabs.js';
import type { Hasher, NameBytes } from './hash.js';
import { FLAG, INT, makeShape, modeOf, NONE, type NodeStore, nameBytesOf } from './node-store.js';

const ASCII_MAX = 0x7f;
const SLASH = 0x2f;
/** Longer bytes are encoded faster by `JuteWriter.buffer`, although it needs a subarray. */
const WITHIN_BYTES_MAX = 512;
/**
 * Up to about this size, a loop over words is faster than a call into the runtime, with the view
 * that it makes.
 */
const WORDS_BYTES_MAX = 512;
/** Up to this size, data is copied faster word by word, by the DataViews of both. */
const VIEW_BYTES_MAX = 512;
const EMPTY = Buffer.alloc(0);

/** The place of the data. */
export interface DataRange {
  readonly source: Buffer;
  /** A DataView of the same bytes. */
  readonly sourceView: DataView;
  readonly dataStart: number;
  /** -1 for null. */
  readonly dataBytes: number;
}

/** The places of an ASCII name, and of the data. */
export interface NamedRange extends DataRange {
  readonly bytes: Buffer;
  readonly nameStart: number;
  readonly pathEnd: number;
}

/** The memory of records, as words and as bytes, and the index of a word in it. */
export interface RecordPart {
  readonly words: Int32Array;
  readonly bytes: Buffer;
  readonly at: number;
}

export class Payloads {
  readonly #store: NodeStore;
  readonly #slabs = new DataSlabs();
  readonly #compaction: PayloadCompaction;

  constructor(store: NodeStore) {
    this.#store = store;
    this.#compaction = new PayloadCompaction(store, this.#slabs);
  }

  /** Called after each transaction: one step of giving back memory that is mostly free. */
  compactSome(): void {
    this.#compaction.step();
  }

  get reservedBytes(): number {
    return this.#slabs.reservedBytes;
  }

  /** For a fresh row: stores the last segment of `path` as its name, followed by the data. */
  write(node: number, path: string, data: Uint8Array | null): void {
    const store = this.#store;
    const start = path.lastIndexOf('/') + 1;
    const wide = hasWideFrom(path, start);
    const nameBytes = (path.length - start) * (wide ? 2 : 1);
    const mode = modeOf(store.int(node, INT.shape));
    const flags = wide ? FLAG.wide : 0;
    store.setInt(node, INT.shape, makeShape({ nameBytes, mode, flags }));
    store.setInt(node, INT.dataBytes, data === null ? NONE : data.length);
    store.setInt(node, INT.location, NONE);
    const needed = nameBytes + (data === null ? 0 : data.length);
    if (needed === 0) {
      return;
    }
    const location = this.#slabs.allocate(needed);
    store.setInt(node, INT.location, location);
    const bytes = this.#slabs.bytes(location);
    let at = this.#slabs.offset(location);
    for (let i = start; i < path.length; i++) {
      const unit = path.charCodeAt(i);
      bytes[at++] = unit & 0xff;
      if (wide) {
        bytes[at++] = unit >>> 8;
      }
    }
    if (data !== null) {
      bytes.set(data, at);
    }
  }

  /** Like `write`. */
  writeView(node: number, op: NamedRange): void {
    const store = this.#store;
    const nameBytes = op.pathEnd - op.nameStart;
    const mode = modeOf(store.int(node, INT.shape));
    store.setInt(node, INT.shape, makeShape({ nameBytes, mode, flags: 0 }));
    store.setInt(node, INT.dataBytes, op.dataBytes);
    const location = this.#slabs.allocate(nameBytes + Math.max(0, op.dataBytes));
    store.setInt(node, INT.location, location);
    const bytes = this.#slabs.bytes(location);
    let at = this.#slabs.offset(location);
    for (let i = op.nameStart; i < op.pathEnd; i++) {
      bytes[at++] = op.bytes[i] ?? 0;
    }
    this.#copyView(op, location, at);
  }

  /**
   * For a row that has the lengths of its name and data, but no memory yet: copies both from a
   * record, and hashes them as `hash` does.
   */
  copyFrom(node: number, size: number, { words, bytes, at }: RecordPart, hasher: Hasher): void {
    const slabs = this.#slabs;
    const location = size === 0 ? NONE : slabs.allocate(size);
    this.#store.setInt(node, INT.location, location);
    if (size === 0) {
      return;
    }
    const to = slabs.words(location);
    const start = slabs.offset(location);
    if (to === null || size > WORDS_BYTES_MAX) {
      bytes.copy(slabs.bytes(location), start, 4 * at, 4 * at + size);
      hasher.packed(words, at, size);
    } else {
      hasher.packedCopy(words, at, size, { words: to, at: start >>> 2 });
    }
  }

  /** Copies the first `size` bytes of name and data. The rest of their last word is undefined. */
  copyTo(node: number, size: number, { words, bytes, at }: RecordPart): void {
    if (size === 0) {
      return;
    }
    const slabs = this.#slabs;
    const location = this.#store.int(node, INT.location);
    const from = slabs.words(location);
    const start = slabs.offset(location);
    if (from === null || size > WORDS_BYTES_MAX) {
      slabs.bytes(location).copy(bytes, 4 * at, start, start + size);
    } else {
      const end = at + ((size + 3) >>> 2);
      for (let to = at, own = start >>> 2; to < end; to++, own++) words[to] = from[own] ?? 0;
    }
  }

  /** Hashes the first `size` bytes of name and data, like `Hasher.bytes`. */
  hash(node: number, size: number, hasher: Hasher): void {
    if (size === 0) {
      return;
    }
    const slabs = this.#slabs;
    const location = this.#store.int(node, INT.location);
    const words = slabs.words(location);
    const start = slabs.offset(location);
    if (words === null) {
      hasher.bytes(slabs.bytes(location), start, start + size);
    } else {
      hasher.packed(words, start >>> 2, size);
    }
  }

  replaceData(node: number, data: Uint8Array | null): void {
    const location = this.#makeRoom(node, data === null ? NONE : data.length);
    if (data !== null && data.length > 0) {
      const nameBytes = nameBytesOf(this.#store.int(node, INT.shape));
      this.#slabs.bytes(location).set(data, this.#slabs.offset(location) + nameBytes);
    }
  }

  replaceDataView(node: number, data: DataRange): void {
    const location = this.#makeRoom(node, data.dataBytes);
    if (data.dataBytes > 0) {
      const nameBytes = nameBytesOf(this.#store.int(node, INT.shape));
      this.#copyView(data, location, this.#slabs.offset(location) + nameBytes);
    }
  }

  free(node: number): void {
    const location = this.#store.int(node, INT.location);
    if (location !== NONE) {
      this.#slabs.free(location);
    }
  }

  data(node: number): Uint8Array | null {
    const size = this.#store.int(node, INT.dataBytes);
    if (size <= 0) {
      return size === 0 ? EMPTY : null;
    }
    const location = this.#store.int(node, INT.location);
    const start = this.#slabs.offset(location) + nameBytesOf(this.#store.int(node, INT.shape));
    return this.#slabs.bytes(location).subarray(start, start + size);
  }

  /** Writes the data as a jute buffer. */
  encodeData(node: number, writer: JuteWriter): void {
    const size = this.#store.int(node, INT.dataBytes);
    if (size <= 0 || size > WITHIN_BYTES_MAX) return writer.buffer(this.data(node));
    const location = this.#store.int(node, INT.location);
    const view = this.#slabs.view(location);
    if (view === null) return writer.buffer(this.data(node));
    const start = this.#slabs.offset(location) + nameBytesOf(this.#store.int(node, INT.shape));
    writer.int(size);
    writer.rawWithin(view, start, size);
  }

  name(node: number): string {
    const shape = this.#store.int(node, INT.shape);
    const size = nameBytesOf(shape);
    if (size === 0) {
      return '';
    }
    const location = this.#store.int(node, INT.location);
    const start = this.#slabs.offset(location);
    const encoding = (shape & FLAG.wide) === 0 ? 'latin1' : 'utf16le';
    return this.#slabs.bytes(location).toString(encoding, start, start + size);
  }

  /** Compares the name of a node with a text by their code units: below, at or above 0. */
  compareName(node: number, text: string): number {
    const shape = this.#store.int(node, INT.shape);
    const isWide = (shape & FLAG.wide) !== 0;
    const location = this.#store.int(node, INT.location);
    const bytes = this.#slabs.bytes(location);
    const start = this.#slabs.offset(location);
    const length = isWide ? nameBytesOf(shape) >>> 1 : nameBytesOf(shape);
    const common = Math.min(length, text.length);
    for (let i = 0; i < common; i++) {
      const unit = isWide
        ? (bytes[start + 2 * i] ?? 0) | ((bytes[start + 2 * i + 1] ?? 0) << 8)
        : (bytes[start + i] ?? 0);
      const difference = unit - text.charCodeAt(i);
      if (difference !== 0) return difference;
    }
    return length - text.length;
  }

  /** Writes the name as a jute string. */
  encodeName(node: number, writer: JuteWriter): void {
    const shape = this.#store.int(node, INT.shape);
    if ((shape & FLAG.wide) !== 0) {
      writer.string(this.name(node));
      return;
    }
    const location = this.#store.int(node, INT.location);
    const start = this.#slabs.offset(location);
    const size = nameBytesOf(shape);
    const view = this.#slabs.view(location);
    if (view === null || size > WITHIN_BYTES_MAX) {
      writer.buffer(this.#slabs.bytes(location).subarray(start, start + size));
      return;
    }
    writer.int(size);
    writer.rawWithin(view, start, size);
  }

  /**
   * The index at which the name of `node` starts in `path`, if the name is right before `end` and a
   * slash is before it; otherwise NONE.
   */
  nameStart(node: number, path: string, end: number): number {
    const shape = this.#store.int(node, INT.shape);
    const wide = (shape & FLAG.wide) !== 0;
    const start = end - (wide ? nameBytesOf(shape) >>> 1 : nameBytesOf(shape));
    if (start < 1 || path.charCodeAt(start - 1) !== SLASH) {
      return NONE;
    }
    const location = this.#store.int(node, INT.location);
    const bytes = this.#slabs.bytes(location);
    let at = this.#slabs.offset(location);
    for (let i = start; i < end; i++) {
      let unit = bytes[at++] ?? 0;
      if (wide) {
        unit |= (bytes[at++] ?? 0) << 8;
      }
      if (unit !== path.charCodeAt(i)) {
        return NONE;
      }
    }
    return start;
  }

  /** Like `nameStart`, for a path of ASCII bytes that begins at `from`. */
  asciiNameStart(node: number, path: DataView, from: number, end: number): number {
    const ints = this.#store.intPage(node);
    const row = this.#store.intBase(node);
    const shape = ints[row + INT.shape] ?? 0;
    const size = nameBytesOf(shape);
    const start = end - size;
    if (start <= from || (shape & FLAG.wide) !== 0) return NONE;
    if (path.getUint8(start - 1) !== SLASH) return NONE;
    return this.#slabs.has(ints[row + INT.location] ?? NONE, path, start, size) ? start : NONE;
  }

  hasName(node: number, { bytes, start, end, unitBytes }: NameBytes): boolean {
    const shape = this.#store.int(node, INT.shape);
    const isWide = (shape & FLAG.wide) !== 0;
    if (nameBytesOf(shape) !== end - start || isWide !== (unitBytes === 2)) {
      return false;
    }
    const location = this.#store.int(node, INT.location);
    const own = this.#slabs.bytes(location);
    const ownStart = this.#slabs.offset(location);
    return own.compare(bytes, start, end, ownStart, ownStart + end - start) === 0;
  }

  /** Makes room for the data after the name, -1 for null. Returns the location. */
  #makeRoom(node: number, dataBytes: number): number {
    const store = this.#store;
    const nameBytes = nameBytesOf(store.int(node, INT.shape));
    const needed = nameBytes + Math.max(0, dataBytes);
    const old = store.int(node, INT.location);
    const stays = old === NONE ? needed === 0 : needed > 0 && this.#slabs.fits(old, needed);
    const location = stays ? old : this.#move(old, nameBytes, needed);
    store.setInt(node, INT.location, location);
    store.setInt(node, INT.dataBytes, dataBytes);
    return location;
  }

  #copyView(data: DataRange, location: number, at: number): void {
    const { source, sourceView, dataStart, dataBytes } = data;
    const to = this.#slabs.view(location);
    if (to === null || dataBytes > VIEW_BYTES_MAX) {
      source.copy(this.#slabs.bytes(location), at, dataStart, dataStart + Math.max(0, dataBytes));
      return;
    }
    const words = dataBytes & -4;
    for (let done = 0; done < words; done += 4) {
      to.setInt32(at + done, sourceView.getInt32(dataStart + done, true), true);
    }
    for (let done = Math.max(0, words); done < dataBytes; done++) {
      to.setUint8(at + done, sourceView.getUint8(dataStart + done));
    }
  }

  /** Returns a slot of `needed` bytes that begins with the name of the old one, which is freed. */
  #move(old: number, nameBytes: number, needed: number): number {
    const slabs = this.#slabs;
    const location = needed === 0 ? NONE : slabs.allocate(needed);
    if (old !== NONE) {
      if (location !== NONE) {
        const from = slabs.offset(old);
        const to = slabs.bytes(location);
        slabs.bytes(old).copy(to, slabs.offset(location), from, from + nameBytes);
      }
      slabs.free(old);
    }
    return location;
  }
}

function hasWideFrom(path: string, start: number): boolean {
  for (let i = start; i < path.length; i++) {
    if (path.charCodeAt(i) > ASCII_MAX) {
      return true;
    }
  }
  return false;
}
