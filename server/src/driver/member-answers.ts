/**
 * Answers questions that other members ask on behalf of operators: about status, events, hottest
 * paths and clients, the connected sessions, and what these watch in one directory. A leader ends a
 * session if it is asked to.
 *
 * Questions come from a wire: one that is not understood gets null, here and for its asker. Lists
 * of clients are made in steps, because there may be many of them with many watches.
 */
import { type Identity, nameOf, parentOf } from '@rookery/protocol';
import { VERSION } from '../config/version.js';
import type { EventRing, MemberEvent } from '../measures/event-ring.js';
import type { SummaryView } from '../measures/summary.js';
import type { ConnectionView, WordContext } from '../net/four-letter/context.js';
import { prefixedHex } from '../net/four-letter/format.js';
import { withoutFormerDigests } from '../pipeline/former-digests.js';
import type { HotKey, HotReport } from '../pipeline/hot-requests.js';
import type { SessionId } from '../state/txn.js';
import type { WatcherId, WatchMode, WatchTable } from '../state/watches.js';
import { ANSWER_BYTES_MAX, type Answerer, type HeldAnswer } from './peer-questions.js';

/** The events in one answer, if so many fit. */
export const EVENTS_PER_ANSWER = 100;
/** The JSON of the events in one answer, which says more besides. An event takes at most 10 KB. */
const EVENT_BYTES_MAX = ANSWER_BYTES_MAX - 1024;
/** The sessions whose ids fit into one question. */
export const SESSIONS_PER_QUESTION = 150;

/** The watches of one session that are looked at in each mode. */
const WATCHES_MAX = 1000;
/** The names of one session's watches that an answer has. */
const NAMES_MAX = 20;
/** The JSON of all names in one answer; where it is full, watches are not known. */
const NAME_BYTES_MAX = ANSWER_BYTES_MAX / 2;
/** The connections, or the watches, that are looked at in one step. */
const STEP = 128;

/**
 * What becomes of an operator's order to end a session: it ends by the order; it has ended or is
 * ending without it; or nothing, because the member that is asked does not lead.
 */
export type EndOutcome = 'ended' | 'alreadyEnding' | 'notLeading';

export interface AnsweringMember extends SessionTeller, HotTeller {
  expireSession(session: SessionId): EndOutcome;
}

export function memberAnswers(member: AnsweringMember, events: EventRing | null): Answerer {
  return (question) => {
    const asked = fieldsOf(question);
    switch (asked['kind']) {
      case 'status':
        return JSON.stringify(statusOf(member.context()));
      case 'end':
        return JSON.stringify(endSession(member, asked['session']));
      case 'events':
        return events === null ? null : eventsAnswer(events, asked);
      case 'session':
        return JSON.stringify(sessionAnswer(member, asked['session']));
      case 'hot':
        return JSON.stringify(hotAnswer(member));
      case 'clients':
        return clientsAmong(member, asked);
      default:
        return null;
    }
  };
}

/** zxids are hex strings. */
export function statusOf({ view, stats, wallMs, connectionCount }: WordContext) {
  const { details, health, configuration } = view;
  const { zxids } = details;
  return {
    id: details.memberId,
    release: VERSION,
    ensemble: details.ensembleId,
    mode: view.mode,
    serving: view.serving,
    role: health.role,
    leader: details.leaderId,
    epoch: details.epoch,
    zxids: {
      logged: prefixedHex(zxids.logged),
      committed: prefixedHex(zxids.committed),
      applied: prefixedHex(zxids.applied),
    },
    behind: health.unapplied,
    roleForMs: Math.floor(health.roleForMs),
    uptimeMs: Math.floor(view.uptimeMs),
    wallMs,
    sessions: view.globalSessions,
    connections: connectionCount,
    outstanding: view.outstandingRequests,
    watches: view.watches.all,
    znodes: view.nodeCount - 1,
    ephemerals: view.ephemeralCount,
    tree: { bytes: details.treeBytes, bytesMax: details.treeBytesMax },
    memoryBytes: process.memoryUsage.rss(),
    disk: {
      dataBytes: configuration.dataDirBytes,
      logBytes: configuration.dataLogBytes,
      freeBytes: details.diskFreeBytes,
      isFull: health.diskShortage !== null,
      sparedBy: health.sparedBy,
      damage: health.damage,
      checkpointGivenUp: health.checkpointGivenUp,
    },
    requests: { received: stats.packetsReceived, sent: stats.packetsSent },
    latencyMs: { average: stats.latency.averageMs, max: stats.latency.maxMs },
    timings: {
      reads: timingOf(stats.readLatency),
      updates: timingOf(stats.updateLatency),
      syncs: timingOf(details.counters.syncs),
    },
    counters: {
      commits: details.counters.commits,
      slowSyncs: details.counters.slowSyncs,
      expiredSessions: details.counters.expiredSessions,
    },
    checkpoint: { zxid: prefixedHex(details.checkpoint.zxid), wallMs: details.checkpoint.wallMs },
  };
}

