/**
 * The reply to a four-letter word, piece by piece.
 *
 * A short reply is one piece. A listing has about one piece per line, and an empty piece for each
 * element that took time and adds no text: pieces are taken up to 128 at a time, and the clock is
 * read only in between (word-answer.ts). Nothing is read or changed before the first piece is
 * taken. A word that is not whitelisted is refused; most other words are refused while the member
 * does not serve. `server/src/config/four-letter-words.ts` says what a new word needs. The test
 * beside this file compares replies to ZooKeeper's words with those that were recorded from it. The
 * word service calls it.
 */
import { unreachable } from '@rookery/protocol';
import {
  type FourLetterWord,
  isListing,
  type Listing,
  needsServing,
} from '../../config/four-letter-words.js';
import { configurationReply } from './conf.js';
import { connectionsReply } from './cons.js';
import type { WordContext } from './context.js';
import { dumpReply } from './dump.js';
import { environmentReply } from './envi.js';
import { formatHex } from './format.js';
import { monitorReply } from './mntr.js';
import { diskLines, serverReply, statusReply } from './srvr.js';
import { watchesByPathReply, watchesBySessionReply, watchSummaryReply } from './watches.js';
import type { FourLetterWhitelist } from './words.js';

export interface AskedWord {
  readonly word: FourLetterWord;
  /** The bytes that follow the word and belong to it: of stmk the new mask, of all others none. */
  readonly argument: Uint8Array;
}

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests';

export function* replyToWord(
  asked: AskedWord,
  whitelist: FourLetterWhitelist,
  context: WordContext,
): Generator<string> {
  const { word } = asked;
  if (!whitelist.allows(word)) {
    yield `${word} is not executed because it is not in the whitelist.\n`;
  } else if (!context.view.serving && needsServing(word)) {
    yield notServing(word, context);
  } else if (isListing(word)) {
    yield* listing(word, context);
  } else {
    yield shortReply({ word, argument: asked.argument }, context);
  }
}

/** ZooKeeper has no more lines, and omits the newline where it is not added here. */
function notServing(word: FourLetterWord, { view }: WordContext): string {
  const { waitsFor, sparedBy } = view.health;
  if (word === 'hash') return NOT_SERVING;
  if (word !== 'srvr' && word !== 'stat') return `${NOT_SERVING}\n`;
  // The line about the disk says what a member waits for whose disk is full.
  const waits = waitsFor === null || sparedBy !== 0 ? [] : [`Waits: ${waitsFor}`];
  return `${[NOT_SERVING, ...waits, ...diskLines(view)].join('\n')}\n`;
}

function listing(word: Listing, context: WordContext): Iterable<string> {
  const { view } = context;
  switch (word) {
    case 'cons':
      return connectionsReply(context.connections());
    case 'crst':
      return resetConnections(context);
    case 'dump':
      return dumpReply(context);
    case 'stat':
      return statusReply(context);
    case 'wchc':
      return watchesBySessionReply(view);
    case 'wchp':
      return watchesByPathReply(view);
    default:
      return unreachable(word);
  }
}

interface AskedShortWord {
  readonly word: Exclude<FourLetterWord, Listing>;
  readonly argument: Uint8Array;
}

function shortReply({ word, argument }: AskedShortWord, context: WordContext): string {
  const { view } = context;
  switch (word) {
    case 'conf':
      return configurationReply(view);
    case 'dirs':
      return directoriesReply(context);
    case 'envi':
      return environmentReply(view);
    case 'gtmk':
      return `${context.stats.traceMask}`;
    case 'hash':
      return view.digests.map(({ zxid, digest }) => `${formatHex(zxid)}: ${digest}\n`).join('');
    case 'isro':
      if (!view.serving) return 'null';
      return view.mode === 'read-only' ? 'ro' : 'rw';
    case 'mntr':
      return monitorReply(context);
    case 'ruok':
      return 'imok';
    case 'srst':
      context.stats.reset();
      return 'Server stats reset.\n';
    case 'srvr':
      return serverReply(context);
    case 'stmk':
      return `${setTraceMask(context, argument)}`;
    case 'wchs':
      return watchSummaryReply(view);
    default:
      return unreachable(word);
  }
}

function* resetConnections(context: WordContext): Generator<string> {
  for (const { stats } of context.connections()) {
    stats.reset();
    yield '';
  }
  yield 'Connection stats reset.\n';
}

function directoriesReply({ view }: WordContext): string {
  const { dataDirBytes, dataLogBytes } = view.configuration;
  return `datadir_size: ${dataDirBytes}\nlogdir_size: ${dataLogBytes}\n`;
}

/** The mask is stored and shown, without effect, because there is nothing to trace here. */
function setTraceMask({ stats }: WordContext, argument: Uint8Array): bigint {
  const { buffer, byteOffset, byteLength } = argument;
  stats.traceMask = new DataView(buffer, byteOffset, byteLength).getBigInt64(0);
  return stats.traceMask;
}
