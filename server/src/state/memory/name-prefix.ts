/**
 * Orders names by numbers, as far as a few of their characters decide it.
 *
 * A number (key) says how a name continues behind a prefix that most of its directory share: six
 * characters of 8 bits. Of two names with different keys, the one with the smaller key is the
 * smaller one by code units; names with equal keys have to be compared. A directory of a million
 * znodes is thus put in order without looking at its names, which lie far apart in memory, again
 * and again. Any prefix is right; one that few names share makes many keys equal.
 */
import { viewOf } from '@rookery/protocol';

/** The keys of names that are below, and above, all that begin with the prefix. */
const BELOW = -1;
const ABOVE = 2 ** 48;
const LANES = 6;
const LANE_VALUES = 256;
const WORD_BYTES = 4;
/** Stands for every character that is not ASCII; what follows it is left out. */
const NOT_ASCII = 0x80;

export class NamePrefix {
  readonly text: string;
  readonly #length: number;
  /** The prefix in words, each with the first of its characters in the highest byte. */
  readonly #words: Int32Array;
  /** What is left of it in the highest bytes of a word, and those bytes set. */
  readonly #rest: number;
  readonly #restMask: number;

  /** The prefix that all these names share, as far as it is ASCII. */
  constructor(names: readonly string[]) {
    const [first = ''] = names;
    let length = names.length < 2 ? 0 : first.length;
    for (const name of names) {
      let shared = 0;
      while (shared < length && isSame(name, first, shared)) shared++;
      length = shared;
    }
    this.text = first.slice(0, length);
    this.#length = length;
    const bytes = viewOf(
      Buffer.concat([Buffer.from(this.text, 'latin1'), Buffer.alloc(WORD_BYTES)]),
    );
    const whole = Math.floor(length / WORD_BYTES);
    this.#words = Int32Array.from({ length: whole }, (_, i) => bytes.getInt32(i * WORD_BYTES));
    this.#rest = bytes.getInt32(whole * WORD_BYTES);
    this.#restMask = [0, -(2 ** 24), -(2 ** 16), -(2 ** 8)][length % WORD_BYTES] ?? 0;
  }

  keyOf(name: string): number {
    const { text } = this;
    for (let i = 0; i < text.length; i++) {
      if (i === name.length) return BELOW;
      const difference = name.charCodeAt(i) - text.charCodeAt(i);
      if (difference !== 0) return difference < 0 ? BELOW : ABOVE;
    }
    let key = 0;
    let isAscii = true;
    for (let i = text.length; i < text.length + LANES; i++) {
      const unit: number = isAscii && i < name.length ? name.charCodeAt(i) : 0;
      isAscii &&= unit < NOT_ASCII;
      key = key * LANE_VALUES + Math.min(unit, NOT_ASCII);
    }
    return key;
  }

  /** As `keyOf`, for a name of `size` ASCII bytes. */
  keyOfAscii(bytes: DataView, start: number, size: number): number {
    const at = start + this.#length;
    if (at + LANES > start + size || !this.#isAt(bytes, start)) {
      return this.#keyOfBytes(bytes, start, size);
    }
    // Mostly, the lanes are read at once.
    return bytes.getUint32(at) * LANE_VALUES ** 2 + bytes.getUint16(at + 4);
  }

  /** Whether the prefix begins at `start`. At least a word of other bytes must be behind it. */
  #isAt(bytes: DataView, start: number): boolean {
    const words = this.#words;
    let at = start;
    for (let i = 0; i < words.length; i++, at += WORD_BYTES) {
      if (bytes.getInt32(at) !== words[i]) return false;
    }
    return ((bytes.getInt32(at) ^ this.#rest) & this.#restMask) === 0;
  }

  #keyOfBytes(bytes: DataView, start: number, size: number): number {
    const { text } = this;
    for (let i = 0; i < text.length; i++) {
      if (i === size) return BELOW;
      const difference = bytes.getUint8(start + i) - text.charCodeAt(i);
      if (difference !== 0) return difference < 0 ? BELOW : ABOVE;
    }
    const end = start + size;
    let at = start + text.length;
    let key = 0;
    for (let lane = 0; lane < LANES; lane++, at++) {
      key = key * LANE_VALUES + (at < end ? bytes.getUint8(at) : 0);
    }
    return key;
  }
}

function isSame(name: string, first: string, at: number): boolean {
  const unit = first.charCodeAt(at);
  return unit < NOT_ASCII && name.charCodeAt(at) === unit;
}
