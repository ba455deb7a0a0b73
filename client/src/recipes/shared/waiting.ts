/**
 * Runs an attempt in the client's session for as long as the caller is willing to wait: opens and
 * closes the scope of the wait, waits for a session, and decides what follows when it is lost.
 *
 * What the attempt receives ends with the session, and nothing is carried over from one session to
 * the next. Connection problems before the first session only prolong the wait. Used by every
 * recipe that waits.
 */
import { SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Session } from '../../api/values.js';
import { isTrouble, pauseBetween, type Within } from './persist.js';
import { type WaitOptions, WaitScope } from './wait-scope.js';

export interface SessionWait extends WaitOptions {
  /**
   * Whether to begin the attempt again in the next session, or fail with SessionExpiredError
   * (default).
   */
  readonly onSessionLost?: 'fail' | 'rejoin' | undefined;
  /** Makes the caller's error when `timeoutMs` have passed. */
  readonly timeoutError: () => Error;
}

/**
 * Resolves with the attempt's result. Rejects with the reason why the wait ended, if it did, or
 * else with the attempt's error.
 */
export async function inSession<T>(
  client: Client,
  options: SessionWait,
  attempt: (within: Within) => Promise<T>,
): Promise<T> {
  const scope = WaitScope.open(client, options, options.timeoutError);
  try {
    for (;;) {
      const session = await openSession(client, scope, options);
      const part = scope.within(client, session);
      try {
        return await attempt({ session, signal: part.signal });
      } catch (error) {
        const reason = part.errorOf(error);
        const mayRejoin = options.onSessionLost === 'rejoin' && !scope.ended;
        if (!mayRejoin || !(reason instanceof SessionExpiredError)) throw reason;
      } finally {
        part.close();
      }
    }
  } finally {
    scope.close();
  }
}

/** A client that opens no further session reports its loss again and again. */
const LOST_SESSIONS_MAX = 10;

/**
 * Resolves with the client's session once it has one. With 'rejoin', waits for the next one if a
 * session is lost meanwhile.
 */
export async function openSession(
  client: Client,
  scope: WaitScope,
  { onSessionLost }: Pick<SessionWait, 'onSessionLost'>,
): Promise<Session> {
  let lostSessions = 0;
  for (let attempt = 0; ; attempt++) {
    try {
      scope.signal.throwIfAborted();
      return await client.connected({ signal: scope.signal });
    } catch (error) {
      if (error instanceof SessionExpiredError) lostSessions += 1;
      const mayRejoin = lostSessions < LOST_SESSIONS_MAX && onSessionLost === 'rejoin';
      const isPassing = error instanceof SessionExpiredError ? mayRejoin : isTrouble(error);
      if (scope.ended || !isPassing) throw scope.errorOf(error);
      await pauseBetween(client, attempt, scope.signal);
    }
  }
}
