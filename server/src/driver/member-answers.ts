/**
 * What a member answers when another member asks on behalf of an operator: its status, its events,
 * what its clients ask for most, which sessions are connected to it, and what they watch in one
 * directory. A leader ends a session if it is asked to. Questions come from a wire: for one that is
 * not understood the result is null, here and for its asker. Which clients are here is told in
 * steps, because there may be many of them with many watches.
 */
import { nameOf, parentOf } from '@rookery/protocol';
import { VERSION } from '../config/version.js';
import type { EventRing, MemberEvent } from '../measures/event-ring.js';
import type { SummaryView } from '../measures/summary.js';
import type { WordContext } from '../net/four-letter/context.js';
import { prefixedHex } from '../net/four-letter/format.js';
import type { SessionId } from '../state/txn.js';
import { type HotTeller, hotAnswer } from './hot-answer.js';
import { ANSWER_BYTES_MAX, type Answerer, type HeldAnswer } from './peer-questions.js';
import { type SessionTeller, sessionAnswer, WATCH_MODES } from './session-answer.js';

/** The events in one answer, if so many fit. */
export const EVENTS_PER_ANSWER = 100;
/** The JSON of the events in one answer, which says more besides. An event takes at most 10 KB. */
const EVENT_BYTES_MAX = ANSWER_BYTES_MAX - 1024;
/** The sessions whose ids fit into one question. */
export const SESSIONS_PER_QUESTION = 150;

/** The watches of one session that are looked at in each mode. */
const WATCHES_MAX = 1000;
/** The names of one session's watches that are told. */
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
  member: Pick<AnsweringMember, 'watches' | 'watcherOf'>,
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
