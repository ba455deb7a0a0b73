/**
 * Reports each change of the client's state on the channel `rookery:client:state` and in the log.
 * It is the first listener, so that the log shows the change before what the application does about
 * it.
 */
import type { Log } from '../api/logger.js';
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
      ...(sessionId === null ? {} : { session: `0x${sessionId.toString(16)}` }),
      ...(state === 'connected' ? { server, newSession, readOnly } : {}),
      ...(state === 'connected' && session !== null ? { timeoutMs: session.timeoutMs } : {}),
      ...(error === null ? {} : { err: error }),
      ...(lossCause === undefined ? {} : { lossCause }),
      from,
      fromMs: Math.round(lastedMs),
    });
    from = state;
    sinceMs = nowMs;
  });
}

function sentenceOf({ state, newSession, error }: StateChange): string {
  switch (state) {
    case 'connecting':
      return 'a new session is being opened';
    case 'connected':
      return newSession ? 'a session has been opened' : 'the session goes on';
    case 'suspended':
      return 'the connection is lost; the session goes on at the next server, if it can';
    case 'lost':
      return 'the session is over, or may soon be; its ephemeral znodes go with it';
    case 'closed':
      return error === null ? 'the client is closed' : 'the client has ended by an error';
  }
}
