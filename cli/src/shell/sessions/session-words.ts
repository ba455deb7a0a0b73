/**
 * What servers tell of sessions by `dump` and `wchc` beside what the console's gateway reads of
 * such answers. Pure; what is not understood is left out.
 */
import { ephemeralsIn } from '../../status/word-answers.js';

export interface ToldSessions {
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
