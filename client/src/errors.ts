/**
 * The errors that only a client has; those that cross the wire are in @rookery/protocol.
 *
 * Every one has a literal `name` and `code` to match on, and says, as KeeperError does, whether the
 * trouble passes (`retryable`) and whether the operation may have taken effect (`ambiguous`).
 */
import type { LeaseLossCause } from './api/lease.js';
import type { TransactionResult } from './api/transaction.js';

/** Base of all of them. */
export abstract class ClientError extends Error {
  abstract override readonly name: string;
  abstract readonly code: string;
  readonly retryable: boolean = false;
  readonly ambiguous: boolean = false;
}

export interface AbortedOptions {
  readonly ambiguous: boolean;
  readonly path?: string;
  /** What it was waiting for in vain, for the message. */
  readonly trouble?: string;
}

/** The caller's signal was aborted while the operation was pending; `cause` is its reason. */
export class OperationAbortedError extends ClientError {
  override readonly name = 'AbortError';
  override readonly code = 'ABORT_ERR';
  override readonly ambiguous: boolean;
  readonly path: string | undefined;

  constructor(reason: unknown, options: AbortedOptions) {
    const { path, trouble } = options;
    const what = path === undefined ? 'the operation was aborted' : `aborted: ${path}`;
    super(trouble === undefined ? what : `${what} (${trouble})`, { cause: reason });
    this.ambiguous = options.ambiguous;
    this.path = path;
  }
}

/** The client is closed; `cause` says why when nobody called close(). */
export class ClientClosedError extends ClientError {
  override readonly name = 'ClientClosedError';
  override readonly code = 'CLIENT_CLOSED';
  override readonly ambiguous: boolean;

  constructor(options: { readonly ambiguous?: boolean; readonly cause?: unknown } = {}) {
    super('the client is closed', options.cause === undefined ? {} : { cause: options.cause });
    this.ambiguous = options.ambiguous ?? false;
  }
}

/** More requests are queued or in flight than `outstandingMax`; this one was not taken on. */
export class TooManyOutstandingError extends ClientError {
  override readonly name = 'TooManyOutstandingError';
  override readonly code = 'TOO_MANY_OUTSTANDING';
  override readonly retryable = true;

  constructor(outstandingMax: number) {
    super(`more than ${outstandingMax} requests are outstanding`);
  }
}

/** A request is larger than `requestBytesMax`, which servers would not take; it was not sent. */
export class RequestTooLargeError extends ClientError {
  override readonly name = 'RequestTooLargeError';
  override readonly code = 'REQUEST_TOO_LARGE';
  readonly sizeBytes: number;

  constructor(size: { readonly sizeBytes: number; readonly sizeBytesMax: number }) {
    super(`a request of ${size.sizeBytes} bytes, requestBytesMax is ${size.sizeBytesMax}`);
    this.sizeBytes = size.sizeBytes;
  }
}

/** The connect string cannot be read. */
export class ConnectStringError extends ClientError {
  override readonly name = 'ConnectStringError';
  override readonly code = 'BAD_CONNECT_STRING';

  constructor(connectString: string, problem: string) {
    super(`${problem}: ${JSON.stringify(connectString)}`);
  }
}

/** An option is of a wrong type or outside its range. */
export class OptionError extends ClientError {
  override readonly name = 'OptionError';
  override readonly code = 'BAD_OPTION';

  constructor(option: string, problem: string, options?: ErrorOptions) {
    super(`option ${option} ${problem}`, options);
  }
}

/**
 * What came from the server is not the protocol. It ends the connection; operations in flight fail
 * with ConnectionLossError, whose `cause` it is.
 */
export class ProtocolViolationError extends ClientError {
  override readonly name = 'ProtocolViolationError';
  override readonly code = 'PROTOCOL_VIOLATION';
}

/** A transaction was refused as a whole: nothing of it has taken effect. */
export class TransactionError extends ClientError {
  override readonly name = 'TransactionError';
  override readonly code = 'TRANSACTION_FAILED';
  /** Index of the operation at fault. */
  readonly failedIndex: number;
  /** Its error. */
  readonly error: Error;
  /** Of each operation its error, or null for those that would have succeeded so far. */
  readonly results: readonly (Error | TransactionResult | null)[];

  constructor(failedIndex: number, error: Error, results: readonly (Error | null)[]) {
    super(`operation ${failedIndex} failed: ${error.message}`, { cause: error });
    this.failedIndex = failedIndex;
    this.error = error;
    this.results = results;
  }
}

/** A lease is over although its holder did not release it. */
export class LeaseLostError extends ClientError {
  override readonly name = 'LeaseLostError';
  override readonly code = 'LEASE_LOST';
  override readonly ambiguous: boolean;
  readonly lossCause: LeaseLossCause;
  readonly path: string | undefined;

  constructor(
    lossCause: LeaseLossCause,
    path?: string,
    options?: ErrorOptions & { readonly ambiguous?: boolean },
  ) {
    super(`the lease is lost (${lossCause})${path === undefined ? '' : `: ${path}`}`, options);
    this.lossCause = lossCause;
    this.path = path;
    this.ambiguous = options?.ambiguous ?? false;
  }
}

/** The reason of a lease's signal after its release. */
export class LeaseReleasedError extends ClientError {
  override readonly name = 'LeaseReleasedError';
  override readonly code = 'LEASE_RELEASED';

  constructor(path?: string) {
    super(path === undefined ? 'the lease is released' : `the lease is released: ${path}`);
  }
}

/** One thing that is wrong with a value. */
export interface DataIssue {
  readonly message: string;
  /** Where in the value, keys with dots between them; '' for the whole. */
  readonly at: string;
}

export interface InvalidDataOptions {
  /** Of the znode. */
  readonly path: string | undefined;
  /** Whether it was read from there, or was to be written. */
  readonly direction: 'read' | 'write';
  readonly issues: readonly DataIssue[];
  readonly cause?: unknown;
}

/** A value is not what its codec's schema wants. Nothing was written. */
export class InvalidDataError extends ClientError {
  override readonly name = 'InvalidDataError';
  override readonly code = 'INVALID_DATA';
  readonly path: string | undefined;
  readonly direction: 'read' | 'write';
  readonly issues: readonly DataIssue[];

  constructor({ path, direction, issues, cause }: InvalidDataOptions) {
    const place = path === undefined ? 'a znode' : path;
    const what = direction === 'read' ? `the data of ${place}` : `the value for ${place}`;
    super(`${what} is not valid: ${sentenceOf(issues)}`, cause === undefined ? {} : { cause });
    this.path = path;
    this.direction = direction;
    this.issues = issues;
  }
}

/** What a message names of all that is wrong. */
const ISSUES_NAMED_MAX = 5;

function sentenceOf(issues: readonly DataIssue[]): string {
  const named = issues.slice(0, ISSUES_NAMED_MAX);
  const said = named.map(({ at, message }) => (at === '' ? message : `${at}: ${message}`));
  const more = issues.length - named.length;
  return said.join('; ') + (more > 0 ? `; ${more} more` : '');
}
