/**
 * The message and the exit code of a command that failed.
 *
 * 3 is the answer no: a znode that is missing, exists already, or is not as the caller expected it.
 * 4 is no answer: no connection, no quorum, or a session that ended. 2 is a mistake of the caller,
 * 141 an output whose reader has gone, 1 everything else. Errors are recognized by their class,
 * never by their text.
 */

import {
  AuthFailedError,
  BadArgumentsError,
  BadVersionError,
  type Client,
  ClientClosedError,
  ConnectionLossError,
  ConnectStringError,
  InvalidAclError,
  KeeperError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  OperationAbortedError,
  OperationTimeoutError,
  OptionError,
  parseConnectString,
  QuotaExceededError,
  RequestTooLargeError,
  SessionExpiredError,
  TransactionError,
} from '@rookery/client';
import { errorMessage } from '@rookery/protocol';
import { OperatorError } from '@rookery/server';
import { EXIT_BROKEN_PIPE, isBrokenPipe } from '../terminal/standard-output.js';
import { EXIT } from './command.js';

/** A command answers no: its sentence, and exit code 3. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** No server grants a session; the message says what each of them does. */
export class NoConnectionError extends Error {
  override readonly name = 'NoConnectionError';
}

interface Failure {
  readonly code: number;
  /** A sentence; null if everything has been said. */
  readonly sentence: string | null;
}

/** A client of a command, and the connect string from which it has its chroot. */
export interface Connected {
  readonly client: Client;
  readonly connect: string;
}

/**
 * A sentence that names the chroot if it is the reason why a znode is missing; null otherwise.
 * Never rejects.
 */
export async function missingChroot({ client, connect }: Connected): Promise<string | null> {
  const { chroot } = parseConnectString(connect);
  if (chroot === '') return null;
  try {
    if ((await client.exists('/')) !== null) return null;
  } catch {
    // The failure of the command itself is reported then.
    return null;
  }
  return (
    `The chroot ${chroot} of the connect string ${connect} does not exist: ` +
    'correct it, or create it with "create --parents /".'
  );
}

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { code: EXIT.failed, sentence: String(error) };
  if (error instanceof TransactionError) {
    const { code, sentence } = failureInTransaction(error.error);
    const place = `Operation ${error.failedIndex + 1} of the transaction fails, nothing is done`;
    return { code, sentence: sentence === null ? place : `${place}: ${sentence}` };
  }
  if (error instanceof OperatorError) return { code: EXIT.mistake, sentence: error.message };
  if (error instanceof NoAnswerError) return { code: EXIT.no, sentence: error.message };
  if (error instanceof NoConnectionError) {
    return { code: EXIT.disconnected, sentence: error.message };
  }
  if (error instanceof OperationAbortedError) {
    return { code: EXIT.failed, sentence: 'It was interrupted.' };
  }
  if (isBrokenPipe(error)) return { code: EXIT_BROKEN_PIPE, sentence: null };
  return keeperFailure(error) ?? { code: EXIT.failed, sentence: errorMessage(error) };
}

/** Not every operation of a transaction needs its znode; one that creates it needs the parent. */
function failureInTransaction(error: Error): Failure {
  if (!(error instanceof NoNodeError)) return failureOf(error);
  return { code: EXIT.no, sentence: `${error.path ?? 'The znode'} or its parent does not exist.` };
}

function keeperFailure(error: Error): Failure | null {
  const path = error instanceof KeeperError ? (error.path ?? 'The znode') : 'The znode';
  const no = (sentence: string): Failure => ({ code: EXIT.no, sentence });
  const mistake = (sentence: string): Failure => ({ code: EXIT.mistake, sentence });
  const failed = (sentence: string): Failure => ({ code: EXIT.failed, sentence });
  if (error instanceof NoNodeError) return no(`${path} does not exist.`);
  if (error instanceof NodeExistsError) return no(`${path} exists already.`);
  if (error instanceof BadVersionError) {
    return no(`${path} has another version: another client has changed it.`);
  }
  if (error instanceof NotEmptyError) return no(`${path} has children; rm -r removes them, too.`);
  if (error instanceof NoChildrenForEphemeralsError) {
    return no(`${path} cannot be created: its parent is ephemeral, and so has no children.`);
  }
  if (error instanceof NoAuthError) {
    return failed(`${path}: the ACL does not permit that to these credentials.`);
  }
  if (error instanceof AuthFailedError) return failed('The servers refuse these credentials.');
  if (error instanceof QuotaExceededError) {
    return failed(`${path}: a quota, a full disk or a full tree forbids it.`);
  }
  if (error instanceof InvalidAclError) return mistake(`${path}: the server refuses this ACL.`);
  if (error instanceof BadArgumentsError) return mistake(`${error.message}.`);
  if (error instanceof ConnectStringError || error instanceof OptionError) {
    return mistake(`${error.message}.`);
  }
  if (error instanceof RequestTooLargeError) return mistake(`${error.message}.`);
  return connectionFailure(error);
}

function connectionFailure(error: Error): Failure | null {
  const doubt =
    'ambiguous' in error && error.ambiguous === true
      ? ' Whether it took effect is not known: look before you try again.'
      : '';
  const lost = (sentence: string): Failure => {
    return { code: EXIT.disconnected, sentence: `${sentence}${doubt}` };
  };
  if (error instanceof OperationTimeoutError) return lost('No server answered in time.');
  if (error instanceof SessionExpiredError) return lost('The session has expired.');
  if (error instanceof ConnectionLossError) return lost('The connection is lost.');
  if (error instanceof ClientClosedError) return lost('The client is closed.');
  return null;
}
