/**
 * Patience with the connection: repeats what may be repeated until it is answered, within one
 * session. Never crosses into another session, never repeats for an error that is an answer, and
 * waits between attempts, so that a server in trouble is not hammered.
 */
import { KeeperError, NotReadOnlyError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { Session } from '../../api/values.js';
import { ClientError } from '../../errors.js';
import { pause } from './wait-scope.js';

const PAUSE_BASE_MS = 20;
const PAUSE_MAX_MS = 1_000;

/** The session that an attempt belongs to, and the signal that ends it. */
export interface Within {
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** For work that nobody waits for: until the session is over. */
export function untilOver(session: Session): Within {
  return { session, signal: new AbortController().signal };
}

/** What every operation of the attempt is given. */
export function bounds(within: Within): { session: bigint; signal: AbortSignal } {
  return { session: within.session.id, signal: within.signal };
}

/**
 * The answer of a read, or of anything that may be done twice. Rejects with the signal's reason, or
 * with the error if it is of another kind than trouble on the way to the server.
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
 * None after the first failure: if it was the connection, the wait for the next one is the pause.
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
 * Whether an error says no more than that the way to the server, or the server, was in trouble. So
 * says a read-only server that refuses a write: it passes once there is a quorum again, for which a
 * recipe waits, although a plain operation is rejected.
 */
export function isTrouble(error: unknown): boolean {
  if (error instanceof NotReadOnlyError) return true;
  return (error instanceof KeeperError || error instanceof ClientError) && error.retryable;
}

/** Whether a failed operation may have taken effect. What is not known to be safe is not. */
export function isAmbiguous(error: unknown): boolean {
  const isOurs = error instanceof KeeperError || error instanceof ClientError;
  return !isOurs || error.ambiguous;
}
