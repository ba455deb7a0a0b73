/**
 * The API of @rookery/protocol: ZooKeeper's wire format, the messages of members as types, and the
 * few words that every package shares. The codec of those messages is apart, in
 * `@rookery/protocol/peer`: it needs a package that clients do not. No I/O and no state. A record's
 * name is both its codec and the type of its value.
 */

export {
  type AddressParts,
  addressText,
  longAddressText,
  longHost,
  parseAddress,
} from './basics/addresses.js';
export { assert, InvariantViolation, unreachable } from './basics/assert.js';
export { errorMessage } from './basics/error-message.js';
export { Fifo } from './basics/fifo.js';
export { Glob } from './basics/glob.js';
export { NameLookups, type NameLookupsParts } from './basics/name-lookups.js';
export {
  DIGEST_ALGS,
  type DigestAlg,
  digestMd5Response,
  digestMd5Secret,
} from './client/digests.js';
export {
  ApiError,
  AuthFailedError,
  BadArgumentsError,
  BadVersionError,
  ClosingError,
  ConnectionLossError,
  DataInconsistencyError,
  EphemeralOnLocalSessionError,
  ErrorCode,
  errorName,
  InvalidAclError,
  InvalidCallbackError,
  InvalidStateError,
  KeeperError,
  type KeeperErrorClass,
  type KeeperErrorOptions,
  keeperError,
  MarshallingFailedError,
  NewConfigNoQuorumError,
  NoAuthError,
  NoChildrenForEphemeralsError,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  NothingError,
  NotReadOnlyError,
  NoWatcherError,
  OperationTimeoutError,
  QuotaExceededError,
  ReconfigDisabledError,
  ReconfigInProgressError,
  RequestTimeoutError,
  RuntimeInconsistencyError,
  SessionClosedRequireSaslAuthError,
  SessionExpiredError,
  SessionMovedError,
  SslConnectionError,
  SystemError,
  ThrottledOpError,
  UnimplementedError,
  UnknownSessionError,
} from './client/errors.js';
export {
  Acl,
  AclList,
  AclListOrNull,
  Create2Response,
  CreateRequest,
  CreateResponse,
  GetDataResponse,
  PathVersionRequest,
  PathWatchRequest,
  ReplyHeader,
  RequestHeader,
  SetDataRequest,
  STAT_BYTES,
  Stat,
  StatResponse,
} from './client/hot-records.js';
export {
  countMultiOps,
  type MultiErrorResult,
  MultiReadRequest,
  type MultiReadRequestOp,
  MultiReadResponse,
  type MultiReadResult,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  type MultiResult,
  readMultiOps,
  readMultiReadOps,
  readOperations,
} from './client/multi.js';
export {
  AddWatchMode,
  AUTH_XID,
  CreateFlag,
  EventType,
  isCreateFlag,
  isEphemeralFlag,
  isSequentialFlag,
  isTtlFlag,
  KeeperState,
  OpCode,
  opcodeName,
  PASSWORD_BYTES,
  Perms,
  PING_XID,
  permsOf,
  permsText,
  SEQUENCE_MAX,
  SET_WATCHES_XID,
  TTL_MAX_MS,
  WATCH_XID,
  WatcherType,
} from './client/opcodes.js';
export { OPERATIONS, type Operation, operationOf } from './client/operations.js';
export { depthOf, joinPath, nameOf, parentOf, validatePath } from './client/paths.js';
export {
  AddWatchRequest,
  AuthPacket,
  ClientInfo,
  ConnectRequest,
  ConnectResponse,
  CreateSessionRequest,
  CreateTtlRequest,
  Empty,
  ErrorResponse,
  GetAclResponse,
  GetAllChildrenNumberResponse,
  GetChildren2Response,
  GetChildrenPageRequest,
  GetChildrenPageResponse,
  GetChildrenResponse,
  GetEphemeralsRequest,
  GetEphemeralsResponse,
  PathRequest,
  RaiseSequenceRequest,
  RaiseSequenceResponse,
  ReconfigRequest,
  SaslRequest,
  SaslResponse,
  SetAclRequest,
  SetWatches2Request,
  SetWatchesRequest,
  SyncResponse,
  WatcherEvent,
  WatchesRequest,
  WhoAmIResponse,
} from './client/records.js';
export {
  bool,
  buffer,
  type Codec,
  type Decoded,
  decode,
  encode,
  int,
  long,
  nothing,
  nullableString,
  nullableVector,
  readString,
  record,
  string,
  stringOrEmpty,
  vector,
} from './jute/codec.js';
export { FrameTooLargeError, MarshallingError } from './jute/errors.js';
export { FrameError, FrameReader } from './jute/framing.js';
export {
  INT64_MAX,
  INT64_MIN,
  type Int64,
  int64FromHalves,
  plainHexId,
  toInt64,
} from './jute/int64.js';
export {
  bufferOf,
  JuteReader,
  naturalAt,
  requiredCount,
  requiredNatural,
  requiredString,
  viewOf,
} from './jute/reader.js';
export { JuteWriter, putLong, SlabPool } from './jute/writer.js';
export type * from './peer/admission-messages.js';
export {
  cutRanges,
  extendRanges,
  type GrowingRanges,
  holds,
  isWellFormed,
  lastOfRanges,
} from './peer/epoch-ranges.js';
export { SHARED_CHARACTERS_MAX } from './peer/hello.js';
export type * from './peer/messages.js';
export type { PeerId, Proposal, Zxid } from './peer/proposal.js';
export {
  BatchWriter,
  ProposalBatch,
  ProposalCursor,
  type ZxidRange,
} from './peer/proposal-batch.js';
export {
  type ForwardedRequest,
  type Identity,
  pointAtRequest,
  RequestBatch,
  RequestWriter,
} from './peer/request-batch.js';
export {
  commonWireVersion,
  WIRE_VERSION_MAX,
  WIRE_VERSION_MIN,
  type WireVersions,
} from './peer/wire-version.js';
export {
  COUNTER_MAX,
  counterOf,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  isZxid,
  makeZxid,
} from './peer/zxid.js';
