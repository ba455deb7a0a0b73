/**
 * Reports each change of the client's state on the channel `rookery:client:state` and in the log.
 * It is the first listener, so that the log shows the change before what the application does about
 * it.
 */
import type { Log } from '../api/logger.js';
import { sessionText } from '../api/session-text.js';
import type { Surroundings } from '../api/surroundings.js';
import type { ClientState, Session, StateChange } from '../api/values.js';
import { publishState } from './diagnostics.js';
import type { StateFeed } from './state-feed.js';

export interface StateObserverOptions {
  readonly surroundings: Surroundings;
  readonly log: Log;
  /** The name of the client. */
  readonly name: string;
  readonly keeper: { readonly server: string | null; readonly session: Session | null };
}

const LEVELS = {
  connecting: 'info',
  connected: 'info',
  suspended: 'warn',
  lost: 'warn',
  closed: 'info',
} as const satisfies Record<ClientState, keyof Log>;

export function observeStates(states: StateFeed, options: StateObserverOptions): void {
  const { surroundings, log, name, keeper } = options;
  let from = states.state;
  let sinceMs = surroundings.nowMs();
  states.on((change) => {
    const nowMs = surroundings.nowMs();
    const { server, session } = keeper;
    const lastedMs = nowMs - sinceMs;
    publishState({ ...change, client: name, from, fromMs: lastedMs, server });
    const { state, sessionId, newSession, readOnly, error, lossCause } = change;
    log[LEVELS[state]](`session.${state}`, sentenceOf(change), {
      ...(sessionId !== null && { session: sessionText(sessionId) }),
      ...(state === 'connected' && {
        server,
        newSession,
        readOnly,
        timeoutMs: session?.timeoutMs,
      }),
      ...(error && { err: error }),
      ...(lossCause && { lossCause }),
      from,
      fromMs: Math.round(lastedMs),
    });
    from = state;
    sinceMs = nowMs;
  });
}

function sentenceOf({ state, newSession, error }: StateChange): string {
  const sentences: Readonly<Record<ClientState, string>> = {
    connecting: 'a new session is being opened',
    connected: newSession ? 'a session has been opened' : 'the session goes on',
    suspended: 'the connection is lost; the session may go on',
    lost: 'the session and its ephemerals are gone, or may soon be',
    closed: `the client ${error === null ? 'is closed' : 'has ended by an error'}`,
  };
  return sentences[state];
}
