/**
 * The four-letter words: which exist, what each may do, and which the setting `fourLetterWords`
 * allows by default.
 *
 * Anybody who reaches the client port may send a word, without a session or a password. So by
 * default no word is answered that shows a path of the tree or a session, or that changes anything.
 * Where the client ports of all members open on loopback addresses alone, only this machine can
 * send words, and every word is answered. `config-schema.ts` applies the setting.
 * docs/architecture/life-of-a-request.md follows a word from the socket to its answer.
 */
import { isLoopback } from './addresses.js';

interface WordFacts {
  /**
   * Whether it is answered by default to whoever reaches the client port. False if it shows paths
   * or sessions, or changes something: then it is answered only if the setting names it.
   */
  readonly isForStrangers: boolean;
  /**
   * Whether its work grows with what the member holds: connections, sessions, watches, znodes. It
   * is then done in slices, behind short answers, even if its answer is one line, as that of
   * `crst`.
   */
  readonly isListing: boolean;
  /**
   * Whether it is refused while the member does not serve, with ZooKeeper's sentence. ZooKeeper's
   * words have the value that ZooKeeper gives them. Any other word has true if it tells of the
   * tree, of sessions or of a leader, because that may be out of date while the member looks for
   * one; false if its answer is right in any case, as that of `ruok` is.
   */
  readonly needsServing: boolean;
}

/**
 * All words that exist, in alphabetical order: those of ZooKeeper 3.8.0, and Rookery's own if there
 * are any. A name is four lower-case letters. Other first four bytes of a connection are read as
 * the length of a frame, except those that telnet sends when it closes.
 *
 * A new word needs a line here and its answer in `net/four-letter/reply.ts`, where the compiler
 * reports that it is missing. An answer is never empty, because an empty one means that the server
 * does not know the word. A member that serves may lack the facts of a word: a follower, a member
 * in read-only mode and a standalone one know nothing of followers (`LeaderView`), for example. It
 * answers with a sentence that says so. If bytes follow a word and belong to it, as the mask
 * follows `stmk`, `argumentBytes` in `net/word-service.ts` tells how many, and the test in
 * `test/src/answers/strangers/clients.test.ts` that leaves out `stmk` must leave out that word,
 * too.
 *
 * A fact that `MemberView` (`net/member-view.ts`) does not have yet becomes a field of it, or of
 * `LeaderView` if only the leader of an ensemble has it. `MemberStatus` (`driver/member-status.ts`)
 * fills the field in; for the tests of the words, `memberView` and `LEADER_VIEW` of
 * `simulated/net/fixtures.ts` do. What a listing shows is a method that returns an iterable, as
 * `watchedPaths` does. The iterable is read over many turns, in which the member changes: `atMost`
 * (`state/at-most.ts`) makes sure that it ends. In place of an element that it skips, such as one
 * that it has listed before, the method itself yields null, for which the reply has an empty piece.
 * Otherwise all elements that are skipped in a row would be part of one piece, and no slice can end
 * within a piece.
 *
 * Where a fact comes from decides what else it needs. A fact of the replicated state, such as the
 * number of znodes, needs no getter of `Driver`: `MemberStatus` reads it by `driver.keeper.state`,
 * and the code in `state/` that computes it has its test beside it. A fact of the driver needs a
 * getter of `Driver` (`driver/driver.ts`) and a test in `simulated/` that reads `member.status`. A
 * fact of the core needs a getter of `Zab` (`zab/zab.ts`), and one of `Leading` (`zab/leading.ts`)
 * if only a leader has it. What a leader or a standalone member knows of sessions, such as their
 * leases, needs a getter of `LeaderService` (`driver/leader.ts`), and is null elsewhere, as
 * `expiries` of `SessionsView` is. Other parts, such as the pipeline and the counters, are in
 * `MemberViewParts`. CONTRIBUTING.md's row for the folder of the fact applies, too.
 *
 * What the client port knows of connections is in no `MemberView`: it comes by `WordContext`
 * (`net/four-letter/context.ts`), which `net/word-service.ts` fills in for words and
 * `Member.context` for the other ports. A word that goes through all connections is a listing; a
 * number that shall need no such walk is counted in `net/` as the connections change.
 *
 * No word shows what only another member knows. The steps of an answer cannot wait for one: members
 * ask each other for the admin port alone (`driver/peer-questions.ts`).
 *
 * The documents: the comment of `fourLetterWords` in `config.ts` says what each word shows, and
 * `npm run docs:configuration` copies it into the reference; docs/limits.md names the listings;
 * `config.test.ts` names the words for strangers. `test/src/documents/four-letter-words.test.ts`
 * compares the reference, docs/limits.md and the recorded answers with the table. Nothing checks
 * SECURITY.md, which lists what strangers learn from words, and docs/operations/checks.md, which
 * names the words that operators use most. Users of the package notice a new word, so it needs a
 * changeset (CONTRIBUTING.md).
 *
 * A word that ZooKeeper does not have is a divergence: it needs a row in docs/compatibility.md, a
 * line in `test/src/model/divergences.ts`, and its name in `NOT_RECORDED` of the test of the
 * documents. It needs no command in `http/commands.ts`, which has ZooKeeper's commands alone.
 *
 * Nothing in `cli/` has to change; a command that is to use the word sends it by `askWord`. A
 * server without the word, such as ZooKeeper or a member of an older release, closes the connection
 * without an answer, and a member of an older release does not start with a setting that names it.
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
/** The value of the setting: the names of the words that are answered, or `*` for every word. */
export type AllowedWords = '*' | readonly string[];

export const FOUR_LETTER_WORDS: readonly FourLetterWord[] =
  Object.keys(WORDS).filter(isFourLetterWord);

export function isFourLetterWord(name: string): name is FourLetterWord {
  return Object.hasOwn(WORDS, name);
}

/** Whether it is answered by default, to every client that reaches the client port. */
export function isForStrangers(word: FourLetterWord): boolean {
  return WORDS[word].isForStrangers;
}

export function isListing(word: FourLetterWord): word is Listing {
  return WORDS[word].isListing;
}

export function needsServing(word: FourLetterWord): boolean {
  return WORDS[word].needsServing;
}

/**
 * Returns what the members answer if the setting is absent. `hosts` are those on which the client
 * ports of all members open.
 */
export function defaultFourLetterWords(hosts: readonly string[]): AllowedWords {
  if (hosts.every(isLoopback)) return '*';
  return FOUR_LETTER_WORDS.filter(isForStrangers);
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
  const unknown = words.filter((word) => !isFourLetterWord(word));
  if (unknown.length === 0) return null;
  return `expected "*" or some of ${FOUR_LETTER_WORDS.join(', ')}; unknown: ${unknown.join(', ')}`;
}
