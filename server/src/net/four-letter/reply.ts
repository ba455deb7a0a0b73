/**
 * The reply to a four-letter word, as one text.
 *
 * Owns which words are refused: those not whitelisted, and, while the member does not serve, those
 * that tell of its state. The texts come from the files beside this one. Called by the client port.
 */
import { unreachable } from '@rookery/protocol';
import { configurationReply } from './conf.js';
import { connectionsReply } from './cons.js';
import type { WordContext } from './context.js';
import { dumpReply } from './dump.js';
import { environmentReply } from './envi.js';
import { formatHex } from './format.js';
import { monitorReply } from './mntr.js';
import { serverReply, statusReply } from './srvr.js';
import { watchesByPathReply, watchesBySessionReply, watchSummaryReply } from './watches.js';
import type { FourLetterWhitelist, FourLetterWord } from './words.js';

export interface AskedWord {
  readonly word: FourLetterWord;
  /** Of stmk the new mask, of all others nothing. */
  readonly argument: Uint8Array;
}

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests';

/** Answered in every state of the member. */
const ALWAYS_ANSWERED: ReadonlySet<FourLetterWord> = new Set<FourLetterWord>([
  'envi',
  'gtmk',
  'isro',
  'ruok',
  'stmk',
]);

export function replyToWord(
  asked: AskedWord,
  whitelist: FourLetterWhitelist,
  context: WordContext,
): string {
  const { word } = asked;
  if (!whitelist.allows(word)) {
    return `${word} is not executed because it is not in the whitelist.\n`;
  }
  if (!context.view.serving && !ALWAYS_ANSWERED.has(word)) {
    // ZooKeeper forgot the newline there.
    return word === 'hash' ? NOT_SERVING : `${NOT_SERVING}\n`;
  }
  return textFor(asked, context);
}

function textFor({ word, argument }: AskedWord, context: WordContext): string {
  const { view } = context;
  switch (word) {
    case 'conf':
      return configurationReply(view);
    case 'cons':
      return connectionsReply(context.connections);
    case 'crst':
      for (const connection of context.connections) connection.stats.reset();
      return 'Connection stats reset.\n';
    case 'dirs':
      return directoriesReply(context);
    case 'envi':
      return environmentReply(view);
    case 'dump':
      return dumpReply(context);
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
    case 'stat':
      return statusReply(context);
    case 'stmk':
      return `${setTraceMask(context, argument)}`;
    case 'wchc':
      return watchesBySessionReply(view);
    case 'wchp':
      return watchesByPathReply(view);
    case 'wchs':
      return watchSummaryReply(view);
    default:
      return unreachable(word);
  }
}

function directoriesReply({ view }: WordContext): string {
  const { dataDirBytes, dataLogBytes } = view.configuration;
  return `datadir_size: ${dataDirBytes}\nlogdir_size: ${dataLogBytes}\n`;
}

/** Remembered and told, without effect: there is nothing to trace here. */
function setTraceMask({ stats }: WordContext, argument: Uint8Array): bigint {
  const { buffer, byteOffset, byteLength } = argument;
  stats.traceMask = new DataView(buffer, byteOffset, byteLength).getBigInt64(0);
  return stats.traceMask;
}
