/**
 * Sessions, their ephemerals and their watches as the admin port's commands list them: ids are
 * keys in decimal, values are numbers. All lazy, but for the sets of sessions by expiry, which are
 * told by their time and so gathered first.
 */
import type { Int64 } from '@rookery/protocol';
import type { WordContext } from '../net/four-letter/context.js';
import type { MemberView } from '../net/member-view.js';
import { type Json, Lines } from './json-text.js';

/** Only where the leases are kept: nothing at a follower, as at ZooKeeper's. */
export function expiries({ view, wallMs }: WordContext): Lines {
  const intervalMs = view.configuration.tickTimeMs;
  const sets = new Map<number, Int64[]>();
  for (const { id, inMs } of view.sessions.expiries ?? []) {
    const at = Math.ceil((wallMs + inMs) / intervalMs) * intervalMs;
    const set = sets.get(at);
    if (set === undefined) sets.set(at, [id]);
    else set.push(id);
  }
  const sorted = [...sets].sort(([a], [b]) => a - b);
  return new Lines(sorted.map(([at, ids]) => [String(at), ids]));
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

function* pathsBySession(
  all: Iterable<{ readonly session: Int64; readonly paths: Iterable<string> }>,
): Generator<readonly [string, Json]> {
  for (const { session, paths } of all) yield [String(session), paths];
}

function* sessionsByPath(view: MemberView): Generator<readonly [string, Json]> {
  for (const { path, sessions } of view.watchedPaths()) yield [path, sessions];
}
