/**
 * Members and sessions, as far as the servers tell of them in four-letter words.
 */
import { type ApiCall, HttpError, jsonAnswer, sessionIn, wholeNumber } from '@rookery/server/http';
import type { KnownSession, ServerAnswers, ServerWords } from './server-words.js';

const LIST = { min: 1, max: 1000, otherwise: 100 };
/** The paths of ephemerals that are listed of one session. */
const OWNED_MAX = 1000;

const ROLES: Readonly<Record<string, string>> = {
  leader: 'leading',
  standalone: 'leading',
  follower: 'following',
  observer: 'following',
};

export class ServerRoutes {
  readonly #words: ServerWords;

  constructor(words: ServerWords) {
    this.#words = words;
  }

  readonly members = async () => {
    const members = await this.#words.members();
    const leader = members.find(({ srvr }) => ROLES[srvr?.get('Mode') ?? ''] === 'leading');
    return jsonAnswer({ self: null, members: members.map((one) => memberFacts(one, leader)) });
  };

  readonly member = async ({ names }: ApiCall) => {
    const members = await this.#words.members();
    const leader = members.find(({ srvr }) => ROLES[srvr?.get('Mode') ?? ''] === 'leading');
    const found = members.find(({ id }) => String(id) === names[0]);
    if (found === undefined) throw new HttpError(404, 'There is no such member.');
    return jsonAnswer(memberFacts(found, leader));
  };

  readonly sessions = async ({ query }: ApiCall) => {
    const limit = wholeNumber(query, 'limit', LIST);
    const after = BigInt(sessionIn(query.get('after'), 'after') ?? 0);
    const all = await this.#sessions();
    const ids = [...all.connected.keys()].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    const rest = ids.filter((id) => BigInt(id) > after);
    const page = rest.slice(0, limit);
    return jsonAnswer({
      count: ids.length,
      sessions: page.map((id) => sessionFacts(id, all)),
      next: rest.length > limit ? (page.at(-1) ?? null) : null,
    });
  };

  readonly session = async ({ names }: ApiCall) => {
    const id = sessionIn(names[0] ?? '', 'session') ?? '';
    const all = await this.#sessions();
    if (!all.connected.has(id)) {
      const sentence = 'No server has a connection with that session.';
      throw new HttpError(404, sentence, {}, { session: id });
    }
    const paths = all.ephemerals === null ? null : (all.ephemerals.get(id) ?? []);
    const owned = {
      ephemeralPaths: paths?.slice(0, OWNED_MAX) ?? null,
      ephemeralPathsTruncated: (paths?.length ?? 0) > OWNED_MAX,
    };
    // No word shows a client's identities, and the words that show watches have unbounded answers.
    const untold = { identities: null, watched: null, watchedTruncated: null };
    return jsonAnswer({ ...sessionFacts(id, all), ...untold, ...owned });
  };

  async #sessions(): Promise<Sessions> {
    const [connected, ephemerals] = await Promise.all([
      this.#words.connected(),
      this.#words.ephemerals(),
    ]);
    return { connected, ephemerals };
  }
}

interface Sessions {
  readonly connected: ReadonlyMap<string, KnownSession>;
  readonly ephemerals: ReadonlyMap<string, readonly string[]> | null;
}

function memberFacts(
  { id, address: { host, port }, srvr, mntr }: ServerAnswers,
  leader: ServerAnswers | undefined,
) {
  const place = { id, host, client: { host, port } };
  if (srvr === null) return { ...place, answers: false };
  const mode = srvr.get('Mode') ?? '';
  const [, average = null, max = null] = (srvr.get('Latency min/avg/max') ?? '')
    .split('/')
    .map((text) => finite(text));
  const figure = (name: string): number | null => finite(mntr?.get(`zk_${name}`));
  return {
    ...place,
    answers: true,
    release: (srvr.get('Zookeeper version') ?? '').replace(/,.*/, ''),
    mode,
    serving: true,
    role: ROLES[mode] ?? mode,
    leader: leader?.id ?? null,
    zxids: { applied: srvr.get('Zxid') ?? null },
    uptimeMs: figure('uptime'),
    sessions: figure('global_sessions'),
    connections: finite(srvr.get('Connections')),
    outstanding: finite(srvr.get('Outstanding')),
    watches: figure('watch_count'),
    znodes: finite(srvr.get('Node count')),
    ephemerals: figure('ephemerals_count'),
    tree: { bytes: figure('approximate_data_size'), bytesMax: null },
    requests: { received: finite(srvr.get('Received')), sent: finite(srvr.get('Sent')) },
    latencyMs: { average, max },
  };
}

/** Null for what is no number. */
function finite(text: string | undefined): number | null {
  const value = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

function sessionFacts(id: string, { connected, ephemerals }: Sessions) {
  const known: KnownSession | undefined = connected.get(id);
  if (known === undefined) throw new HttpError(404, 'There is no such session.');
  const { address, timeoutMs, session: _, ...connection } = known.connection;
  return {
    session: id,
    timeoutMs,
    closing: false,
    expiresInMs: null,
    ephemerals: ephemerals === null ? null : (ephemerals.get(id)?.length ?? 0),
    member: known.server,
    address,
    connection: { address, ...connection },
  };
}
