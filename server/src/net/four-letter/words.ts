/**
 * The four-letter words that ZooKeeper knows, how they are told from frames, and who may ask them.
 *
 * A word is known by the first four bytes of a connection. Every name is above 0x61616161 as a
 * frame length, so no frame that is within the limits is ever taken for one.
 */

/** All words of ZooKeeper 3.8.0. What is none of them is taken for the length of a frame. */
export const WORDS = [
  ...['conf', 'cons', 'crst', 'dirs', 'dump', 'envi', 'gtmk', 'hash', 'isro', 'mntr'],
  ...['ruok', 'srst', 'srvr', 'stat', 'stmk', 'wchc', 'wchp', 'wchs'],
] as const;

export type FourLetterWord = (typeof WORDS)[number];

/** Their answers, or what they do, are as long as there are connections, sessions or watches. */
const LISTINGS = ['cons', 'crst', 'dump', 'stat', 'wchc', 'wchp'] as const;
export type Listing = (typeof LISTINGS)[number];

export function isListing(word: FourLetterWord): word is Listing {
  return LISTINGS.some((listing) => listing === word);
}

const WORDS_BY_NAME: ReadonlyMap<string, FourLetterWord> = new Map(
  WORDS.map((word) => [word, word]),
);

/** What stmk is followed by: the new mask, a long. */
export const TRACE_MASK_BYTES = 8;

/** What telnet sends when it closes. */
const TELNET_CLOSE = 0xfff4fffd;

export type FirstBytes =
  | { readonly kind: 'word'; readonly word: FourLetterWord }
  | { readonly kind: 'telnetClose' }
  | { readonly kind: 'frames' };

/** What the first four bytes of a connection announce. */
export function readFirstBytes(bytes: Uint8Array): FirstBytes {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  if (((a << 24) | (b << 16) | (c << 8) | d) >>> 0 === TELNET_CLOSE) return { kind: 'telnetClose' };
  const word = WORDS_BY_NAME.get(String.fromCharCode(a, b, c, d));
  return word === undefined ? { kind: 'frames' } : { kind: 'word', word };
}

/** Which words may be asked; made from the configuration's `fourLetterWords`. */
export class FourLetterWhitelist {
  readonly #allowed: ReadonlySet<string> | null;

  /** `*` for all, or names separated by commas. */
  constructor(list: string) {
    const names = list.split(',').map((name) => name.trim());
    this.#allowed = names.includes('*') ? null : new Set(names);
  }

  allows(name: string): boolean {
    return this.#allowed === null || this.#allowed.has(name);
  }
}
