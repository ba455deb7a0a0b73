/**
 * Reads members and sessions from the servers' four-letter words. ZooKeeper answers only `srvr`
 * unless `4lw.commands.whitelist` has more, so every other answer may be missing.
 *
 * Answers are kept for a moment, so that each server is asked once however many users look.
 */
import type { FourLetterWord } from '@rookery/server';
import type { NamedAddress } from '../command/addresses.js';
import { askWord } from '../status/four-letter-word.js';
import { type Connection, connectionsIn, ephemeralsIn, linesOf } from '../status/word-answers.js';

const TIMEOUT_MS = 2000;
const MEMBERS_KEPT_MS = 1000;
const LISTS_KEPT_MS = 5000;
/** When servers that did not answer `cons` are asked again. */
const AGAIN_MS = 30_000;
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

export class ServerWords {
  readonly #servers: readonly NamedAddress[];
  readonly #members = new Kept(() => this.#askMembers(), MEMBERS_KEPT_MS);
  readonly #connected = new Kept(() => this.#askConnected(), LISTS_KEPT_MS);
  readonly #ephemerals = new Kept(() => this.#askEphemerals(), LISTS_KEPT_MS);
  #tellsSessions = false;
  #againMs = 0;

  constructor(servers: readonly NamedAddress[]) {
    this.#servers = servers;
  }

  /** Whether any server answered `cons` when the servers were last asked. */
  get tellsSessions(): boolean {
    return this.#tellsSessions;
  }

  members(): Promise<readonly ServerAnswers[]> {
    return this.#members.value();
  }

  /** The sessions that are connected, by their ids in hex. */
  connected(): Promise<ReadonlyMap<string, KnownSession>> {
    return this.#connected.value();
  }

  /** The paths of ephemerals by session; null if no server answers `dump`. */
  ephemerals(): Promise<ReadonlyMap<string, readonly string[]> | null> {
    return this.#ephemerals.value();
  }

  /** Where sessions are connected from, by their ids in hex; empty if no server reports it. */
  async addresses(): Promise<ReadonlyMap<string, string>> {
    if (!this.#tellsSessions && performance.now() < this.#againMs) return new Map();
    const connected = await this.connected();
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
    // Unless each of them reports an id of its own, their ids are their positions in the list.
    const areNamed = ids.size === answers.length && answers.every(({ own }) => own > 0);
    return answers.map(({ own, ...rest }, index) => ({ id: areNamed ? own : index + 1, ...rest }));
  }

  async #askConnected(): Promise<ReadonlyMap<string, KnownSession>> {
    const connected = new Map<string, KnownSession>();
    let areTold = false;
    const asked = (await this.members()).map(async ({ id, address }) => {
      return { id, connections: connectionsIn(await ask(address, 'cons', LIST_BYTES_MAX)) };
    });
    for (const { id, connections } of await Promise.all(asked)) {
      areTold ||= connections !== null;
      for (const connection of connections ?? []) {
        connected.set(connection.session, { server: id, connection });
      }
    }
    this.#tellsSessions = areTold;
    this.#againMs = performance.now() + AGAIN_MS;
    return connected;
  }

  /**
   * Asks every server and merges the answers. Each lists all ephemerals of its copy of the tree,
   * but it may not answer `dump`, or its copy may not be up to date.
   */
  async #askEphemerals(): Promise<ReadonlyMap<string, readonly string[]> | null> {
    const answers = await Promise.all(
      this.#servers.map(async (address) =>
        ephemeralsIn(await ask(address, 'dump', LIST_BYTES_MAX)),
      ),
    );
    const told = answers.filter((answer) => answer !== null);
    return told.length === 0 ? null : new Map(told.flatMap((answer) => [...answer]));
  }
}

/** A value that is kept for `keptMs` and then asked for again. */
class Kept<T> {
  readonly #ask: () => Promise<T>;
  readonly #keptMs: number;
  #value: Promise<T> | null = null;
  #untilMs = 0;

  constructor(ask: () => Promise<T>, keptMs: number) {
    this.#ask = ask;
    this.#keptMs = keptMs;
  }

  value(): Promise<T> {
    if (this.#value !== null && performance.now() < this.#untilMs) return this.#value;
    this.#untilMs = Number.POSITIVE_INFINITY;
    const value = this.#ask().finally(() => {
      this.#untilMs = performance.now() + this.#keptMs;
    });
    this.#value = value;
    return value;
  }
}

/** '' for a server that does not answer. */
async function ask(server: NamedAddress, word: FourLetterWord, bytesMax?: number): Promise<string> {
  return await askWord(server, word, TIMEOUT_MS, bytesMax).catch(() => '');
}
