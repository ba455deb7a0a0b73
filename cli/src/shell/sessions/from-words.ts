/**
 * Sessions as the servers of an ensemble tell them by four-letter words, of Rookery and of
 * ZooKeeper alike: every server is asked for its clients, because none knows those of the others.
 *
 * Servers answer these words only where their configuration allows them; what is missing is said.
 */
import { errorMessage } from '@rookery/protocol';
import { type FourLetterWord, OperatorError } from '@rookery/server';
import type { NamedAddress } from '../../command/addresses.js';
import { askWord } from '../../status/four-letter-word.js';
import { connectionsIn, ephemeralsIn } from '../../status/word-answers.js';
import { type Session, type SessionDetail, type SessionSource, UNKNOWN } from './session.js';

const TIMEOUT_MS = 5_000;
/** About 400,000 connections; a longer answer is refused rather than held in memory. */
const ANSWER_BYTES_MAX = 64 << 20;
const ALLOW =
  'The setting fourLetterWords of Rookery, or 4lw.commands.whitelist of ZooKeeper, must list it';

export class SessionsFromWords implements SessionSource {
  readonly #servers: readonly NamedAddress[];
  readonly #gaps: string[] = [];

  constructor(servers: readonly NamedAddress[]) {
    this.#servers = servers;
  }

  get gaps(): readonly string[] {
    return this.#gaps;
  }

  async *list(): AsyncGenerator<Session> {
    const { sessions } = await this.#look();
    yield* [...sessions.values()].toSorted((a, b) => compareIds(a.session, b.session));
  }

  async one(session: string): Promise<SessionDetail | null> {
    const { sessions, dump } = await this.#look();
    const known = sessions.get(session);
    if (known === undefined) return null;
    const told = await this.#ask('wchc');
    const watched = [...told.values()].flatMap((text) => watchesIn(text, session));
    return {
      ...known,
      ephemeralPaths: dump?.ephemerals.get(session) ?? [],
      ephemeralPathsTruncated: false,
      watched: told.size === 0 ? null : watched.map((path) => ({ path, mode: null })),
      watchedTruncated: told.size === 0 ? null : false,
    };
  }

  async #look() {
    const sessions = new Map<string, Session>();
    let dump: ToldSessions | null = null;
    const [connections, dumps] = await Promise.all([this.#ask('cons'), this.#ask('dump')]);
    if (connections.size === 0 && dumps.size === 0) {
      throw new OperatorError(`No server lists its sessions. ${this.#gaps.join(' ')}`);
    }
    for (const text of dumps.values()) {
      const told = sessionsIn(text);
      // The one that knows of the most sessions: a member may not be up to date.
      if (told !== null && told.timeouts.size >= (dump?.timeouts.size ?? 0)) dump = told;
    }
    for (const [session, timeoutMs] of dump?.timeouts ?? []) {
      const ephemerals = dump?.ephemerals.get(session)?.length ?? 0;
      sessions.set(session, { ...UNKNOWN, session, timeoutMs, ephemerals });
    }
    for (const [server, text] of connections) {
      for (const { established, ...connection } of connectionsIn(text) ?? []) {
        const { session } = connection;
        const ephemerals = dump === null ? null : (dump.ephemerals.get(session)?.length ?? 0);
        sessions.set(session, { ...connection, server, ephemerals, sinceMs: established });
      }
    }
    return { sessions, dump };
  }

  /** The answers of the servers that give one; a gap is noted for each of the others. */
  async #ask(word: FourLetterWord): Promise<ReadonlyMap<string, string>> {
    const answers = new Map<string, string>();
    await Promise.all(
      this.#servers.map(async (server) => {
        const { address } = server;
        try {
          const text = await askWord(server, word, TIMEOUT_MS, ANSWER_BYTES_MAX);
          // A server that does not know the word closes the connection without an answer.
          const isRefused = text === '' || text.includes('not in the whitelist');
          if (!isRefused) answers.set(address, text);
          else this.#gaps.push(`${address} does not answer ${word}. ${ALLOW}.`);
        } catch (error) {
          const reason = errorMessage(error);
          this.#gaps.push(`${address} could not be asked for ${word}: ${reason}.`);
        }
      }),
    );
    return answers;
  }
}

function compareIds(a: string, b: string): number {
  const [x, y] = [BigInt(a), BigInt(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/**
 * Session facts from the answers to `dump` and `wchc` that the console's gateway does not parse.
 * Pure. Lines that cannot be parsed are ignored.
 */
interface ToldSessions {
  /** Timeouts in ms by session; null where the server tells when a session expires instead. */
  readonly timeouts: ReadonlyMap<string, number | null>;
  /** The paths of the ephemeral znodes of each session that owns any. */
  readonly ephemerals: ReadonlyMap<string, readonly string[]>;
}

/** Null for an answer that is no `dump`. */
export function sessionsIn(text: string): ToldSessions | null {
  const ephemerals = ephemeralsIn(text);
  if (ephemerals === null || !text.startsWith('SessionTracker dump')) return null;
  const timeouts = new Map<string, number | null>();
  for (const line of text.slice(0, text.indexOf('ephemeral nodes dump')).split('\n')) {
    const [, session, timeout] = /^\t?(0x[\da-f]{1,16})(?:\t(\d{1,15})ms)?$/.exec(line) ?? [];
    if (session === undefined) continue;
    timeouts.set(session, timeout === undefined ? null : Number(timeout));
  }
  return { timeouts, ephemerals };
}

/** The paths on which a session has data watches, from `wchc`. */
export function watchesIn(text: string, session: string): readonly string[] {
  const paths: string[] = [];
  let isWanted = false;
  for (const line of text.split('\n')) {
    if (/^0x[\da-f]{1,16}$/.test(line)) isWanted = line === session;
    else if (isWanted && line.startsWith('\t/')) paths.push(line.slice(1));
  }
  return paths;
}
