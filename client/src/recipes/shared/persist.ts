/**
 * Repeats operations that may be repeated until they are answered, within one session. It never
 * continues in another session, never repeats after an error that is an answer, and pauses between
 * attempts so as not to overload a server that has problems.
 */
import { KeeperError, NotReadOnlyError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { ClientError } from '../../api/errors.js';
import type { Session } from '../../api/values.js';
import { pause } from './wait-scope.js';

const PAUSE_BASE_MS = 20;
const PAUSE_MAX_MS = 1_000;

/** The session to which an attempt belongs, and the signal that ends it. */
export interface Within {
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** For work that nobody waits for: it continues until the session is over. */
export function untilOver(session: Session): Within {
  return { session, signal: new AbortController().signal };
}

/** The options of every operation of the attempt. */
export function bounds(within: Within): { session: bigint; signal: AbortSignal } {
  return { session: within.session.id, signal: within.signal };
}

/**
 * Resolves with the answer to a read, or to anything that may be done twice. Rejects with the
 * signal's reason, or with the error if it is not a problem of the connection or the server.
 */
export async function persist<T>(
  client: Client,
  within: Within,
  operation: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      await whenConnected(client, within);
      return await operation();
    } catch (error) {
      within.signal.throwIfAborted();
      if (!isTrouble(error)) throw error;
      await pauseBetween(client, attempt, within.signal);
    }
  }
}

/** Resolves once the session has a connection. */
export async function whenConnected(client: Client, within: Within): Promise<void> {
  if (client.state === 'connected' && client.session?.id === within.session.id) return;
  await client.connected(bounds(within));
}

/**
 * There is no pause after the first failure: if the connection was lost, waiting for the next one
 * is the pause.
 */
export async function pauseBetween(
  client: Client,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  if (attempt === 0) return;
  const delayMaxMs = Math.min(PAUSE_MAX_MS, PAUSE_BASE_MS * 2 ** Math.min(attempt, 16));
  await pause(client, client.surroundings.random() * delayMaxMs, signal);
}

/**
 * Whether an error only means that the connection or the server had a problem. This includes a
 * read-only server that refuses a write: that ends once there is a quorum again, and a recipe waits
 * for it, although a plain operation is rejected.
 */
export function isTrouble(error: unknown): boolean {
  if (error instanceof NotReadOnlyError) return true;
  return (error instanceof KeeperError || error instanceof ClientError) && error.retryable;
}

/** Whether a failed operation may have taken effect. An unknown error counts as ambiguous. */
export function isAmbiguous(error: unknown): boolean {
  const isOurs = error instanceof KeeperError || error instanceof ClientError;
  return !isOurs || error.ambiguous;
}
