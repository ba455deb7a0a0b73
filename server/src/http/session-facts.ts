/**
 * Sessions, their ephemerals and their watches as the admin port's commands list them: ids are
 * keys in decimal, values are numbers. All lazy.
 */
import type { Int64 } from '@rookery/protocol';
import type { WordContext } from '../net/four-letter/context.js';
import type { MemberView, SessionPaths } from '../net/member-view.js';
import { type Json, Lines, PAUSE } from './json-text.js';

/** Only where the leases are kept: nothing at a follower, as at ZooKeeper's. */
export function expiries(context: WordContext): Lines {
  return new Lines(expirySets(context));
}

/** They are told by their time, so all are gathered first, over as many turns as it takes. */
function* expirySets({ view, wallMs }: WordContext) {
  const intervalMs = view.configuration.tickTimeMs;
  const sets = new Map<number, Int64[]>();
  for (const { id, inMs } of view.sessions.expiries ?? []) {
    const at = Math.ceil((wallMs + inMs) / intervalMs) * intervalMs;
    const set = sets.get(at);
    if (set === undefined) sets.set(at, [id]);
    else set.push(id);
    yield PAUSE;
  }
  for (const [at, ids] of [...sets].sort(([a], [b]) => a - b)) yield [String(at), ids] as const;
}

export function ephemerals(view: MemberView): Lines {
  return new Lines(pathsBySession(view.ephemerals()));
}

export function watchingSessionsOf(view: MemberView): Lines {
  return new Lines(pathsBySession(view.watchingSessions()));
}

export function watchedPathsOf(view: MemberView): Lines {
  return new Lines(sessionsByPath(view));
}

function* pathsBySession(all: Iterable<SessionPaths | null>) {
  for (const one of all) {
    yield one === null ? PAUSE : ([String(one.session), present(one.paths)] as const);
  }
}

function* sessionsByPath(view: MemberView) {
  for (const one of view.watchedPaths()) {
    yield one === null ? PAUSE : ([one.path, present(one.sessions)] as const);
  }
}

function* present<T extends Json>(all: Iterable<T | null>): Generator<T | typeof PAUSE> {
  for (const one of all) yield one ?? PAUSE;
}
