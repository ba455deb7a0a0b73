/**
 * What the servers tell of themselves in four-letter words: members, and sessions where a server
 * answers `cons`. ZooKeeper answers only `srvr` unless `4lw.commands.whitelist` has more, so
 * whatever else there is may be missing.
 *
 * Answers are kept for a moment, so that many who look ask each server once.
 */
import type { NamedAddress } from '../shell/addresses.js';
import { askWord } from '../status/four-letter-word.js';
import { type Connection, connectionsIn, ephemeralsIn, linesOf } from './word-answers.js';

const TIMEOUT_MS = 2000;
const KEPT_MS = 1000;
/** All connections of a server, or all its ephemerals, in one answer. */
const LIST_BYTES_MAX = 32 << 20;

export interface ServerAnswers {
  readonly id: number;
  readonly address: NamedAddress;
  /** The lines of each word that it answered, by their names; null if it did not. */
  readonly srvr: ReadonlyMap<string, string> | null;
  readonly mntr: ReadonlyMap<string, string> | null;
  readonly conf: ReadonlyMap<string, string> | null;
}

export interface KnownSession {
  readonly server: ServerAnswers['id'];
  readonly connection: Connection;
}

export interface Sessions {
  /** By their ids in hex. */
  readonly connected: ReadonlyMap<string, KnownSession>;
  /** The paths of ephemerals by session; null if no server answers `dump`. */
  readonly ephemerals: ReadonlyMap<string, readonly string[]> | null;
}

export class ServerWords {
  readonly #servers: readonly NamedAddress[];
  readonly #members = new Kept(() => this.#askMembers());
  readonly #sessions = new Kept(() => this.#askSessions());
  #tellsSessions = false;

  constructor(servers: readonly NamedAddress[]) {
    this.#servers = servers;
  }

  /** Whether a server has answered `cons` when it was asked last. */
  get tellsSessions(): boolean {
    return this.#tellsSessions;
  }

  members(): Promise<readonly ServerAnswers[]> {
    return this.#members.value();
  }

  sessions(): Promise<Sessions> {
    return this.#sessions.value();
  }

  /** Where sessions are connected from, by their ids in hex; empty where nobody tells. */
  async addresses(): Promise<ReadonlyMap<string, string>> {
    if (!this.#tellsSessions) return new Map();
    const { connected } = await this.sessions();
    return new Map([...connected].map(([id, { connection }]) => [id, connection.address]));
  }

  async #askMembers(): Promise<readonly ServerAnswers[]> {
    const answers = await Promise.all(
      this.#servers.map(async (address) => {
        const [srvr, mntr, conf] = await Promise.all([
          ask(address, 'srvr').then((text) => linesOf(text, ':')),
          ask(address, 'mntr').then((text) => linesOf(text, '\t')),
          ask(address, 'conf').then((text) => linesOf(text, '=')),
        ]);
        const own = Number(conf?.get('serverId'));
        const isServing = srvr?.has('Mode') === true;
        return { own, address, srvr: isServing ? srvr : null, mntr, conf };
      }),
    );
    const ids = new Set(answers.map(({ own }) => own));
    // Without an id of its own for each, they are counted.
    const areNamed = ids.size === answers.length && answers.every(({ own }) => own > 0);
    return answers.map(({ own, ...rest }, index) => ({ id: areNamed ? own : index + 1, ...rest }));
  }

  async #askSessions(): Promise<Sessions> {
    const members = await this.members();
    const connected = new Map<string, KnownSession>();
    const all = new Map<string, readonly string[]>();
    let [areTold, isDumped] = [false, false];
    const asked = members.map(async ({ id, address }) => {
      const [cons, dump] = await Promise.all([
        ask(address, 'cons', LIST_BYTES_MAX),
        ask(address, 'dump', LIST_BYTES_MAX),
      ]);
      return { id, connections: connectionsIn(cons), ephemerals: ephemeralsIn(dump) };
    });
    for (const { id, connections, ephemerals } of await Promise.all(asked)) {
      areTold ||= connections !== null;
      isDumped ||= ephemerals !== null;
      for (const connection of connections ?? []) {
        connected.set(connection.session, { server: id, connection });
      }
      for (const [session, paths] of ephemerals ?? []) all.set(session, paths);
    }
    this.#tellsSessions = areTold;
    return { connected, ephemerals: isDumped ? all : null };
  }
}

/** A value that is asked for anew once it is older than KEPT_MS. */
class Kept<T> {
  readonly #ask: () => Promise<T>;
  #value: Promise<T> | null = null;
  #untilMs = 0;

  constructor(ask: () => Promise<T>) {
    this.#ask = ask;
  }

  value(): Promise<T> {
    if (this.#value !== null && performance.now() < this.#untilMs) return this.#value;
    this.#untilMs = Number.POSITIVE_INFINITY;
    const value = this.#ask().finally(() => {
      this.#untilMs = performance.now() + KEPT_MS;
    });
    this.#value = value;
    return value;
  }
}

/** '' for a server that does not answer. */
async function ask(server: NamedAddress, word: string, bytesMax?: number): Promise<string> {
  return await askWord(server, word, TIMEOUT_MS, bytesMax).catch(() => '');
}
