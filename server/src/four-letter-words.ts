/**
 * The four-letter words: which exist, what each may do, and which the setting `fourLetterWords`
 * allows by default.
 *
 * Anybody who reaches the client port may send a word, without a session or a password. So by
 * default no word is answered that shows a path of the tree or a session, or that changes anything.
 * Where all members are on loopback addresses only this machine can send words, and all are
 * answered. `config-schema.ts` and `net/four-letter/` use the table.
 */
import { BlockList, isIP } from 'node:net';

interface WordFacts {
  /** False if it shows paths or sessions, or changes something: then it must be listed. */
  readonly isForStrangers: boolean;
  /** Whether its work grows with the number of connections, sessions or watches. */
  readonly isListing: boolean;
  /** Whether it is refused while the member does not serve, because it shows the member's state. */
  readonly needsServing: boolean;
}

/**
 * All words that exist, which are those of ZooKeeper 3.8.0. Any other first four bytes of a
 * connection are read as the length of a frame.
 *
 * A new word needs a line here and its answer in `net/four-letter/reply.ts`, which the compiler
 * asks for. The comment of `fourLetterWords` in `config.ts` says what each word shows, and `npm run
 * docs:configuration` copies it into the reference; `config.test.ts` lists the words for strangers,
 * and docs/limits.md the listings. `test/src/documents/four-letter-words.test.ts` compares the
 * documents with the table. A word that ZooKeeper does not have is a divergence: it needs a row in
 * docs/compatibility.md, and a line in `test/src/model/divergences.ts`.
 */
const WORDS = {
  conf: { isForStrangers: true, isListing: false, needsServing: true },
  cons: { isForStrangers: false, isListing: true, needsServing: true },
  crst: { isForStrangers: false, isListing: true, needsServing: true },
  dirs: { isForStrangers: true, isListing: false, needsServing: true },
  dump: { isForStrangers: false, isListing: true, needsServing: true },
  envi: { isForStrangers: true, isListing: false, needsServing: false },
  gtmk: { isForStrangers: true, isListing: false, needsServing: false },
  hash: { isForStrangers: true, isListing: false, needsServing: true },
  isro: { isForStrangers: true, isListing: false, needsServing: false },
  mntr: { isForStrangers: true, isListing: false, needsServing: true },
  ruok: { isForStrangers: true, isListing: false, needsServing: false },
  srst: { isForStrangers: false, isListing: false, needsServing: true },
  srvr: { isForStrangers: true, isListing: false, needsServing: true },
  stat: { isForStrangers: true, isListing: true, needsServing: true },
  stmk: { isForStrangers: false, isListing: false, needsServing: false },
  wchc: { isForStrangers: false, isListing: true, needsServing: true },
  wchp: { isForStrangers: false, isListing: true, needsServing: true },
  wchs: { isForStrangers: true, isListing: false, needsServing: true },
} as const satisfies Readonly<Record<string, WordFacts>>;

export type FourLetterWord = keyof typeof WORDS;
/** The words that are listings. */
export type Listing = {
  [Word in FourLetterWord]: (typeof WORDS)[Word]['isListing'] extends true ? Word : never;
}[FourLetterWord];
/** A value of the setting. */
export type FourLetterWords = '*' | readonly string[];

export const FOUR_LETTER_WORDS: readonly FourLetterWord[] =
  Object.keys(WORDS).filter(isFourLetterWord);

export function isFourLetterWord(name: string): name is FourLetterWord {
  return Object.hasOwn(WORDS, name);
}

/** Whether it is answered by default, to whoever reaches the client port. */
export function isForStrangers(word: FourLetterWord): boolean {
  return WORDS[word].isForStrangers;
}

export function isListing(word: FourLetterWord): word is Listing {
  return WORDS[word].isListing;
}

export function needsServing(word: FourLetterWord): boolean {
  return WORDS[word].needsServing;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns what the members answer if the setting is absent. */
export function defaultFourLetterWords(hosts: readonly string[]): FourLetterWords {
  if (hosts.every(isLoopback)) return '*';
  return FOUR_LETTER_WORDS.filter(isForStrangers);
}

/** Words separated by commas; `*` among them stands for all. */
export function splitWords(list: string): FourLetterWords {
  const words = list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return words.includes('*') ? '*' : words;
}

/** Returns what is wrong with such a list; null if nothing is. */
export function wordsProblem(list: string): string | null {
  const words = splitWords(list);
  if (words === '*') return null;
  const unknown = words.filter((word) => !isFourLetterWord(word));
  if (unknown.length === 0) return null;
  return `expected "*" or some of ${FOUR_LETTER_WORDS.join(', ')}; unknown: ${unknown.join(', ')}`;
}

/**
 * Whether only this machine can reach the host. The only name that counts as one of loopback is
 * `localhost`, because DNS is not asked.
 */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
