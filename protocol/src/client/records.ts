/**
 * Every record of the client protocol but multi: one declaration each, for server and client.
 *
 * A const and a type share a name: `Stat` the codec, `Stat` what it reads and writes. Null is taken
 * where Java takes it. Field order is wire order. Records of the hot path are in hot-records.ts.
 */
import {
  bool,
  buffer,
  type Codec,
  type Decoded,
  int,
  long,
  nothing,
  nullableString,
  record,
  string,
  stringOrEmpty,
  vector,
} from '../jute/codec.js';
import type { Int64 } from '../jute/int64.js';
import { type Acl, AclList, AclListOrNull, Stat } from './hot-records.js';

export interface ConnectRequest {
  readonly protocolVersion: number;
  readonly lastZxidSeen: Int64;
  readonly timeoutMs: number;
  /** 0 asks for a new session. */
  readonly sessionId: Int64;
  readonly password: Uint8Array | null;
  /** Null when the byte is absent, as with clients up to 3.3. */
  readonly readOnly: boolean | null;
}
export const ConnectRequest: Codec<ConnectRequest> = {
  read: (reader) => ({
    protocolVersion: reader.int(),
    lastZxidSeen: reader.long(),
    timeoutMs: reader.int(),
    sessionId: reader.long(),
    password: reader.buffer(),
    readOnly: reader.remaining > 0 ? reader.bool() : null,
  }),
  write: (writer, value) => {
    writer.int(value.protocolVersion);
    writer.long(value.lastZxidSeen);
    writer.int(value.timeoutMs);
    writer.long(value.sessionId);
    writer.buffer(value.password);
    if (value.readOnly !== null) writer.bool(value.readOnly);
  },
};

export interface ConnectResponse {
  readonly protocolVersion: number;
  /** 0 when the session has expired. */
  readonly timeoutMs: number;
  readonly sessionId: Int64;
  readonly password: Uint8Array | null;
  /** Null, that is absent, iff the request had none. */
  readonly readOnly: boolean | null;
}
export const ConnectResponse: Codec<ConnectResponse> = {
  read: (reader) => ({
    protocolVersion: reader.int(),
    timeoutMs: reader.int(),
    sessionId: reader.long(),
    password: reader.buffer(),
    readOnly: reader.remaining > 0 ? reader.bool() : null,
  }),
  write: (writer, value) => {
    writer.int(value.protocolVersion);
    writer.int(value.timeoutMs);
    writer.long(value.sessionId);
    writer.buffer(value.password);
    if (value.readOnly !== null) writer.bool(value.readOnly);
  },
};

/** Body of a notification, behind a ReplyHeader with WATCH_XID. */
export const WatcherEvent = record({ type: int, state: int, path: string });
export type WatcherEvent = Decoded<typeof WatcherEvent>;

// Records with bytes are spelled out: what TypeScript infers, those before 5.7 cannot read.
export interface AuthPacket {
  readonly type: number;
  readonly scheme: string;
  readonly auth: Uint8Array | null;
}
export const AuthPacket: Codec<AuthPacket> = record({ type: int, scheme: string, auth: buffer });

export interface SaslRequest {
  readonly token: Uint8Array | null;
}
export const SaslRequest: Codec<SaslRequest> = record({ token: buffer });

export interface SaslResponse {
  readonly token: Uint8Array | null;
}
export const SaslResponse: Codec<SaslResponse> = record({ token: buffer });

/** The request of sync, getAcl, deleteContainer and getAllChildrenNumber. */
export const PathRequest = record({ path: string });
export type PathRequest = Decoded<typeof PathRequest>;

export const SyncResponse = record({ path: string });
export type SyncResponse = Decoded<typeof SyncResponse>;

/** The body is not Java's: a createSession never comes from a client, only from a member. */
export const CreateSessionRequest = record({ timeoutMs: int });
export type CreateSessionRequest = Decoded<typeof CreateSessionRequest>;

export interface CreateTtlRequest {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: readonly Acl[] | null;
  readonly flags: number;
  readonly ttlMs: Int64;
}
export const CreateTtlRequest: Codec<CreateTtlRequest> = record({
  path: string,
  data: buffer,
  acl: AclListOrNull,
  flags: int,
  ttlMs: long,
});

export const GetAclResponse = record({ acl: AclList, stat: Stat });
export type GetAclResponse = Decoded<typeof GetAclResponse>;

