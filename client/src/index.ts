/**
 * What applications import. Values and interfaces in api/, errors in errors.ts; those that cross the
 * wire come from @rookery/protocol and are given on from here.
 */
export {
  Acl,
  AddWatchMode,
  ApiError,
  AuthFailedError,
  BadArgumentsError,
  BadVersionError,
  type ClientInfo,
  ConnectionLossError,
  EphemeralOnLocalSessionError,
  ErrorCode,
  InvalidAclError,
  InvalidStateError,
  KeeperError,
  MarshallingFailedError,
  NewConfigNoQuorumError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  NotReadOnlyError,
  NoWatcherError,
  OperationTimeoutError,
  Perms,
  QuotaExceededError,
  ReconfigDisabledError,
  ReconfigInProgressError,
  RequestTimeoutError,
  SessionClosedRequireSaslAuthError,
  SessionExpiredError,
  SessionMovedError,
  SystemError,
  ThrottledOpError,
  TTL_MAX_MS,
  UnimplementedError,
  WatcherType,
} from '@rookery/protocol';
export type * from './api/client.js';
export type * from './api/lease.js';
export type * from './api/options.js';
export type * from './api/surroundings.js';
export type * from './api/transaction.js';
export type * from './api/values.js';
export { OPEN_ACL } from './client/multi.js';
export { connect, createClient } from './connect.js';
export * from './errors.js';
export type { LagMessage, OperationMessage } from './session/diagnostics.js';
