/**
 * The records of nearly every request and reply, written by hand: headers, Stat, ACLs and the
 * bodies of create, delete, exists, getData, setData, getChildren and check.
 *
 * Straight-line code keeps their objects of one shape and costs no loop per field. The rest is in
 * records.ts. Reading throws MarshallingError for what is not the record.
 */
import { type Codec, nullableVector, readString, vector } from '../jute/codec.js';
import type { Int64 } from '../jute/int64.js';

export interface RequestHeader {
  readonly xid: number;
  readonly type: number;
}
export const RequestHeader: Codec<RequestHeader> = {
  read: (reader) => ({ xid: reader.int(), type: reader.int() }),
  write: (writer, value) => {
    writer.int(value.xid);
    writer.int(value.type);
  },
};

/** The head of each reply. If `error` is not 0, no body follows. */
export interface ReplyHeader {
  readonly xid: number;
  readonly zxid: Int64;
  readonly error: number;
}
export const ReplyHeader: Codec<ReplyHeader> = {
  read: (reader) => ({ xid: reader.int(), zxid: reader.long(), error: reader.int() }),
  write: (writer, value) => {
    writer.int(value.xid);
    writer.long(value.zxid);
    writer.int(value.error);
  },
};

export interface Stat {
  readonly czxid: Int64;
  readonly mzxid: Int64;
  readonly ctime: Int64;
  readonly mtime: Int64;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: Int64;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: Int64;
}
export const Stat: Codec<Stat> = {
  read: (reader) => ({
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.long(),
    mtime: reader.long(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  }),
  write: (writer, value) => {
    writer.long(value.czxid);
    writer.long(value.mzxid);
    writer.long(value.ctime);
    writer.long(value.mtime);
    writer.int(value.version);
    writer.int(value.cversion);
    writer.int(value.aversion);
    writer.long(value.ephemeralOwner);
    writer.int(value.dataLength);
    writer.int(value.numChildren);
    writer.long(value.pzxid);
  },
};
export const STAT_BYTES = 68;

export interface Acl {
  /** Bits of `Perms`. */
  readonly perms: number;
  /** Null on the wire is read as '', which no scheme and no id of world or digest is. */
  readonly scheme: string;
  readonly id: string;
}
export const Acl: Codec<Acl> = {
  read: (reader) => ({
    perms: reader.int(),
    scheme: reader.stringOr('world') ?? '',
    id: reader.stringOr('anyone') ?? '',
  }),
  write: (writer, value) => {
    writer.int(value.perms);
    writer.string(value.scheme);
    writer.string(value.id);
  },
};
export const AclList = vector(Acl);
/** Null and empty are both invalid, and answered, not malformed. */
export const AclListOrNull = nullableVector(Acl);

/** The request of create, create2 and createContainer. */
export interface CreateRequest {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly acl: readonly Acl[] | null;
  /** A CreateFlag when it is valid. */
  readonly flags: number;
}
export const CreateRequest: Codec<CreateRequest> = {
  read: (reader) => ({
    path: readString(reader),
    data: reader.buffer(),
    acl: AclListOrNull.read(reader),
    flags: reader.int(),
  }),
  write: (writer, value) => {
    writer.string(value.path);
    writer.buffer(value.data);
    AclListOrNull.write(writer, value.acl);
    writer.int(value.flags);
  },
};

export interface CreateResponse {
  readonly path: string;
}
export const CreateResponse: Codec<CreateResponse> = {
  read: (reader) => ({ path: readString(reader) }),
  write: (writer, value) => writer.string(value.path),
};

export interface Create2Response {
  readonly path: string;
  readonly stat: Stat;
}
export const Create2Response: Codec<Create2Response> = {
  read: (reader) => ({ path: readString(reader), stat: Stat.read(reader) }),
  write: (writer, value) => {
    writer.string(value.path);
    Stat.write(writer, value.stat);
  },
};

/** The request of delete and check; the version is -1 for any. */
export interface PathVersionRequest {
  readonly path: string;
  readonly version: number;
}
export const PathVersionRequest: Codec<PathVersionRequest> = {
  read: (reader) => ({ path: readString(reader), version: reader.int() }),
  write: (writer, value) => {
    writer.string(value.path);
    writer.int(value.version);
  },
};

/** The request of exists, getData, getChildren and getChildren2. */
export interface PathWatchRequest {
  readonly path: string;
  readonly watch: boolean;
}
export const PathWatchRequest: Codec<PathWatchRequest> = {
  read: (reader) => ({ path: readString(reader), watch: reader.bool() }),
  write: (writer, value) => {
    writer.string(value.path);
    writer.bool(value.watch);
  },
};

export interface SetDataRequest {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly version: number;
}
export const SetDataRequest: Codec<SetDataRequest> = {
  read: (reader) => ({
    path: readString(reader),
    data: reader.buffer(),
    version: reader.int(),
  }),
  write: (writer, value) => {
    writer.string(value.path);
    writer.buffer(value.data);
    writer.int(value.version);
  },
};

/** The response to exists, setData and setAcl. */
export interface StatResponse {
  readonly stat: Stat;
}
export const StatResponse: Codec<StatResponse> = {
  read: (reader) => ({ stat: Stat.read(reader) }),
  write: (writer, value) => Stat.write(writer, value.stat),
};

/** The response to getData and, with the configuration as data, to reconfig. */
export interface GetDataResponse {
  readonly data: Uint8Array | null;
  readonly stat: Stat;
}
export const GetDataResponse: Codec<GetDataResponse> = {
  read: (reader) => ({ data: reader.buffer(), stat: Stat.read(reader) }),
  write: (writer, value) => {
    writer.buffer(value.data);
    Stat.write(writer, value.stat);
  },
};
