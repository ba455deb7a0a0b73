/**
 * Computes the hash that finds znodes: HalfSipHash-1-3 of the UTF-8 of a path, with a secret key.
 *
 * Clients choose paths. With a public hash they could choose thousands that are in one chain of the
 * index, and every lookup would walk it. SipHash (Aumasson and Bernstein, 2012) is designed so that
 * collisions cannot be found without the key. This is its form for 32-bit words,
 * with the rounds that hash tables use. The key is drawn at random when a member starts and never
 * leaves it: the hash is neither stored nor sent, and differs between members. The digest, on which
 * all members must agree, has its own hash without a key (hash.ts). Used by PathFinder with
 * LastDirectory, by TreeLoader, and by KeyedRandom.
 */
import { assert, viewOf } from '@rookery/protocol';
import type { NameBytes } from './hash.js';

/** 64 random bits, as two 32-bit integers. */
export interface PathKey {
  readonly low: number;
  readonly high: number;
}

export const PATH_KEY_BYTES = 8;

/** For tests and tools, whose paths were not chosen to do harm. */
export const KNOWN_PATH_KEY: PathKey = { low: 0x03020100, high: 0x07060504 };

export function pathKeyOf(random: Uint8Array): PathKey {
  assert(random.length === PATH_KEY_BYTES, () => `a key has 8 bytes, not ${random.length}`);
  const view = viewOf(random);
  return { low: view.getInt32(0, true), high: view.getInt32(4, true) };
}

/** The memory in which short paths are hashed; most paths are short. */
const KEPT_BYTES = 4096;
const INITIAL_2 = 0x6c796765;
const INITIAL_3 = 0x74656462;
const FINISH = 0xff;

/** The state of the hash after whole words of a path, from which `ofBytes` continues. */
export interface HashedWords {
  readonly v0: number;
  readonly v1: number;
  readonly v2: number;
  readonly v3: number;
  /** How many bytes were hashed, a multiple of 4. */
  readonly bytes: number;
}

/** The beginning that several paths share, from which `ofName` continues. */
export interface PathPrefix {
  readonly text: string;
  /** Null for a prefix that is not ASCII: paths that begin with it are hashed as a whole. */
  readonly hashed: HashedWords | null;
}

export class PathHash {
  /** Nothing was hashed yet. */
  readonly #none: HashedWords;
  /** What `of` and `ofName` hash. A longer path gets memory of its own. */
  readonly #bytes = Buffer.alloc(KEPT_BYTES);
  readonly #view = viewOf(this.#bytes);
  // The state of the hash at the end of `#absorb`.
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;

  constructor({ low, high }: PathKey) {
    this.#none = { v0: low, v1: high, v2: INITIAL_2 ^ low, v3: INITIAL_3 ^ high, bytes: 0 };
  }

  of(path: string): number {
    // A UTF-16 unit takes at most three bytes in UTF-8.
    if (3 * path.length <= KEPT_BYTES) {
      return this.ofBytes(this.#view, 0, this.#bytes.write(path));
    }
    const bytes = Buffer.from(path);
    return this.ofBytes(viewOf(bytes), 0, bytes.length);
  }

  /** The hash of a path that is given in UTF-8, and begins with what was hashed into `begun`. */
  ofBytes(bytes: DataView, start: number, end: number, begun: HashedWords = this.#none): number {
    const whole = start + ((end - start) & -4);
    this.#absorb(bytes, start + begun.bytes, whole, begun);
    let last = (end - start) << 24;
    for (let at = whole; at < end; at++) last |= bytes.getUint8(at) << (8 * (at - whole));
    return finish(this.#v0, this.#v1, this.#v2, this.#v3, last);
  }

  /** Hashes the whole words of the first `length` bytes, with which `ofBytes` may begin. */
  wordsOf(bytes: DataView, length: number): HashedWords {
    const whole = length & -4;
    this.#absorb(bytes, 0, whole, this.#none);
    return { v0: this.#v0, v1: this.#v1, v2: this.#v2, v3: this.#v3, bytes: whole };
  }

  /** Sets the state to what it is when the words from `start` to `end` follow those of `begun`. */
  #absorb(bytes: DataView, start: number, end: number, begun: HashedWords): void {
    // `| 0` tells the compiler that they are 32-bit integers; without it the loop takes twice the
    // time.
    let v0 = begun.v0 | 0;
    let v1 = begun.v1 | 0;
    let v2 = begun.v2 | 0;
    let v3 = begun.v3 | 0;
    for (let at = start; at < end; at += 4) {
      const word = bytes.getInt32(at, true);
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v2 = (v2 + v3) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
      v2 = (v2 + v1) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    this.#v0 = v0;
    this.#v1 = v1;
    this.#v2 = v2;
    this.#v3 = v3;
  }

  /** Prepares the hash of paths that share this beginning. */
  prefixOf(text: string): PathPrefix {
    const bytes = Buffer.from(text);
    const isAscii = bytes.length === text.length;
    return { text, hashed: isAscii ? this.wordsOf(viewOf(bytes), bytes.length) : null };
  }

  /** Like `of`, for the prefix followed by a name. */
  ofName({ text, hashed }: PathPrefix, name: NameBytes): number {
    const { bytes, start, end, unitBytes } = name;
    const isLong = text.length + end - start > KEPT_BYTES;
    if (hashed === null || unitBytes === 2 || isLong) return this.of(text + textOf(name));
    let at = hashed.bytes;
    for (; at < text.length; at++) this.#bytes[at] = text.charCodeAt(at);
    for (let from = start; from < end; from++) this.#bytes[at++] = bytes[from] ?? 0;
    return this.ofBytes(this.#view, 0, at, hashed);
  }
}

/**
 * Adds the last word, which holds the length, and three rounds. A loop would take twice the time.
 */
function finish(a: number, b: number, c: number, d: number, last: number): number {
  let v0 = a;
  let v1 = b;
  let v2 = c;
  let v3 = d ^ last;
  v0 = (v0 + v1) | 0;
  v2 = (v2 + v3) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
  v2 = (v2 + v1) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
  v0 ^= last;
  v2 ^= FINISH;
  v0 = (v0 + v1) | 0;
  v2 = (v2 + v3) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
  v2 = (v2 + v1) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
  v0 = (v0 + v1) | 0;
  v2 = (v2 + v3) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
  v2 = (v2 + v1) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  v2 = (v2 << 16) | (v2 >>> 16);
  v0 = (v0 + v1) | 0;
  v2 = (v2 + v3) | 0;
  v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
  v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
  v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
  v2 = (v2 + v1) | 0;
  v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
  v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
  return v1 ^ v3;
}

function textOf({ bytes, start, end, unitBytes }: NameBytes): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return text.toString(unitBytes === 1 ? 'latin1' : 'utf16le');
}

/**
 * Draws numbers that cannot be predicted without a secret key: the hash of paths, of a counter.
 *
 * For choices that clients must not be able to spoil by the names that they choose. Nothing that is
 * replicated, and no answer, may depend on these numbers, because each member has a key of its own.
 * With a known key they are the same in each run.
 */
export class KeyedRandom {
  readonly #hash: PathHash;
  #drawn = 0;

  /** The key may be that of paths, which begin with a slash, so none of them is hashed here. */
  constructor(key: PathKey) {
    this.#hash = new PathHash(key);
  }

  /** Returns a whole number from 0 on that is below `limit`, which is 2^32 at most. */
  below(limit: number): number {
    this.#drawn += 1;
    const share = (this.#hash.of(String(this.#drawn)) >>> 0) / 2 ** 32;
    return Math.floor(share * limit);
  }
}