/**
 * Count and sum grow since the start, so two looks give an average between them; the percentile
 * covers the last 5 to 10 minutes.
 */
function timingOf(measured: SummaryView) {
  const { count, sum: sumMs, max: maxMs } = measured;
  return { count, sumMs, maxMs, p99Ms: measured.percentile(0.99) };
}

/** A reader that waits for events is answered when there are some. */
function eventsAnswer(ring: EventRing, asked: Asked): string | HeldAnswer {
  const page = eventsAfter(ring, asked);
  if (asked['wait'] !== true || page.events.length > 0) return JSON.stringify(page);
  return {
    onNews: (ready) => ring.onEvent(ready),
    now: () => JSON.stringify(eventsAfter(ring, asked)),
  };
}

/**
 * If the reader names another process than this one, all events are new to it. There may be more
 * than the answer has: who asks for those after the last one gets the next ones.
 */
export function eventsAfter(
  ring: EventRing,
  asked: { readonly start?: unknown; readonly after?: unknown; readonly limit?: unknown },
) {
  const { start, newest } = ring;
  const restarted = typeof asked.start === 'string' && asked.start !== start;
  const after = restarted ? 0 : naturalOf(asked.after, 0);
  const limit = Math.min(EVENTS_PER_ANSWER, naturalOf(asked.limit, EVENTS_PER_ANSWER));
  const all = ring.after(after);
  // A reader that continues gets the next events, and one that begins gets the newest.
  const events = after === 0 ? fitting(all.reverse(), limit).reverse() : fitting(all, limit);
  return { start, newest, lost: ring.lostAfter(after), restarted, events };
}

