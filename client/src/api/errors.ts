/**
 * The errors that only a client has. Those that cross the wire are in @rookery/protocol.
 *
 * Every error has a literal `name` and `code` to match on. As with KeeperError, `retryable` says
 * whether the problem is transient, and `ambiguous` whether the operation may have taken effect.
 */
import type { LeaseLossCause } from './lease.js';
import type { TransactionResult } from './transaction.js';

/** The base class of these errors. */
export abstract class ClientError extends Error {
  abstract override readonly name: string;
  abstract readonly code: string;
  readonly retryable: boolean = false;
  readonly ambiguous: boolean = false;
}

export interface AbortedOptions {
  readonly ambiguous: boolean;
  readonly path?: string;
  /** What the operation was waiting for, to be named in the message. */
  readonly trouble?: string;
}

/**
 * The caller's signal was aborted while the operation was pending. `cause` is the signal's reason.
 */
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

/** The client is closed. `cause` says why, if nobody called close(). */
export class ClientClosedError extends ClientError {
  override readonly name = 'ClientClosedError';
  override readonly code = 'CLIENT_CLOSED';
  override readonly ambiguous: boolean;

  constructor(options: { readonly ambiguous?: boolean; readonly cause?: unknown } = {}) {
    super('the client is closed', options.cause === undefined ? {} : { cause: options.cause });
    this.ambiguous = options.ambiguous ?? false;
  }
}

/**
 * `outstandingMax` requests are queued or in flight, so this one was not accepted. Also rejects a
 * `deleteGuaranteed` without a session while 10,000 deletions are waiting.
 */
export class TooManyOutstandingError extends ClientError {
  override readonly name = 'TooManyOutstandingError';
  override readonly code = 'TOO_MANY_OUTSTANDING';
  override readonly retryable = true;

  constructor(outstandingMax: number) {
    super(`more than ${outstandingMax} requests are outstanding`);
  }
}

/** The request is larger than `requestBytesMax`. Servers would refuse it, so it was not sent. */
export class RequestTooLargeError extends ClientError {
  override readonly name = 'RequestTooLargeError';
  override readonly code = 'REQUEST_TOO_LARGE';
  readonly sizeBytes: number;

  constructor(size: { readonly sizeBytes: number; readonly sizeBytesMax: number }) {
    super(
      `the request has ${size.sizeBytes} bytes, more than requestBytesMax (${size.sizeBytesMax})`,
    );
    this.sizeBytes = size.sizeBytes;
  }
}

/** The connect string cannot be parsed. */
export class ConnectStringError extends ClientError {
  override readonly name = 'ConnectStringError';
  override readonly code = 'BAD_CONNECT_STRING';

  constructor(connectString: string, problem: string) {
    super(`${problem}: ${JSON.stringify(connectString)}`);
  }
}

/** An option is unknown, has the wrong type or is out of range. */
export class OptionError extends ClientError {
  override readonly name = 'OptionError';
  override readonly code = 'BAD_OPTION';

  constructor(option: string, problem: string, options?: ErrorOptions) {
    super(`option ${option} ${problem}`, options);
  }
}

/**
 * The server sent something that violates the protocol. This ends the connection, and operations in
 * flight fail with a ConnectionLossError that has this error as its cause.
 */
export class ProtocolViolationError extends ClientError {
  override readonly name = 'ProtocolViolationError';
  override readonly code = 'PROTOCOL_VIOLATION';
}

/** A transaction was refused as a whole, so none of it has taken effect. */
export class TransactionError extends ClientError {
  override readonly name = 'TransactionError';
  override readonly code = 'TRANSACTION_FAILED';
  /** The index of the operation that failed. */
  readonly failedIndex: number;
  /** The error of that operation. */
  readonly error: Error;
  /** The error of each operation, or null for those that had succeeded up to the failure. */
  readonly results: readonly (Error | TransactionResult | null)[];

  constructor(failedIndex: number, error: Error, results: readonly (Error | null)[]) {
    super(`operation ${failedIndex} failed: ${error.message}`, { cause: error });
    this.failedIndex = failedIndex;
    this.error = error;
    this.results = results;
  }
}

/**
 * A lease is over although its holder has not released it. It is `ambiguous` only as the error of a
 * queue's entry: what `done()` was to commit may have been committed.
 */
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

/** The reason of the signal of a lease that was released. */
export class LeaseReleasedError extends ClientError {
  override readonly name = 'LeaseReleasedError';
  override readonly code = 'LEASE_RELEASED';

  constructor(path?: string) {
    super(path === undefined ? 'the lease is released' : `the lease is released: ${path}`);
  }
}

/** One problem with a value. */
export interface DataIssue {
  readonly message: string;
  /** The location in the value, as keys joined by dots; '' for the whole value. */
  readonly at: string;
}

export interface InvalidDataOptions {
  /** The path of the znode. */
  readonly path: string | undefined;
  /** Whether the value was read from the znode or was to be written to it. */
  readonly direction: 'read' | 'write';
  readonly issues: readonly DataIssue[];
  readonly cause?: unknown;
}

/** A value does not match the schema of its codec. If it was to be written, nothing was written. */
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

/** How many problems a message lists. */
const ISSUES_NAMED_MAX = 5;

function sentenceOf(issues: readonly DataIssue[]): string {
  const named = issues.slice(0, ISSUES_NAMED_MAX);
  const said = named.map(({ at, message }) => (at === '' ? message : `${at}: ${message}`));
  const more = issues.length - named.length;
  return said.join('; ') + (more > 0 ? `; ${more} more` : '');
}
