/**
 * Computes the hashes of the digest: 32 bits of a path, and 64 bits of everything that a znode has.
 *
 * They have no key, so that every member computes the same. They find accidents (a replica that
 * diverged, a damaged record) and not adversaries: nothing is ever looked up by them (see
 * path-hash.ts). The 64-bit hash consists of two chains in the manner of MurmurHash3 side by side,
 * because Math.imul is the only multiplication that is fast in JavaScript. Their results must never
 * change, because digests are stored.
 */

const PATH_SEED = 0x811c9dc5 | 0;
/** Has a bit set in each byte of a word that is not ASCII. */
const NOT_ASCII = 0x80808080 | 0;
const PATH_PRIME = 0x9e3779b1 | 0;
const PATH_PRIME_2 = Math.imul(PATH_PRIME, PATH_PRIME);
const PATH_PRIME_3 = Math.imul(PATH_PRIME_2, PATH_PRIME);
const PATH_PRIME_4 = Math.imul(PATH_PRIME_2, PATH_PRIME_2);

/** A polynomial of the code units, so that several of them can be processed in one step. */
export function hashPath(path: string): number {
  return finish(hashPrefix(path));
}

/** Like `hashPath`, for a string that is given as UTF-8 bytes. */
export function hashPathBytes(bytes: DataView, start: number, end: number): number {
  let hash = PATH_SEED;
  let seen = 0;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = bytes.getInt32(at, true);
    seen |= word;
    const first = Math.imul(word & 0xff, PATH_PRIME_3) | 0;
    const second = Math.imul((word >>> 8) & 0xff, PATH_PRIME_2) | 0;
    const third = Math.imul((word >>> 16) & 0xff, PATH_PRIME) | 0;
    hash = (Math.imul(hash, PATH_PRIME_4) + first + second + third + (word >>> 24)) | 0;
  }
  for (; at < end; at++) {
    const byte = bytes.getUint8(at);
    seen |= byte;
    hash = (Math.imul(hash, PATH_PRIME) + byte) | 0;
  }
  return (seen & NOT_ASCII) === 0 ? finish(hash) : hashPath(textAt(bytes, start, end));
}

export function textAt(bytes: DataView, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

/** The hash of the beginning of a path, from which `hashName` continues. */
export function hashPrefix(prefix: string): number {
  let hash = PATH_SEED;
  for (let i = 0; i < prefix.length; i++) {
    hash = (Math.imul(hash, PATH_PRIME) + prefix.charCodeAt(i)) | 0;
  }
  return hash;
}

/** The hash of a path, from that of its prefix and the code units of the rest. */
export function hashName(prefixHash: number, { bytes, start, end, unitBytes }: NameBytes): number {
  let hash = prefixHash;
  for (let i = start; i < end; i += unitBytes) {
    hash = (Math.imul(hash, PATH_PRIME) + unitAt(bytes, i, unitBytes)) | 0;
  }
  return finish(hash);
}

/** The name of a znode as it is stored: ASCII with one byte a unit, or UTF-16 with two. */
export interface NameBytes {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly unitBytes: 1 | 2;
}

/** From this length on a view of the bytes pays: it reads a word in half the time. */
const VIEWED_BYTES_MIN = 512;

/** The place to which words are copied. */
export interface WordsTarget {
  readonly words: Int32Array;
  readonly at: number;
}

function unitAt(bytes: Uint8Array, at: number, unitBytes: 1 | 2): number {
  const low = bytes[at] ?? 0;
  return unitBytes === 1 ? low : low | ((bytes[at + 1] ?? 0) << 8);
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

function mixLow(hash: number, word: number): number {
  const k = Math.imul(word, 0xcc9e2d51);
  const mixed = hash ^ Math.imul((k << 15) | (k >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

function mixHigh(hash: number, word: number): number {
  const k = Math.imul(word, 0x9e3779b1);
  const mixed = hash ^ Math.imul((k << 16) | (k >>> 16), 0x85ebca77);
  return (Math.imul((mixed << 11) | (mixed >>> 21), 9) + 0x27d4eb2f) | 0;
}

/**
 * Feed it, call `finish`, read `low` and `high`. One object is reused for everything: no
 * allocation.
 */
export class Hasher {
  low = 0;
  high = 0;

  reset(seed: number): void {
    this.low = seed;
    this.high = ~seed;
  }
  word(word: number): void {
    this.low = mixLow(this.low, word);
    this.high = mixHigh(this.high, word);
  }
  /** Takes a safe integer, or any number that fits 53 bits and a sign. */
  number(value: number): void {
    this.word(value | 0);
    this.word(Math.floor(value / 0x1_0000_0000) | 0);
  }
  /**
   * Like `bytes`, for bytes in words from the word `at` on. Bytes after the last one do not count.
   */
  packed(from: Int32Array, at: number, size: number): void {
    const end = at + (size >>> 2);
    this.words(from, at, end);
    this.#lastOf(from, end, size);
  }
  /** Like `packed`, and copies the words, the last one as a whole. */
  packedCopy(from: Int32Array, at: number, size: number, to: WordsTarget): void {
    const count = size >>> 2;
    this.copied(from, at, count, to);
    if ((size & 3) > 0) to.words[to.at + count] = from[at + count] ?? 0;
    this.#lastOf(from, at + count, size);
  }
  /** Like `words`, and copies them. */
  copied(from: Int32Array, start: number, count: number, to: WordsTarget): void {
    const { words, at } = to;
    let low = this.low;
    let high = this.high;
    for (let i = 0; i < count; i++) {
      const word = from[start + i] ?? 0;
      words[at + i] = word;
      low = mixLow(low, word);
      high = mixHigh(high, word);
    }
    this.low = low;
    this.high = high;
  }
  words(from: Int32Array, start: number, end: number): void {
    let low = this.low;
    let high = this.high;
    for (let i = start; i < end; i++) {
      const word = from[i] ?? 0;
      low = mixLow(low, word);
      high = mixHigh(high, word);
    }
    this.low = low;
    this.high = high;
  }
  /** The bytes of an incomplete last word count as one word, filled up with zeros. */
  bytes(from: Uint8Array, start = 0, end = from.length): void {
    let low = this.low;
    let high = this.high;
    const whole = start + ((end - start) & -4);
    if (whole - start < VIEWED_BYTES_MIN) {
      for (let i = start; i < whole; i += 4) {
        const word = wordAt(from, i);
        low = mixLow(low, word);
        high = mixHigh(high, word);
      }
    } else {
      const view = new DataView(from.buffer, from.byteOffset);
      for (let i = start; i < whole; i += 4) {
        const word = view.getInt32(i, true);
        low = mixLow(low, word);
        high = mixHigh(high, word);
      }
    }
    this.low = low;
    this.high = high;
    let last = 0;
    for (let i = whole; i < end; i++) last |= (from[i] ?? 0) << (8 * (i - whole));
    if (whole < end) this.word(last);
    this.word(end - start);
  }
  /** Adds the rest of an incomplete word, and the size. */
  #lastOf(from: Int32Array, end: number, size: number): void {
    const left = size & 3;
    if (left > 0) this.word((from[end] ?? 0) & ((1 << (8 * left)) - 1));
    this.word(size);
  }
  finish(): void {
    this.low = finish(this.low);
    this.high = finish(this.high);
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
  return low | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}
