/**
 * The hash by which znodes are found: HalfSipHash-1-3 of the UTF-8 of a path, with a secret key.
 *
 * Clients choose paths. With a hash that everybody can compute they could choose thousands that are
 * in one chain of the index, and every lookup would walk it. SipHash (Aumasson and Bernstein, 2012)
 * is designed so that nobody finds collisions without the key. This is its form for 32-bit words,
 * with the rounds that hash tables use. The key is drawn at random when a member starts and never
 * leaves it: the hash is neither stored nor sent, and differs between members. The digest, on which
 * all members must agree, has its own hash without a key (hash.ts). Used by PathFinder with
 * LastDirectory, by TreeLoader, and by KeyedRandom.
 */
import { assert } from '@rookery/protocol';
import type { NameBytes } from './hash.js';

/** 64 random bits, as two 32-bit integers. */
export interface PathKey {
  readonly low: number;
  readonly high: number;
}

export const PATH_KEY_BYTES = 8;

/** For tests and tools, whose paths nobody chose in order to do harm. */
export const KNOWN_PATH_KEY: PathKey = { low: 0x03020100, high: 0x07060504 };

export function pathKeyOf(random: Uint8Array): PathKey {
  assert(random.length === PATH_KEY_BYTES, () => `a key has 8 bytes, not ${random.length}`);
  const view = new DataView(random.buffer, random.byteOffset, random.length);
  return { low: view.getInt32(0, true), high: view.getInt32(4, true) };
}

const INITIAL_2 = 0x6c796765;
const INITIAL_3 = 0x74656462;
const FINISH = 0xff;
const ASCII_MAX = 0x7f;

/** The state of the hash after whole words of a path, from which `ofBytes` continues. */
export interface HashedWords {
  readonly v0: number;
  readonly v1: number;
  readonly v2: number;
  readonly v3: number;
  /** How many bytes were hashed, a multiple of 4. */
  readonly bytes: number;
}

/** The state of the hash after the beginning of a path, from which `ofName` continues. */
export interface PathPrefix {
  readonly text: string;
  /** Null for a prefix that is not ASCII: paths that begin with it are hashed as a whole. */
  readonly state: SipState | null;
}

export class PathHash {
  readonly #low: number;
  readonly #high: number;
  readonly #scratch = new SipState();
  /** Nothing was hashed yet. */
  readonly #none: HashedWords;

  constructor(key: PathKey) {
    this.#low = key.low;
    this.#high = key.high;
    this.#none = this.wordsOf(new Uint8Array(0), 0);
  }

