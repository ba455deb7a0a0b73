/**
 * The setting `fourLetterWords`: which words exist, and which are answered by default.
 *
 * Anybody who reaches the client port may send a word, without a session or a password. So by
 * default no word is answered that shows a path of the tree or a session, or that changes anything.
 * Where all members are on loopback addresses only this machine can send words, and all are
 * answered. The rules of the config file call it.
 */
import { BlockList, isIP } from 'node:net';

/** All words of ZooKeeper 3.8.0. Any other first four bytes are read as the length of a frame. */
export const FOUR_LETTER_WORDS = [
  ...['conf', 'cons', 'crst', 'dirs', 'dump', 'envi', 'gtmk', 'hash', 'isro', 'mntr'],
  ...['ruok', 'srst', 'srvr', 'stat', 'stmk', 'wchc', 'wchp', 'wchs'],
] as const;
export type FourLetterWords = '*' | readonly string[];

/** Answered only if they are listed: they show paths or sessions, or change counters or masks. */
const NOT_FOR_STRANGERS: ReadonlySet<string> = new Set([
  ...['cons', 'crst', 'dump', 'srst', 'stmk', 'wchc', 'wchp'],
]);

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns what the members answer if the setting is absent. */
export function defaultFourLetterWords(hosts: readonly string[]): FourLetterWords {
  if (hosts.every(isLoopback)) return '*';
  return FOUR_LETTER_WORDS.filter((word) => !NOT_FOR_STRANGERS.has(word));
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
  const known: readonly string[] = FOUR_LETTER_WORDS;
  const unknown = words.filter((word) => !known.includes(word));
  if (unknown.length === 0) return null;
  return `expected "*" or some of ${known.join(', ')}, ${unknown.join(', ')} unknown`;
}

/**
 * Whether only this machine reaches the host. Of names, only the usual one counts: DNS is not
 * asked.
 */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return host.toLowerCase() === 'localhost';
  return LOOPBACK.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
