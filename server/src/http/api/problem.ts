/**
 * Errors of `/api/v1`: `application/problem+json`, as RFC 9457 describes it.
 *
 * `detail` is a sentence for people. What ZooKeeper has a code for carries it as `code`, with its
 * name as `error`, so that a program tells a missing znode from a missing page.
 */
import { STATUS_CODES } from 'node:http';
import { ErrorCode, errorName } from '@rookery/protocol';
import type { HttpAnswer } from '../http-port.js';
import { HttpError } from '../http-port.js';

const STATUS_OF: ReadonlyMap<number, number> = new Map([
  [ErrorCode.noNode, 404],
  [ErrorCode.noAuth, 403],
  [ErrorCode.badVersion, 412],
  [ErrorCode.nodeExists, 409],
  [ErrorCode.notEmpty, 409],
  [ErrorCode.noChildrenForEphemerals, 409],
  [ErrorCode.badArguments, 400],
  [ErrorCode.invalidAcl, 400],
  [ErrorCode.unimplemented, 501],
  [ErrorCode.quotaExceeded, 507],
  [ErrorCode.throttledOp, 503],
  [ErrorCode.connectionLoss, 503],
  [ErrorCode.sessionExpired, 503],
  [ErrorCode.notReadOnly, 503],
]);

const SENTENCES: ReadonlyMap<number, string> = new Map([
  [ErrorCode.noNode, 'There is no such znode.'],
  [ErrorCode.noAuth, 'The ACL does not allow it to the identities of this request.'],
  [ErrorCode.badVersion, 'The znode has another version by now.'],
  [ErrorCode.nodeExists, 'The znode exists already.'],
  [ErrorCode.notEmpty, 'The znode has children.'],
  [ErrorCode.noChildrenForEphemerals, 'An ephemeral znode has no children.'],
  [ErrorCode.badArguments, 'The request is not valid.'],
  [ErrorCode.invalidAcl, 'The ACL is not valid.'],
  [ErrorCode.quotaExceeded, 'A quota, the bound of the tree or a full disk does not allow it.'],
  [ErrorCode.throttledOp, 'The member has too much to do at the moment.'],
]);

/** Returns the error for a request whose operation ended with this code of ZooKeeper's. */
export function keeperProblem(code: number, facts: Readonly<Record<string, unknown>> = {}) {
  const sentence = SENTENCES.get(code) ?? 'The operation failed.';
  const named = { code, error: errorName(code) ?? 'unknown', ...facts };
  return new HttpError(STATUS_OF.get(code) ?? 500, sentence, {}, named);
}

/** The request itself is wrong, as `detail` says in a sentence. */
export function badRequest(detail: string): HttpError {
  return new HttpError(400, detail, {}, { code: ErrorCode.badArguments, error: 'badArguments' });
}

export function problemAnswer({ status, message, headers, facts }: HttpError): HttpAnswer {
  const title = STATUS_CODES[status] ?? 'Error';
  const problem = { type: 'about:blank', title, status, detail: message, ...facts };
  const body = `${JSON.stringify(problem)}\n`;
  return { status, type: 'application/problem+json', body, headers };
}
