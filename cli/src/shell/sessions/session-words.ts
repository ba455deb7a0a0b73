/**
 * What servers, of Rookery and of ZooKeeper, tell of sessions by the four-letter words `cons`,
 * `dump` and `wchc`. Pure; what it does not understand it leaves out.
 */

/** A client that is connected to the server that was asked. */
export interface ToldConnection {
  readonly session: string;
  /** `host:port`, with an IPv6 address in brackets. */
  readonly address: string;
  readonly timeoutMs: number | null;
  /** When the connection was made, in ms since 1970. */
  readonly sinceMs: number | null;
  readonly received: number | null;
  readonly sent: number | null;
  readonly outstanding: number | null;
  /** The word of four letters for the last operation, such as `GETD`. */
  readonly lastOperation: string | null;
  readonly averageLatencyMs: number | null;
  readonly maxLatencyMs: number | null;
}

export interface ToldSessions {
  /** Timeouts in ms by session; null where the server tells when a session expires instead. */
  readonly timeouts: ReadonlyMap<string, number | null>;
  /** The paths of the ephemeral znodes of each session that owns any. */
  readonly ephemerals: ReadonlyMap<string, readonly string[]>;
}

const CONNECTION = /^ ?\/(.+):(\d{1,5})\[\d+\]\((.*)\)$/;
const SESSION = /^0x[\da-f]{1,16}$/;

/** The lines of `cons` that have a session. */
export function connectionsIn(text: string): readonly ToldConnection[] {
  const found: ToldConnection[] = [];
  for (const line of text.split('\n')) {
    const [, host, port, list] = CONNECTION.exec(line) ?? [];
    if (host === undefined || list === undefined) continue;
    const facts = new Map(list.split(',').map(pairOf));
    const session = facts.get('sid');
    if (session === undefined || !SESSION.test(session)) continue;
    const figure = (name: string): number | null => figureOf(facts.get(name));
    found.push({
      session,
      address: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`,
      timeoutMs: figure('to'),
      sinceMs: figure('est'),
      received: figure('recved'),
      sent: figure('sent'),
      outstanding: figure('queued'),
      lastOperation: facts.get('lop') ?? null,
      averageLatencyMs: figure('avglat'),
      maxLatencyMs: figure('maxlat'),
    });
  }
  return found;
}

/** Null for an answer that is no `dump`. */
export function sessionsIn(text: string): ToldSessions | null {
  if (!text.startsWith('SessionTracker dump')) return null;
  const timeouts = new Map<string, number | null>();
  const ephemerals = new Map<string, string[]>();
  let owned: string[] | null = null;
  let isPastSessions = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('ephemeral nodes dump')) isPastSessions = true;
    // The connections that follow are told by `cons`.
    if (line.startsWith('Connections dump')) break;
    if (isPastSessions) {
      const [, session] = /^(0x[\da-f]{1,16}):$/.exec(line) ?? [];
      if (session !== undefined) {
        owned = [];
        ephemerals.set(session, owned);
      } else if (line.startsWith('\t/')) owned?.push(line.slice(1));
      continue;
    }
    const [, session, timeout] = /^\t?(0x[\da-f]{1,16})(?:\t(\d+)ms)?$/.exec(line) ?? [];
    if (session !== undefined) timeouts.set(session, figureOf(timeout));
  }
  return { timeouts, ephemerals };
}

/** The paths on which a session has data watches, from `wchc`. */
export function watchesIn(text: string, session: string): readonly string[] {
  const paths: string[] = [];
  let isWanted = false;
  for (const line of text.split('\n')) {
    if (SESSION.test(line)) isWanted = line === session;
    else if (isWanted && line.startsWith('\t/')) paths.push(line.slice(1));
  }
  return paths;
}

function pairOf(fact: string): readonly [name: string, value: string] {
  const equals = fact.indexOf('=');
  return [fact.slice(0, equals), fact.slice(equals + 1)];
}

function figureOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
