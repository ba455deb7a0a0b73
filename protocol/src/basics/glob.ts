/**
 * Patterns for names: `*` stands for any characters, `?` for one.
 *
 * A text is compared in a time that is bounded by its length and the pattern's: what is between two
 * stars is looked for by the runtime's own search, and where it has question marks it is short.
 */
const CHARACTERS_MAX = 256;
/** Between two stars, where question marks are compared character by character. */
const MARKED_CHARACTERS_MAX = 64;
/** A longer text matches no pattern with a question mark between two stars. */
const MARKED_TEXT_MAX = 16_384;
const MARK = 0x3f;

export class Glob {
  static readonly EXPECTED =
    `expected at most ${CHARACTERS_MAX} characters, and at most ${MARKED_CHARACTERS_MAX} ` +
    'between two stars where there is a question mark';

  readonly #first: string;
  /** What comes between the first star and the last one, in this order. */
  readonly #middle: readonly string[];
  /** Null for a pattern without a star. */
  readonly #last: string | null;

  private constructor(parts: readonly string[]) {
    const [first = '', ...rest] = parts;
    this.#first = first;
    this.#last = rest.pop() ?? null;
    this.#middle = rest.filter((part) => part !== '');
  }

  /** Undefined for a pattern that is too long: see EXPECTED. */
  static of(pattern: string): Glob | undefined {
    const parts = pattern.split('*');
    const isTooLong = (part: string) => part.includes('?') && part.length > MARKED_CHARACTERS_MAX;
    return pattern.length > CHARACTERS_MAX || parts.some(isTooLong) ? undefined : new Glob(parts);
  }

  matches(text: string): boolean {
    const last = this.#last;
    if (last === null) return text.length === this.#first.length && isAt(text, this.#first, 0);
    const end = text.length - last.length;
    if (!isAt(text, this.#first, 0)) return false;
    let at = this.#first.length;
    for (const part of this.#middle) {
      const found = indexOf(text, part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end && isAt(text, last, end);
  }
}

function indexOf(text: string, part: string, from: number): number {
  if (!part.includes('?')) return text.indexOf(part, from);
  if (text.length > MARKED_TEXT_MAX) return -1;
  for (let at = from; at + part.length <= text.length; at++) if (isAt(text, part, at)) return at;
  return -1;
}

function isAt(text: string, part: string, at: number): boolean {
  if (!part.includes('?')) return text.startsWith(part, at);
  if (at + part.length > text.length) return false;
  for (let index = 0; index < part.length; index++) {
    const wanted = part.charCodeAt(index);
    if (wanted !== MARK && wanted !== text.charCodeAt(at + index)) return false;
  }
  return true;
}