  of(path: string): number {
    // `| 0` tells the compiler that they are 32-bit integers; without it the loop takes twice the
    // time.
    let v0 = this.#low | 0;
    let v1 = this.#high | 0;
    let v2 = INITIAL_2 ^ v0;
    let v3 = INITIAL_3 ^ v1;
    const whole = path.length & -4;
    for (let at = 0; at < whole; at += 4) {
      const first = path.charCodeAt(at);
      const second = path.charCodeAt(at + 1);
      const third = path.charCodeAt(at + 2);
      const fourth = path.charCodeAt(at + 3);
      if ((first | second | third | fourth) > ASCII_MAX) return this.#ofUtf8(path);
      const word = first | (second << 8) | (third << 16) | (fourth << 24);
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
    let last = path.length << 24;
    for (let at = whole; at < path.length; at++) {
      const unit = path.charCodeAt(at);
      if (unit > ASCII_MAX) return this.#ofUtf8(path);
      last |= unit << (8 * (at - whole));
    }
    return finish(v0, v1, v2, v3, last);
  }

  /** The hash of a path that is given in UTF-8, and begins with what was hashed into `begun`. */
  ofBytes(bytes: DataView, start: number, end: number, begun: HashedWords = this.#none): number {
    // `| 0` tells the compiler that they are 32-bit integers; without it the loop takes twice the
    // time.
    let v0 = begun.v0 | 0;
    let v1 = begun.v1 | 0;
    let v2 = begun.v2 | 0;
    let v3 = begun.v3 | 0;
    const whole = start + ((end - start) & -4);
    for (let at = start + begun.bytes; at < whole; at += 4) {
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
    let last = (end - start) << 24;
    for (let at = whole; at < end; at++) last |= bytes.getUint8(at) << (8 * (at - whole));
    return finish(v0, v1, v2, v3, last);
  }

  /** Hashes the whole words of the first `length` bytes, with which `ofBytes` may begin. */
  wordsOf(bytes: Uint8Array, length: number): HashedWords {
    const state = new SipState();
    state.begin(this.#low, this.#high);
    state.absorb(bytes, 0, length & -4);
    return state.words();
  }

  /** Prepares the hash of paths that share this beginning. */
  prefixOf(text: string): PathPrefix {
    const bytes = Buffer.from(text);
    if (bytes.length !== text.length) return { text, state: null };
    const state = new SipState();
    state.begin(this.#low, this.#high);
    state.absorb(bytes, 0, bytes.length);
    return { text, state };
  }

  /** Like `of`, for the prefix followed by a name. */
  ofName({ text, state }: PathPrefix, name: NameBytes): number {
    const { bytes, start, end, unitBytes } = name;
    if (state === null || unitBytes === 2) return this.of(text + textOf(name));
    const scratch = this.#scratch;
    scratch.copy(state);
    scratch.absorb(bytes, start, end);
    return scratch.finish();
  }

  #ofUtf8(path: string): number {
    const bytes = Buffer.from(path);
    return this.ofBytes(new DataView(bytes.buffer, bytes.byteOffset), 0, bytes.length);
  }
}

/** The state of an unfinished hash, so that bytes can come in parts of any size. */
class SipState {
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;
  /** The bytes of a word that is not complete yet. */
  #tail = 0;
  #length = 0;

  begin(low: number, high: number): void {
    this.#v0 = low;
    this.#v1 = high;
    this.#v2 = INITIAL_2 ^ low;
    this.#v3 = INITIAL_3 ^ high;
    this.#tail = 0;
    this.#length = 0;
  }

  copy(other: SipState): void {
    this.#v0 = other.#v0;
    this.#v1 = other.#v1;
    this.#v2 = other.#v2;
    this.#v3 = other.#v3;
    this.#tail = other.#tail;
    this.#length = other.#length;
  }

  absorb(bytes: Uint8Array, start: number, end: number): void {
    let tail = this.#tail;
    let length = this.#length;
    for (let at = start; at < end; at++, length++) {
      tail |= (bytes[at] ?? 0) << (8 * (length & 3));
      if ((length & 3) < 3) continue;
      this.#round(tail);
      tail = 0;
    }
    this.#tail = tail;
    this.#length = length;
  }

  /** The state, between two words. */
  words(): HashedWords {
    return { v0: this.#v0, v1: this.#v1, v2: this.#v2, v3: this.#v3, bytes: this.#length };
  }

  finish(): number {
    const last = (this.#length << 24) | this.#tail;
    return finish(this.#v0, this.#v1, this.#v2, this.#v3, last);
  }

  #round(word: number): void {
    const v3 = this.#v3 ^ word;
    const v0 = (this.#v0 + this.#v1) | 0;
    const v2 = (this.#v2 + v3) | 0;
    const mixed1 = ((this.#v1 << 5) | (this.#v1 >>> 27)) ^ v0;
    const mixed3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    const turned0 = (((v0 << 16) | (v0 >>> 16)) + mixed3) | 0;
    const turned2 = (v2 + mixed1) | 0;
    this.#v0 = turned0 ^ word;
    this.#v1 = ((mixed1 << 13) | (mixed1 >>> 19)) ^ turned2;
    this.#v2 = (turned2 << 16) | (turned2 >>> 16);
    this.#v3 = ((mixed3 << 7) | (mixed3 >>> 25)) ^ turned0;
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
