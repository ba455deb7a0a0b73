/**
 * Turns a client's error into a problem of the gateway, the same one that a member answers with.
 */
import {
  AuthFailedError,
  ClientClosedError,
  ConnectionLossError,
  KeeperError,
  OperationAbortedError,
  OperationTimeoutError,
  RequestTooLargeError,
  SessionExpiredError,
} from '@rookery/client';
import { HttpError, keeperProblem } from '@rookery/server/http';
import { NoConnectionError } from '../command/failures.js';

/** Returns the error to answer with; any other error comes back as it is. */
export function problemOf(error: unknown, path?: string): unknown {
  if (error instanceof HttpError || !(error instanceof Error)) return error;
  if (error instanceof NoConnectionError) return unavailable(error.message);
  if (error instanceof AuthFailedError) {
    return new HttpError(403, 'The servers refuse these identities.');
  }
  if (error instanceof RequestTooLargeError) {
    return new HttpError(413, 'A server would not take so much in one request.');
  }
  if ('ambiguous' in error && error.ambiguous === true) {
    const sentence = 'The answer did not come: whether the write took effect is not known.';
    return new HttpError(504, sentence);
  }
  if (error instanceof OperationTimeoutError) return unavailable('No server answered in time.');
  if (error instanceof ConnectionLossError || error instanceof SessionExpiredError) {
    return unavailable('The connection to the servers is lost; it is being opened again.');
  }
  if (error instanceof ClientClosedError || error instanceof OperationAbortedError) {
    return unavailable('The request was given up.');
  }
  if (error instanceof KeeperError) {
    return keeperProblem(error.code, path === undefined ? {} : { path });
  }
  return error;
}

/** Runs it, and throws what it throws as a problem. */
export async function asProblem<T>(act: () => Promise<T>, path?: string): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw problemOf(error, path);
  }
}

function unavailable(sentence: string): HttpError {
  return new HttpError(503, sentence, { 'retry-after': '1' });
}
