/**
 * Running an attempt in the client's session, as long as the caller is willing to wait: opens and
 * closes the scope of the wait, waits for a session, and says what follows when that is lost.
 *
 * What the attempt is given ends with the session; nothing is carried from one session to the next.
 * Trouble on the way to the first session is waited out. Used by every recipe that waits.
 */
import { SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Session } from '../../api/values.js';
import { isTrouble, pauseBetween, type Within } from './persist.js';
import { type WaitOptions, WaitScope } from './wait-scope.js';

export interface SessionWait extends WaitOptions {
  /** Begin the attempt again in the next session, or fail with SessionExpiredError (default). */
  readonly onSessionLost?: 'fail' | 'rejoin' | undefined;
  /** What the caller gets when `timeoutMs` have passed. */
  readonly timeoutError: () => Error;
}

/** The attempt's result; of its errors, the one that ended the wait if that is what happened. */
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

/** A client that opens no further session says that it is lost again and again. */
const LOST_SESSIONS_MAX = 10;

/** The client's session, once it has one. One that is lost on the way is waited out by 'rejoin'. */
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
