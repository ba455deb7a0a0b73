/**
 * What a member tells another one that asks for an operator: its status, its events, and which
 * sessions are connected to it. Questions come from a wire: what is not understood gets null.
 */
import type { EventRing } from '../events/event-ring.js';
import type { SummaryView } from '../measures/summary.js';
import type { WordContext } from '../net/four-letter/context.js';
import { prefixedHex } from '../net/four-letter/format.js';
import { VERSION } from '../version.js';
import type { Answerer } from './peer-questions.js';

/** The events in one answer; each takes 2 KB at most. */
export const EVENTS_PER_ANSWER = 100;
/** The sessions whose ids fit into one question. */
export const SESSIONS_PER_QUESTION = 150;

export function memberAnswers(context: () => WordContext, events: EventRing | null): Answerer {
  return (question) => {
    const asked = fieldsOf(question);
    switch (asked['kind']) {
      case 'status':
        return JSON.stringify(statusOf(context()));
      case 'events':
        return events === null ? null : JSON.stringify(eventsAfter(events, asked));
      case 'clients':
        return JSON.stringify(clientsAmong(context(), asked['sessions']));
      default:
        return null;
    }
  };
}

/** zxids are hex strings. */
export function statusOf({ view, stats, wallMs, connectionCount }: WordContext) {
  const { inside, health, configuration } = view;
  const { zxids } = inside;
  return {
    id: inside.memberId,
    release: VERSION,
    ensemble: inside.ensembleId,
    ...{ mode: view.mode, serving: view.serving, role: inside.role, leader: inside.leaderId },
    epoch: inside.epoch,
    zxids: {
      logged: prefixedHex(zxids.logged),
      committed: prefixedHex(zxids.committed),
      applied: prefixedHex(zxids.applied),
    },
    behind: health.behind,
    roleForMs: Math.floor(health.roleForMs),
    uptimeMs: Math.floor(view.uptimeMs),
    wallMs,
    sessions: view.globalSessions,
    connections: connectionCount,
    outstanding: view.outstandingRequests,
    watches: view.watches.all,
    znodes: view.nodeCount - 1,
    ephemerals: view.ephemeralCount,
    tree: { bytes: inside.treeBytes, bytesMax: inside.treeBytesMax },
    memoryBytes: process.memoryUsage.rss(),
    disk: {
      dataBytes: configuration.dataDirBytes,
      logBytes: configuration.dataLogBytes,
      freeBytes: inside.diskFreeBytes,
      isFull: health.diskShortage !== null,
    },
    requests: { received: stats.packetsReceived, sent: stats.packetsSent },
    latencyMs: { average: stats.latency.averageMs, max: stats.latency.maxMs },
    timings: {
      reads: timingOf(stats.readLatency),
      updates: timingOf(stats.updateLatency),
      syncs: timingOf(inside.counters.syncs),
    },
    counters: {
      commits: inside.counters.commits,
      slowSyncs: inside.counters.slowSyncs,
      expiredSessions: inside.counters.expiredSessions,
    },
    checkpoint: { zxid: prefixedHex(inside.checkpoint.zxid), wallMs: inside.checkpoint.wallMs },
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

/** If the reader names another process than this one, all events are new to it. */
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
  const events = after === 0 ? all.slice(Math.max(0, all.length - limit)) : all.slice(0, limit);
  return { start, newest, lost: ring.lostAfter(after), restarted, events };
}

function clientsAmong(context: WordContext, asked: unknown) {
  const wanted = new Set(Array.isArray(asked) ? asked.slice(0, SESSIONS_PER_QUESTION) : []);
  const clients: { session: string; host: string; port: number }[] = [];
  for (const { remoteAddress: host, remotePort: port, stats } of context.connections()) {
    const session = prefixedHex(stats.sessionId);
    if (wanted.has(session)) clients.push({ session, host, port });
  }
  return { clients };
}

function fieldsOf(question: string): Readonly<Record<string, unknown>> {
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
