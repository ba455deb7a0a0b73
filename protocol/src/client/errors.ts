/**
 * The errors that cross the client wire: their codes and, from the same table, their classes.
 *
 * They are answers, expected and tested for, never faults of ours. No code outside the table is
 * ever sent: clients break on one they do not know.
 */

export const ErrorCode = {
  ok: 0,
  systemError: -1,
  runtimeInconsistency: -2,
  dataInconsistency: -3,
  connectionLoss: -4,
  marshallingError: -5,
  unimplemented: -6,
  operationTimeout: -7,
  badArguments: -8,
  invalidState: -9,
  unknownSession: -12,
  newConfigNoQuorum: -13,
  reconfigInProgress: -14,
  sslConnectionError: -15,
  apiError: -100,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  noChildrenForEphemerals: -108,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidCallback: -113,
  invalidAcl: -114,
  authFailed: -115,
  closing: -116,
  nothing: -117,
  sessionMoved: -118,
  notReadOnly: -119,
  ephemeralOnLocalSession: -120,
  noWatcher: -121,
  requestTimeout: -122,
  reconfigDisabled: -123,
  sessionClosedRequireSaslAuth: -124,
  quotaExceeded: -125,
  throttledOp: -127,
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

// Marked as pure, so that a bundle of a client that never asks for a name leaves it out.
const ERROR_NAMES = /* @__PURE__ */ errorNames();

function errorNames(): ReadonlyMap<number, string> {
  return new Map(Object.entries(ErrorCode).map(([name, code]) => [code, name]));
}

/** The name in `ErrorCode`, or undefined for a code that no ZooKeeper sends. */
export function errorName(code: number): string | undefined {
  return ERROR_NAMES.get(code);
}

/** Codes of troubles that pass: the same request may succeed a little later. */
const RETRYABLE_CODES: ReadonlySet<number> = new Set([
  ErrorCode.connectionLoss,
  ErrorCode.operationTimeout,
  ErrorCode.sessionMoved,
  ErrorCode.requestTimeout,
  ErrorCode.throttledOp,
  ErrorCode.reconfigInProgress,
  ErrorCode.newConfigNoQuorum,
]);

export interface KeeperErrorOptions extends ErrorOptions {
  /** Whether the operation may have taken effect; false by default. */
  readonly ambiguous?: boolean;
}

/** Base of all of them; itself only for a code that is not in the table. */
export class KeeperError extends Error {
  override readonly name: string = 'KeeperError';
  readonly code: number;
  /** The path the operation was about, when there is one. */
  readonly path: string | undefined;
  /** The trouble passes, so the same request may succeed later; decided only by the code. */
  readonly retryable: boolean;
  /** The operation may have taken effect all the same: its answer was not awaited or not seen. */
  readonly ambiguous: boolean;

  constructor(code: number, message: string, path?: string, options?: KeeperErrorOptions) {
    super(messageOf(code, message, path, options?.cause), options);
    this.code = code;
    this.path = path;
    this.retryable = RETRYABLE_CODES.has(code);
    this.ambiguous = options?.ambiguous ?? false;
  }
}

/** With what is behind it, for those who log messages only: a refused connection, a bad path. */
function messageOf(
  code: number,
  message: string,
  path: string | undefined,
  cause: unknown,
): string {
  const what = path === undefined ? message : `${message}: ${path}`;
  const reason = reasonOf(code, cause);
  return reason === '' ? what : `${what} (${reason})`;
}

/** An error that was made again, for example with another path, does not repeat its sentence. */
function reasonOf(code: number, cause: unknown): string {
  if (cause instanceof KeeperError && cause.code === code) return reasonOf(code, cause.cause);
  return cause instanceof Error ? cause.message : '';
}

export interface KeeperErrorClass<Name extends string, Code extends number> {
  new (
    path?: string,
    options?: KeeperErrorOptions,
  ): KeeperError & { readonly name: Name; readonly code: Code };
  readonly code: Code;
}

type Instance<C> = C extends abstract new (...args: never[]) => infer T ? T : never;

const CLASSES = new Map<number, new (path?: string, options?: KeeperErrorOptions) => KeeperError>();

function define<const Name extends string, const Code extends ErrorCode>(
  name: Name,
  code: Code,
  message: string,
): KeeperErrorClass<Name, Code> {
  const defined = class extends KeeperError {
    static readonly code: Code = code;
    override readonly name: Name = name;
    override readonly code: Code = code;
    constructor(path?: string, options?: KeeperErrorOptions) {
      super(code, message, path, options);
    }
  };
  // What stack traces and inspection show.
  Object.defineProperty(defined, 'name', { value: name });
  CLASSES.set(code, defined);
  return defined;
}

export const SystemError = define('SystemError', ErrorCode.systemError, 'the server failed');
export type SystemError = Instance<typeof SystemError>;
export const RuntimeInconsistencyError = define(
  'RuntimeInconsistencyError',
  ErrorCode.runtimeInconsistency,
  'a runtime inconsistency was found',
);
export type RuntimeInconsistencyError = Instance<typeof RuntimeInconsistencyError>;
export const DataInconsistencyError = define(
  'DataInconsistencyError',
  ErrorCode.dataInconsistency,
  'a data inconsistency was found',
);
export type DataInconsistencyError = Instance<typeof DataInconsistencyError>;
export const ConnectionLossError = define(
  'ConnectionLossError',
  ErrorCode.connectionLoss,
  'the connection was lost',
);
export type ConnectionLossError = Instance<typeof ConnectionLossError>;
export const MarshallingFailedError = define(
  'MarshallingFailedError',
  ErrorCode.marshallingError,
  'the request could not be read',
);
export type MarshallingFailedError = Instance<typeof MarshallingFailedError>;
export const UnimplementedError = define(
  'UnimplementedError',
  ErrorCode.unimplemented,
  'the operation is not implemented',
);
export type UnimplementedError = Instance<typeof UnimplementedError>;
export const OperationTimeoutError = define(
  'OperationTimeoutError',
  ErrorCode.operationTimeout,
  'the operation timed out',
);
export type OperationTimeoutError = Instance<typeof OperationTimeoutError>;
export const BadArgumentsError = define(
  'BadArgumentsError',
  ErrorCode.badArguments,
  'an argument is invalid',
);
export type BadArgumentsError = Instance<typeof BadArgumentsError>;
export const InvalidStateError = define(
  'InvalidStateError',
  ErrorCode.invalidState,
  'the client is in the wrong state',
);
export type InvalidStateError = Instance<typeof InvalidStateError>;
export const UnknownSessionError = define(
  'UnknownSessionError',
  ErrorCode.unknownSession,
  'the session is unknown',
);
export type UnknownSessionError = Instance<typeof UnknownSessionError>;
export const NewConfigNoQuorumError = define(
  'NewConfigNoQuorumError',
  ErrorCode.newConfigNoQuorum,
  'no quorum of the new configuration is in sync',
);
export type NewConfigNoQuorumError = Instance<typeof NewConfigNoQuorumError>;
export const ReconfigInProgressError = define(
  'ReconfigInProgressError',
  ErrorCode.reconfigInProgress,
  'another reconfiguration is in progress',
);
export type ReconfigInProgressError = Instance<typeof ReconfigInProgressError>;
export const SslConnectionError = define(
  'SslConnectionError',
  ErrorCode.sslConnectionError,
  'the TLS connection failed',
);
export type SslConnectionError = Instance<typeof SslConnectionError>;
export const ApiError = define('ApiError', ErrorCode.apiError, 'the API was misused');
export type ApiError = Instance<typeof ApiError>;
export const NoNodeError = define('NoNodeError', ErrorCode.noNode, 'no such znode');
export type NoNodeError = Instance<typeof NoNodeError>;
export const NoAuthError = define('NoAuthError', ErrorCode.noAuth, 'not permitted');
export type NoAuthError = Instance<typeof NoAuthError>;
export const BadVersionError = define(
  'BadVersionError',
  ErrorCode.badVersion,
  'the version does not match',
);
export type BadVersionError = Instance<typeof BadVersionError>;
export const NoChildrenForEphemeralsError = define(
  'NoChildrenForEphemeralsError',
  ErrorCode.noChildrenForEphemerals,
  'an ephemeral znode has no children',
);
export type NoChildrenForEphemeralsError = Instance<typeof NoChildrenForEphemeralsError>;
export const NodeExistsError = define('NodeExistsError', ErrorCode.nodeExists, 'the znode exists');
export type NodeExistsError = Instance<typeof NodeExistsError>;
export const NotEmptyError = define('NotEmptyError', ErrorCode.notEmpty, 'the znode has children');
export type NotEmptyError = Instance<typeof NotEmptyError>;
export const SessionExpiredError = define(
  'SessionExpiredError',
  ErrorCode.sessionExpired,
  'the session has expired',
);
export type SessionExpiredError = Instance<typeof SessionExpiredError>;
export const InvalidCallbackError = define(
  'InvalidCallbackError',
  ErrorCode.invalidCallback,
  'the callback is invalid',
);
export type InvalidCallbackError = Instance<typeof InvalidCallbackError>;
export const InvalidAclError = define(
  'InvalidAclError',
  ErrorCode.invalidAcl,
  'the ACL is invalid',
);
export type InvalidAclError = Instance<typeof InvalidAclError>;
export const AuthFailedError = define(
  'AuthFailedError',
  ErrorCode.authFailed,
  'the authentication failed',
);
export type AuthFailedError = Instance<typeof AuthFailedError>;
export const ClosingError = define('ClosingError', ErrorCode.closing, 'the client is closing');
export type ClosingError = Instance<typeof ClosingError>;
export const NothingError = define(
  'NothingError',
  ErrorCode.nothing,
  'there is nothing to process',
);
export type NothingError = Instance<typeof NothingError>;
export const SessionMovedError = define(
  'SessionMovedError',
  ErrorCode.sessionMoved,
  'the session has moved to another server',
);
export type SessionMovedError = Instance<typeof SessionMovedError>;
export const NotReadOnlyError = define(
  'NotReadOnlyError',
  ErrorCode.notReadOnly,
  'the server is read-only',
);
export type NotReadOnlyError = Instance<typeof NotReadOnlyError>;
export const EphemeralOnLocalSessionError = define(
  'EphemeralOnLocalSessionError',
  ErrorCode.ephemeralOnLocalSession,
  'a local session has no ephemerals',
);
export type EphemeralOnLocalSessionError = Instance<typeof EphemeralOnLocalSessionError>;
export const NoWatcherError = define('NoWatcherError', ErrorCode.noWatcher, 'no such watcher');
export type NoWatcherError = Instance<typeof NoWatcherError>;
export const RequestTimeoutError = define(
  'RequestTimeoutError',
  ErrorCode.requestTimeout,
  'the request timed out',
);
export type RequestTimeoutError = Instance<typeof RequestTimeoutError>;
export const ReconfigDisabledError = define(
  'ReconfigDisabledError',
  ErrorCode.reconfigDisabled,
  'reconfiguration is disabled',
);
export type ReconfigDisabledError = Instance<typeof ReconfigDisabledError>;
export const SessionClosedRequireSaslAuthError = define(
  'SessionClosedRequireSaslAuthError',
  ErrorCode.sessionClosedRequireSaslAuth,
  'the server requires authentication',
);
export type SessionClosedRequireSaslAuthError = Instance<typeof SessionClosedRequireSaslAuthError>;
export const QuotaExceededError = define(
  'QuotaExceededError',
  ErrorCode.quotaExceeded,
  'the quota is exceeded',
);
export type QuotaExceededError = Instance<typeof QuotaExceededError>;
export const ThrottledOpError = define(
  'ThrottledOpError',
  ErrorCode.throttledOp,
  'the operation was throttled',
);
export type ThrottledOpError = Instance<typeof ThrottledOpError>;

/** The error of a code other than 0, of its own class when the code is in the table. */
export function keeperError(
  code: number,
  path?: string,
  options?: KeeperErrorOptions,
): KeeperError {
  const Class = CLASSES.get(code);
  return Class === undefined
    ? new KeeperError(code, `an unlisted error ${code}`, path, options)
    : new Class(path, options);
}