/** The first events, as many as fit into an answer. */
function fitting(events: readonly MemberEvent[], limit: number): MemberEvent[] {
  const fit: MemberEvent[] = [];
  let bytes = 0;
  for (const event of events) {
    bytes += jsonBytes(event) + 1;
    if (fit.length === limit || bytes > EVENT_BYTES_MAX) break;
    fit.push(event);
  }
  return fit;
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

interface ClientFacts {
  readonly session: string;
  readonly host: string;
  readonly port: number;
  /** Names in the directory that was asked for; null if there are too many of them to tell. */
  readonly watches?: readonly string[] | null;
}

/** Connections and watches may change between its steps; what comes or goes may be missed. */
function* clientsAmong(
  member: AnsweringMember,
  asked: { readonly sessions?: unknown; readonly directory?: unknown },
): Generator<undefined, string> {
  const { sessions, directory } = asked;
  const wanted = new Set(Array.isArray(sessions) ? sessions.slice(0, SESSIONS_PER_QUESTION) : []);
  const clients: ClientFacts[] = [];
  let looked = 0;
  let nameBytes = 0;
  for (const { remoteAddress: host, remotePort: port, stats } of member.context().connections()) {
    looked += 1;
    if (looked % STEP === 0) yield;
    const session = prefixedHex(stats.sessionId);
    if (!wanted.has(session)) continue;
    const isAsked = typeof directory === 'string';
    let watches = isAsked
      ? yield* watchedIn(member, directory, Number(stats.sessionId))
      : undefined;
    const bytes = Array.isArray(watches) ? jsonBytes(watches) : 0;
    if (nameBytes + bytes > NAME_BYTES_MAX) watches = null;
    else nameBytes += bytes;
    clients.push({ session, host, port, ...(watches === undefined ? {} : { watches }) });
  }
  return JSON.stringify({ clients });
}

/**
 * The names of children of a directory whose data or existence a session that is connected here
 * watches; null if it has more watches than are looked at, or is not connected.
 */
function* watchedIn(
  member: AnsweringMember,
  directory: string,
  session: SessionId,
): Generator<undefined, readonly string[] | null> {
  const watcher = member.watcherOf(session);
  if (watcher === undefined) return null;
  const names = new Set<string>();
  for (const mode of WATCH_MODES) {
    let looked = 0;
    for (const path of member.watches.pathsOf(mode, watcher)) {
      if (looked === WATCHES_MAX || names.size === NAMES_MAX) return null;
      looked += 1;
      if (looked % STEP === 0) yield;
      if (path !== '/' && parentOf(path) === directory) names.add(nameOf(path));
    }
  }
  return [...names];
}

/** Ends the session as if its time were up, if this member leads. */
function endSession(member: AnsweringMember, session: unknown) {
  const isSession = typeof session === 'string' && /^0x[\da-f]{1,13}$/.test(session);
  const outcome = isSession ? member.expireSession(Number(session)) : 'notLeading';
  return { ended: outcome !== 'notLeading', alreadyEnding: outcome === 'alreadyEnding' };
}

type Asked = Readonly<Record<string, unknown>>;

function fieldsOf(question: string): Asked {
  try {
    const asked: unknown = JSON.parse(question);
    return typeof asked === 'object' && asked !== null
      ? Object.fromEntries(Object.entries(asked))
      : {};
  } catch {
    return {};
  }
}

function naturalOf(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : otherwise;
}

/** The paths, or sessions, in each list of an answer. */
export const HOT_MAX = 50;
/** A single request would be a high rate in less time. */
const SPAN_MS_MIN = 200;

interface HotTeller {
  context(): WordContext;
  hotRequests(limit: number): HotReport;
}

export interface HotPath {
  readonly path: string;
  readonly perSecond: number;
}

interface HotClient {
  readonly session: string;
  /** '' for a client within the member itself; null if it is no longer connected. */
  readonly host: string | null;
  readonly port: number;
  readonly perSecond: number;
}

export interface HotAnswer {
  /** The time that it covers; 0 when watching has just begun, with nothing in the lists. */
  readonly spanMs: number;
  readonly every: number;
  readonly readsPerSecond: number;
  readonly writesPerSecond: number;
  readonly requestsPerSecond: number;
  readonly reads: readonly HotPath[];
  readonly writes: readonly HotPath[];
  readonly clients: readonly HotClient[];
}

/**
 * What a member tells of the paths and sessions that are asked for and ask most, as rates.
 *
 * It tells them to its own admin port and to other members that ask for an operator. Paths are told
 * whatever their ACLs say, as `dump` and `wchp` do, so this is for those who may use the admin
 * port. An answer has a bound in entries, and each path is cut (hot-requests.ts).
 */
export function hotAnswer(member: HotTeller): HotAnswer {
  const { every, reads, writes, sessions, ...report } = member.hotRequests(HOT_MAX);
  const spanMs = report.spanMs < SPAN_MS_MIN ? 0 : Math.round(report.spanMs);
  const rate = (count: number): number => {
    return spanMs === 0 ? 0 : Math.round((10_000 * count) / spanMs) / 10;
  };
  const paths = (keys: readonly HotKey<string>[]): readonly HotPath[] => {
    return keys.map(({ key, count }) => ({ path: key, perSecond: rate(count) }));
  };
  const isShort = spanMs === 0;
  return {
    spanMs,
    every,
    readsPerSecond: rate(reads.total),
    writesPerSecond: rate(writes.total),
    requestsPerSecond: rate(sessions.total),
    reads: isShort ? [] : paths(reads.keys),
    writes: isShort ? [] : paths(writes.keys),
    clients: isShort ? [] : clientsOf(member, sessions.keys, rate),
  };
}

function clientsOf(
  member: HotTeller,
  sessions: readonly HotKey<number>[],
  rate: (count: number) => number,
): readonly HotClient[] {
  const wanted = new Set<unknown>(sessions.map(({ key }) => key));
  const places = new Map<unknown, { readonly host: string; readonly port: number }>();
  for (const { stats, remoteAddress: host, remotePort: port } of member.context().connections()) {
    if (wanted.has(stats.sessionId)) places.set(stats.sessionId, { host, port });
  }
  return sessions.map(({ key, count }) => {
    const { host = null, port = 0 } = places.get(key) ?? {};
    return { session: prefixedHex(key), host, port, perSecond: rate(count) };
  });
}

export const WATCH_MODES: readonly WatchMode[] = ['data', 'child', 'persistent', 'recursive'];
/** The number of a session's watches that an answer shows. */
export const WATCHED_MAX = 1000;
/** The characters of the watches' paths; an answer between members has 256 KB at most. */
const CHARACTERS_MAX = 60_000;
const IDENTITY_CHARACTERS_MAX = 1000;

interface WatchingMember {
  readonly watches: WatchTable;
  watcherOf(session: SessionId): WatcherId | undefined;
}

interface SessionTeller extends WatchingMember {
  context(): WordContext;
  identitiesOf(session: SessionId): readonly Identity[] | undefined;
}

/** An identity without what is secret of it. */
interface ShownIdentity {
  readonly scheme: string;
  readonly id: string;
}

interface WatchedPath {
  readonly path: string;
  readonly mode: WatchMode;
}

interface WatchedPaths {
  readonly watched: readonly WatchedPath[];
  /** Whether the session watches more than that. */
  readonly watchedTruncated: boolean;
}

/** Null unless the session's client is connected to this member. */
function sessionAnswer(member: SessionTeller, session: unknown) {
  for (const connection of member.context().connections()) {
    const { sessionId } = connection.stats;
    if (sessionId === 0 || prefixedHex(sessionId) !== session) continue;
    const id = Number(sessionId);
    const identities = shownIdentities(member.identitiesOf(id) ?? []);
    return { traffic: trafficOf(connection), ...watchedBy(member, id), identities };
  }
  return null;
}

/**
 * What a member tells of a session whose client is connected to it: its traffic and its watches.
 *
 * It tells them to its own admin port and to other members that ask for an operator, whose
 * questions come from a wire. An answer has a bound in watches and in characters.
 */
export function trafficOf({ stats }: ConnectionView) {
  return {
    established: Math.floor(stats.establishedWallMs),
    received: stats.received,
    sent: stats.sent,
    outstanding: stats.outstanding,
    lastOperation: stats.lastOperation,
    averageLatencyMs: stats.latency.averageMs,
    maxLatencyMs: stats.latency.maxMs,
  };
}

/** Shows of a digest the user alone, because the rest lets one guess the password. */
export function shownIdentities(identities: readonly Identity[]): readonly ShownIdentity[] {
  return withoutFormerDigests(identities).map(({ scheme, id }) => ({
    scheme,
    id: (scheme === 'digest' ? id.replace(/:.*/s, '') : id).slice(0, IDENTITY_CHARACTERS_MAX),
  }));
}

/** What the session watches, as far as this member knows; nothing if it is connected elsewhere. */
export function watchedBy(member: WatchingMember, session: SessionId): WatchedPaths {
  const watcher = member.watcherOf(session);
  const watched: WatchedPath[] = [];
  let characters = 0;
  if (watcher === undefined) return { watched, watchedTruncated: false };
  for (const mode of WATCH_MODES) {
    for (const path of member.watches.pathsOf(mode, watcher)) {
      characters += path.length;
      if (watched.length === WATCHED_MAX || characters > CHARACTERS_MAX) {
        return { watched, watchedTruncated: true };
      }
      watched.push({ path, mode });
    }
  }
  return { watched, watchedTruncated: false };
}
