/**
 * Orders names by numbers, as far as a few of their characters decide it.
 *
 * A number (key) says how a name continues behind a prefix that most of its directory share: six
 * characters of 8 bits. Of two names with different keys, the one with the smaller key is the
 * smaller one by code units; names with equal keys have to be compared. A directory of a million
 * znodes is thus put in order without looking at its names, which lie far apart in memory, again
 * and again. Any prefix is right; one that few names share makes many keys equal.
 */

/** The keys of names that are below, and above, all that begin with the prefix. */
const BELOW = -1;
const ABOVE = 2 ** 48;
const LANES = 6;
const LANE_VALUES = 256;
/** Stands for every character that is not ASCII; what follows it is left out. */
const NOT_ASCII = 0x80;

export class NamePrefix {
  readonly text: string;

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
  keyOfAscii(bytes: Uint8Array, start: number, size: number): number {
    const { text } = this;
    for (let i = 0; i < text.length; i++) {
      if (i === size) return BELOW;
      const difference = (bytes[start + i] ?? 0) - text.charCodeAt(i);
      if (difference !== 0) return difference < 0 ? BELOW : ABOVE;
    }
    const end = start + size;
    let at = start + text.length;
    let key = 0;
    for (let lane = 0; lane < LANES; lane++, at++) {
      key = key * LANE_VALUES + (at < end ? (bytes[at] ?? 0) : 0);
    }
    return key;
  }
}

function isSame(name: string, first: string, at: number): boolean {
  const unit = first.charCodeAt(at);
  return unit < NOT_ASCII && name.charCodeAt(at) === unit;
}