export const SetAclRequest = record({ path: string, acl: AclListOrNull, version: int });
export type SetAclRequest = Decoded<typeof SetAclRequest>;

export const GetChildrenResponse = record({ children: vector(string) });
export type GetChildrenResponse = Decoded<typeof GetChildrenResponse>;

export const GetChildren2Response = record({ children: vector(string), stat: Stat });
export type GetChildren2Response = Decoded<typeof GetChildren2Response>;

/**
 * A page of a directory's names, in the order of their UTF-16 code units, which is the order of
 * JavaScript's and Java's string comparison. Listing goes on from the last name of a page; what
 * changes meanwhile may show or not, every name that stays is given exactly once.
 */
export const GetChildrenPageRequest = record({
  path: string,
  /** Only names above this one, which need not exist; '' (null is read as that) for the start. */
  startAfter: stringOrEmpty,
  /** At least 1, else -8. A page may have fewer names although there are more. */
  limit: int,
  /** Sets a child watch, as getChildren does. */
  watch: bool,
});
export type GetChildrenPageRequest = Decoded<typeof GetChildrenPageRequest>;

/** `more`: there are names above the last one. */
export const GetChildrenPageResponse = record({
  children: vector(string),
  stat: Stat,
  more: bool,
});
export type GetChildrenPageResponse = Decoded<typeof GetChildrenPageResponse>;

/**
 * Raises the number of the znode's next sequential child to at least `atLeast`. Has no effect if
 * the number is that high already, so it may be repeated. Requires CREATE and DELETE on the znode.
 */
export const RaiseSequenceRequest = record({
  path: string,
  /** From 0 to SEQUENCE_MAX, else -8. */
  atLeast: int,
});
export type RaiseSequenceRequest = Decoded<typeof RaiseSequenceRequest>;

/** Has no Stat, which would reveal facts to a client without READ. */
export const RaiseSequenceResponse = record({
  /** The number of the next sequential child; below 0 beyond 2147483647. */
  next: int,
});
export type RaiseSequenceResponse = Decoded<typeof RaiseSequenceResponse>;

export const ReconfigRequest = record({
  joiningServers: nullableString,
  leavingServers: nullableString,
  newMembers: nullableString,
  /** -1 for any. */
  currentConfigId: long,
});
export type ReconfigRequest = Decoded<typeof ReconfigRequest>;

/** The request of checkWatches and removeWatches; `type` is a WatcherType. */
export const WatchesRequest = record({ path: string, type: int });
export type WatchesRequest = Decoded<typeof WatchesRequest>;

export const SetWatchesRequest = record({
  relativeZxid: long,
  dataWatches: vector(string),
  existWatches: vector(string),
  childWatches: vector(string),
});
export type SetWatchesRequest = Decoded<typeof SetWatchesRequest>;

export const SetWatches2Request = record({
  relativeZxid: long,
  dataWatches: vector(string),
  existWatches: vector(string),
  childWatches: vector(string),
  persistentWatches: vector(string),
  persistentRecursiveWatches: vector(string),
});
export type SetWatches2Request = Decoded<typeof SetWatches2Request>;

/** `mode` is an AddWatchMode. */
export const AddWatchRequest = record({ path: string, mode: int });
export type AddWatchRequest = Decoded<typeof AddWatchRequest>;

/** Body of addWatch's reply, and of each failed operation of a multi. */
export const ErrorResponse = record({ error: int });
export type ErrorResponse = Decoded<typeof ErrorResponse>;

/** '' (null on the wire is read as that) asks for all ephemerals of the session. */
export const GetEphemeralsRequest = record({ prefixPath: stringOrEmpty });
export type GetEphemeralsRequest = Decoded<typeof GetEphemeralsRequest>;

export const GetEphemeralsResponse = record({ ephemerals: vector(string) });
export type GetEphemeralsResponse = Decoded<typeof GetEphemeralsResponse>;

export const GetAllChildrenNumberResponse = record({ totalNumber: int });
export type GetAllChildrenNumberResponse = Decoded<typeof GetAllChildrenNumberResponse>;

export const ClientInfo = record({ authScheme: string, user: string });
export type ClientInfo = Decoded<typeof ClientInfo>;

export const WhoAmIResponse = record({ clientInfo: vector(ClientInfo) });
export type WhoAmIResponse = Decoded<typeof WhoAmIResponse>;

/** A request or reply without a body. */
export const Empty = nothing;
export type Empty = null;
