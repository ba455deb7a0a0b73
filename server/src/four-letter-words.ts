/**
 * The setting `fourLetterWords`: which words exist, and which are answered by default.
 *
 * Anybody who reaches the client port may send a word, without a session or a password. So by
 * default no word is answered that shows a path of the tree or a session, or that changes anything.
 * Where the client ports of all members open on loopback addresses alone, only this machine can
 * send words, and every word is answered. `config-schema.ts` applies the setting, and
 * `net/four-letter/words.ts` recognises the words.
 */
import { isLoopback } from './addresses.js';

/**
 * All words that exist, which are those of ZooKeeper 3.8.0. Any other first four bytes of a
 * connection are read as the length of a frame.
 *
 * A new word needs its answer in `net/four-letter/reply.ts`. If it shows or changes what no
 * stranger may, it belongs to `NOT_FOR_STRANGERS`. The comment of `fourLetterWords` in `config.ts`
 * says what each word shows, and `npm run docs:configuration` copies it into the reference.
 * `config.test.ts`, `test/src/harness/hardened.ts` and `test/src/answers/stranger-clients.test.ts`
 * list the words for strangers. A word that ZooKeeper does not have is a divergence: it needs a row
 * in docs/compatibility.md, and a line in `test/src/model/divergences.ts`.
 */
export const FOUR_LETTER_WORDS = [
  ...['conf', 'cons', 'crst', 'dirs', 'dump', 'envi', 'gtmk', 'hash', 'isro', 'mntr'],
  ...['ruok', 'srst', 'srvr', 'stat', 'stmk', 'wchc', 'wchp', 'wchs'],
] as const;

/** The value of the setting: the names of the words that are answered, or `*` for every word. */
export type AllowedWords = '*' | readonly string[];

/** Answered only if they are listed: they show paths or sessions, or change counters or masks. */
const NOT_FOR_STRANGERS: ReadonlySet<string> = new Set([
  ...['cons', 'crst', 'dump', 'srst', 'stmk', 'wchc', 'wchp'],
]);

/**
 * Returns what the members answer if the setting is absent. `hosts` are those on which the client
 * ports of all members open.
 */
export function defaultFourLetterWords(hosts: readonly string[]): AllowedWords {
  if (hosts.every(isLoopback)) return '*';
  return FOUR_LETTER_WORDS.filter((word) => !NOT_FOR_STRANGERS.has(word));
}

/** Words separated by commas; `*` among them stands for all. */
export function splitWords(list: string): AllowedWords {
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
  const known: readonly string[] = FOUR_LETTER_WORDS;
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length === 0) return null;
  return `expected "*" or some of ${known.join(', ')}; unknown: ${unknown.join(', ')}`;
}
