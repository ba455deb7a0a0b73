/**
 * The four-letter words that ZooKeeper knows, how they are told from frames, and who may ask them.
 *
 * A word is known by the first four bytes of a connection. Every name is above 0x61616161 as a
 * frame length, so no frame that is within the limits is ever taken for one.
 */

/** Words answered here; the others that ZooKeeper knows are answered as not whitelisted. */
export const SERVED_WORDS = [
  'conf',
  'cons',
  'crst',
  'dirs',
  'envi',
  'gtmk',
  'hash',
  'isro',
  'mntr',
  'ruok',
  'srst',
  'srvr',
  'stat',
  'wchs',
] as const;

export type FourLetterWord = (typeof SERVED_WORDS)[number];

const UNSERVED_WORDS = ['dump', 'orst', 'stmk', 'wchc', 'wchp'];

const WORDS_BY_NAME: ReadonlyMap<string, FourLetterWord> = new Map(
  SERVED_WORDS.map((word) => [word, word]),
);

const KNOWN_NAMES: ReadonlySet<string> = new Set([...SERVED_WORDS, ...UNSERVED_WORDS]);

/** What telnet sends when it closes. */
const TELNET_CLOSE = 0xfff4fffd;

export type FirstBytes =
  | { readonly kind: 'word'; readonly name: string; readonly word: FourLetterWord | null }
  | { readonly kind: 'telnetClose' }
  | { readonly kind: 'frames' };

/** What the first four bytes of a connection announce. */
export function readFirstBytes(bytes: Uint8Array): FirstBytes {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  if (((a << 24) | (b << 16) | (c << 8) | d) >>> 0 === TELNET_CLOSE) return { kind: 'telnetClose' };
  const name = String.fromCharCode(a, b, c, d);
  if (!KNOWN_NAMES.has(name)) return { kind: 'frames' };
  return { kind: 'word', name, word: WORDS_BY_NAME.get(name) ?? null };
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
