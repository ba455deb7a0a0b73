/**
 * Tells four-letter words from frames, and allows those that are configured. The protocol sniffer
 * and the word service call it.
 *
 * The first four bytes of a connection identify a word. A name is four lower-case letters. Read as
 * the length of a frame, it is at least 0x61616161 (1.6 GB), so no frame within the limits is ever
 * mistaken for a word. The names are in `server/src/config/four-letter-words.ts`, and the answers
 * in reply.ts.
 */
import {
  type AllowedWords,
  type FourLetterWord,
  isFourLetterWord,
} from '../../config/four-letter-words.js';

/** The bytes that follow stmk: the new mask, a long. */
export const TRACE_MASK_BYTES = 8;

/** The bytes that telnet sends when it closes. */
const TELNET_CLOSE = 0xfff4fffd;

export type FirstBytes =
  | { readonly kind: 'word'; readonly word: FourLetterWord }
  | { readonly kind: 'telnetClose' }
  | { readonly kind: 'frames' };

/** Returns what the first four bytes of a connection announce. */
export function readFirstBytes(bytes: Uint8Array): FirstBytes {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  if (((a << 24) | (b << 16) | (c << 8) | d) >>> 0 === TELNET_CLOSE) return { kind: 'telnetClose' };
  const word = String.fromCharCode(a, b, c, d);
  return isFourLetterWord(word) ? { kind: 'word', word } : { kind: 'frames' };
}

/** Which words are allowed, from the configuration's `fourLetterWords`. */
export class FourLetterWhitelist {
  readonly #allowed: ReadonlySet<string> | null;

  constructor(words: AllowedWords) {
    this.#allowed = words === '*' ? null : new Set(words);
  }

  allows(name: string): boolean {
    return this.#allowed === null || this.#allowed.has(name);
  }
}
