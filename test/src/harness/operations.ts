/**
 * The common operations over a WireClient, with values instead of bytes.
 *
 * The `send` functions resolve with any reply; the others turn an error in its header into an
 * OperationError that carries the code. A lost connection stays a ConnectionLost, whose outcome is
 * unknown. Data is text here: no test needs more.
 */
import {
  CreateFlag,
  CreateRequest,
  CreateResponse,
  decode,
  ErrorCode,
  GetChildrenResponse,
  GetDataResponse,
  type Int64,
  MultiRequest,
  MultiResponse,
  OpCode,
  PathRequest,
  PathVersionRequest,
  PathWatchRequest,
  Perms,
  SetDataRequest,
  Stat,
} from '@rookery/protocol';
import type { Reply, WireClient } from './wire-client.js';

const ANY_VERSION = -1;
/** No znode of any test reaches this version. */
const IMPOSSIBLE_VERSION = 1_000_000;

export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly code: number;

  constructor(code: number, what: string) {
    super(`${what} was answered with error ${code}`);
    this.code = code;
  }
}

export interface Read {
  readonly data: string;
  readonly stat: Stat;
  /** The zxid in the reply's header. */
  readonly zxid: Int64;
}

/** Resolves with the path that was created, including the sequence suffix. */
export async function create(
  client: WireClient,
  path: string,
  data = '',
  flags: number = CreateFlag.persistent,
): Promise<string> {
  const reply = await succeeded(sendCreate(client, path, data, flags), `create ${path}`);
  return decode(CreateResponse, reply.body).path;
}

export async function setData(
  client: WireClient,
  path: string,
  data: string,
  version: number = ANY_VERSION,
): Promise<Stat> {
  const reply = await succeeded(sendSetData(client, path, data, version), `setData ${path}`);
  return decode(Stat, reply.body);
}

export async function remove(client: WireClient, path: string): Promise<void> {
  await succeeded(sendDelete(client, path), `delete ${path}`);
}

export async function getData(client: WireClient, path: string, watch = false): Promise<Read> {
  return readOf(await succeeded(sendGetData(client, path, watch), `getData ${path}`));
}

/** Undefined if there is no such znode; the watch is set in that case, too. */
export async function exists(
  client: WireClient,
  path: string,
  watch = false,
): Promise<Stat | undefined> {
  const reply = await client.request(OpCode.exists, PathWatchRequest, { path, watch });
  if (reply.error === ErrorCode.noNode) return undefined;
  if (reply.error !== 0) throw new OperationError(reply.error, `exists ${path}`);
  return decode(Stat, reply.body);
}

/** Sorted, because the order on the wire means nothing. */
export async function getChildren(
  client: WireClient,
  path: string,
  watch = false,
): Promise<string[]> {
  const sent = client.request(OpCode.getChildren, PathWatchRequest, { path, watch });
  const reply = await succeeded(sent, `getChildren ${path}`);
  return [...decode(GetChildrenResponse, reply.body).children].sort();
}

export async function sync(client: WireClient, path = '/'): Promise<Reply> {
  return await succeeded(sendSync(client, path), `sync ${path}`);
}

/** Ensures that the znode exists, whoever created it. */
export async function ensure(client: WireClient, path: string): Promise<void> {
  const reply = await sendCreate(client, path);
  if (reply.error !== ErrorCode.ok && reply.error !== ErrorCode.nodeExists) {
    throw new OperationError(reply.error, `create ${path}`);
  }
}

export function sendCreate(
  client: WireClient,
  path: string,
  data = '',
  flags: number = CreateFlag.persistent,
): Promise<Reply> {
  return client.request(OpCode.create, CreateRequest, createRequest(path, data, flags));
}

export function sendSetData(
  client: WireClient,
  path: string,
  data: string,
  version: number = ANY_VERSION,
): Promise<Reply> {
  const request = { path, data: Buffer.from(data), version };
  return client.request(OpCode.setData, SetDataRequest, request);
}

export function sendDelete(client: WireClient, path: string): Promise<Reply> {
  return client.request(OpCode.delete, PathVersionRequest, { path, version: ANY_VERSION });
}

export function sendGetData(client: WireClient, path: string, watch = false): Promise<Reply> {
  return client.request(OpCode.getData, PathWatchRequest, { path, watch });
}

export function sendSync(client: WireClient, path = '/'): Promise<Reply> {
  return client.request(OpCode.sync, PathRequest, { path });
}

/** A multi that creates `path` and then fails at a check: it must have no effect. */
export function sendRefusedCreate(client: WireClient, path: string): Promise<Reply> {
  return client.request(OpCode.multi, MultiRequest, {
    ops: [
      { opcode: OpCode.create, request: createRequest(path, '', CreateFlag.persistent) },
      { opcode: OpCode.check, request: { path: '/', version: IMPOSSIBLE_VERSION } },
    ],
  });
}

/** A multi that creates all of these. */
export function sendCreates(client: WireClient, paths: readonly string[]): Promise<Reply> {
  const creates = paths.map((path) => createRequest(path, '', CreateFlag.persistent));
  return client.request(OpCode.multi, MultiRequest, {
    ops: creates.map((request) => ({ opcode: OpCode.create, request })),
  });
}

/** Whether a multi's reply says that it failed: every result is then an error. */
export function multiFailed(reply: Reply): boolean {
  if (reply.error !== 0) return true;
  return decode(MultiResponse, reply.body).results.some(({ opcode }) => opcode === OpCode.error);
}

export function readOf(reply: Reply): Read {
  const { data, stat } = decode(GetDataResponse, reply.body);
  return { data: Buffer.from(data ?? []).toString('utf8'), stat, zxid: reply.zxid };
}

function createRequest(path: string, data: string, flags: number): CreateRequest {
  const acl = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];
  return { path, data: Buffer.from(data), acl, flags };
}

async function succeeded(sent: Promise<Reply>, what: string): Promise<Reply> {
  const reply = await sent;
  if (reply.error !== 0) throw new OperationError(reply.error, what);
  return reply;
}
