/**
 * Retries of operations: `retry()`, whose delays a policy determines.
 *
 * A retry never silently crosses from one session to the next, because code that depended on
 * ephemeral znodes of the old session would continue as if they existed (vespa #3340, CURATOR-498).
 * An operation that may have taken effect is repeated only if the caller says that this is
 * harmless. Delays use the client's surroundings, and neither a timer nor a listener is left
 * behind. Called by applications and helpers.
 */
import { KeeperError, keeperError, SessionExpiredError } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError, ClientError, OperationAbortedError } from '../api/errors.js';
import type { RetryPolicy } from '../api/retry-policy.js';
import type { OperationOptions } from '../api/values.js';
import { delay } from './delay.js';

export interface RetryOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * The session to which all tries belong; by default the current one, or the next if there is
   * none. 'any' continues in the session that follows a lost one; use it only for operations that
   * do not depend on ephemeral znodes.
   */
  readonly session?: bigint | 'any' | undefined;
  /**
   * Whether the operation may be done twice, so that it is retried even if it may have taken
   * effect.
   */
  readonly idempotent?: boolean | undefined;
}

/** The options of one try, which it passes on to its operations. */
export interface Attempt extends Pick<OperationOptions, 'signal' | 'session'> {
  /** The number of the try, 0 for the first one. */
  readonly attempt: number;
}

/** The part of a client that retry() needs. */
export type RetryingClient = Pick<
  Client,
  'connected' | 'onState' | 'session' | 'state' | 'surroundings'
>;

/**
 * Resolves with the result of the first try that succeeds. Rejects with the error of a try that is
 * not retryable or must not be repeated, with the last error if the policy gives up, with
 * OperationAbortedError, and with SessionExpiredError, whose cause is the last error, if the
 * session is over. In those cases `ambiguous` tells whether any try may have taken effect. An error
 * that is an answer of the server is passed on unchanged, and the caller must decide what it means
 * after an ambiguous try.
 */
export async function retry<T>(
  client: RetryingClient,
  policy: RetryPolicy,
  operation: (attempt: number, options: Attempt) => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { surroundings } = client;
  const startMs = surroundings.nowMs();
  const session = await sessionOf(client, options);
  const { signal } = options;
  const given = {
    ...(signal === undefined ? {} : { signal }),
    ...(session === undefined ? {} : { session }),
  };
  let doubt = false;
  for (let attempt = 0; ; attempt++) {
    try {
      return await operation(attempt, { attempt, ...given });
    } catch (error) {
      doubt ||= isAmbiguous(error);
      if (!mayRepeat(error, options)) throw doubt ? doubtful(error) : error;
      const elapsedMs = surroundings.nowMs() - startMs;
      const delayMs = policy(attempt, elapsedMs, () => surroundings.random());
      if (delayMs === null) throw doubt ? doubtful(error) : error;
      await pause(client, delayMs, { signal, session, error, ambiguous: doubt });
    }
  }
}

/** Undefined for any session. */
async function sessionOf(
  client: RetryingClient,
  options: RetryOptions,
): Promise<bigint | undefined> {
  if (options.session === 'any') return undefined;
  if (options.session !== undefined) return options.session;
  if (client.session !== null) return client.session.id;
  const { id } = await client.connected(
    options.signal === undefined ? {} : { signal: options.signal },
  );
  return id;
}

function mayRepeat(error: unknown, options: RetryOptions): boolean {
  if (!(error instanceof KeeperError || error instanceof ClientError)) return false;
  if (error.ambiguous && options.idempotent !== true) return false;
  if (error instanceof SessionExpiredError) return options.session === 'any';
  return error.retryable;
}

async function pause(
  client: RetryingClient,
  delayMs: number,
  { signal, session, error, ambiguous }: Ends,
): Promise<void> {
  const over = new AbortController();
  const check = () => {
    if (client.state === 'closed') over.abort(new ClientClosedError({ ambiguous, cause: error }));
    else if (session !== undefined && client.session?.id !== session) {
      over.abort(new SessionExpiredError(pathOf(error), { ambiguous, cause: error }));
    }
  };
  const stopListening = client.onState(check);
  check();
  try {
    await delay(client.surroundings, delayMs, [over.signal, signal]);
  } catch (reason) {
    if (over.signal.aborted && reason === over.signal.reason) throw reason;
    throw new OperationAbortedError(reason, { ambiguous, ...pathOption(error) });
  } finally {
    stopListening();
  }
}

interface Ends {
  readonly signal: AbortSignal | undefined;
  readonly session: bigint | undefined;
  /** The error of the last try. */
  readonly error: unknown;
  /** Whether any of the tries may have taken effect. */
  readonly ambiguous: boolean;
}

/**
 * The error to report after a try that may have taken effect: marked as ambiguous unless it is an
 * answer of the server.
 */
function doubtful(error: unknown): unknown {
  if (isAmbiguous(error)) return error;
  const known = { ambiguous: true, cause: error };
  if (error instanceof OperationAbortedError) {
    const { cause, path } = error;
    return new OperationAbortedError(cause, {
      ambiguous: true,
      ...(path === undefined ? {} : { path }),
    });
  }
  if (error instanceof ClientClosedError) return new ClientClosedError(known);
  const isOpen =
    error instanceof SessionExpiredError || (error instanceof KeeperError && error.retryable);
  return isOpen ? keeperError(error.code, error.path, known) : error;
}

function isAmbiguous(error: unknown): boolean {
  return (error instanceof KeeperError || error instanceof ClientError) && error.ambiguous;
}

function pathOf(error: unknown): string | undefined {
  return error instanceof KeeperError ? error.path : undefined;
}

function pathOption(error: unknown): { readonly path?: string } {
  const path = pathOf(error);
  return path === undefined ? {} : { path };
}
