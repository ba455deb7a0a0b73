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
import { environmentReply } from './envi.js';
import { formatHex } from './format.js';
import { monitorReply } from './mntr.js';
import { serverReply, statusReply } from './srvr.js';
import type { FourLetterWhitelist, FourLetterWord } from './words.js';

export interface AskedWord {
  readonly name: string;
  /** Null when ZooKeeper has the word and Rookery does not. */
  readonly word: FourLetterWord | null;
}

const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests\n';

/** ZooKeeper's default trace mask; there is nothing to trace here. */
const TRACE_MASK = '306';

/** Answered in every state of the member. */
const ALWAYS_ANSWERED: ReadonlySet<FourLetterWord> = new Set(['envi', 'gtmk', 'isro', 'ruok']);

export function replyToWord(
  asked: AskedWord,
  whitelist: FourLetterWhitelist,
  context: WordContext,
): string {
  const { name, word } = asked;
  if (word === null || !whitelist.allows(name)) {
    return `${name} is not executed because it is not in the whitelist.\n`;
  }
  if (!context.view.serving && !ALWAYS_ANSWERED.has(word)) return NOT_SERVING;
  return textFor(word, context);
}

function textFor(word: FourLetterWord, context: WordContext): string {
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
    case 'gtmk':
      return TRACE_MASK;
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
    case 'wchs':
      return watchesReply(context);
    default:
      return unreachable(word);
  }
}

function directoriesReply({ view }: WordContext): string {
  const { dataDirBytes, dataLogBytes } = view.configuration;
  return `datadir_size: ${dataDirBytes}\nlogdir_size: ${dataLogBytes}\n`;
}

function watchesReply({ view }: WordContext): string {
  const { connections, paths, watches } = view.watches;
  return `${connections} connections watching ${paths} paths\nTotal watches:${watches}\n`;
}
