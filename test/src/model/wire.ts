/**
 * Converts an operation to a request of the wire protocol, and a reply to plain values for
 * comparison.
 *
 * Lists without an order on the wire are sorted, and data becomes text, as in the model. A reply
 * with more or fewer bytes than its record is an error of its own.
 */
import {
  type Codec,
  type Int64,
  JuteReader,
  type MultiReadRequestOp,
  type MultiRequestOp,
  OPERATIONS,
  OpCode,
  operationOf,
} from '@rookery/protocol';
import type { Reply } from '../harness/wire-client.js';
import { ACLS, type CreateOp, type MultiOp, type Operation, USERS } from './operations.js';

export interface Request {
  readonly opcode: number;
  readonly codec: Codec<unknown>;
  readonly value: unknown;
}

export interface RequestContext {
  readonly place: (path: string) => string;
  /** The zxid to which setWatches is relative. */
  readonly zxidBack: (writes: number) => Int64;
}

export function opcodeOf(operation: Operation): number {
  return OpCode[operation.op];
}

export function requestOf(operation: Operation, context: RequestContext): Request {
  const opcode = opcodeOf(operation);
  const known = operationOf(opcode);
  if (known === undefined) throw new Error(`${operation.op} is not in the table`);
  return { opcode, codec: known.request, value: recordOf(operation, context) };
}

/** The body of an error-free reply. */
export function bodyOf(operation: Operation, reply: Reply): unknown {
  const { response } = operationOf(opcodeOf(operation)) ?? OPERATIONS[OpCode.ping];
  const reader = new JuteReader(reply.body);
  const body = response.read(reader);
  if (reader.remaining > 0) throw new Error(`${reader.remaining} bytes too many in a reply`);
  return body === null ? undefined : comparable(body);
}

const UNORDERED = new Set(['children', 'ephemerals', 'acl', 'clientInfo']);

/** Applied to both the expected and the received value. */
export function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null || 'kind' in value) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const own = comparable(field);
    const isSorted = UNORDERED.has(name) && Array.isArray(own);
    return [name, isSorted ? [...own].sort(byText) : own];
  });
  return Object.fromEntries(fields);
}

function byText(left: unknown, right: unknown): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1;
}

function recordOf(operation: Operation, context: RequestContext): unknown {
  const { place } = context;
  switch (operation.op) {
    case 'create':
    case 'create2':
    case 'createContainer':
    case 'createTtl':
    case 'delete':
    case 'check':
    case 'setData':
      return multiOpOf(operation, place).request;
    case 'multi':
      return { ops: operation.ops.map((op) => multiOpOf(op, place)) };
    case 'multiRead':
      return { ops: operation.reads.map((read) => multiReadOpOf(read, place)) };
    case 'setAcl':
      return { ...operation, path: place(operation.path), acl: ACLS[operation.acl] };
    case 'setWatches':
    case 'setWatches2':
      return {
        relativeZxid: context.zxidBack(operation.writesBack),
        dataWatches: operation.data.map(place),
        existWatches: operation.exist.map(place),
        childWatches: operation.child.map(place),
        persistentWatches: operation.persistent.map(place),
        persistentRecursiveWatches: operation.recursive.map(place),
      };
    case 'getEphemerals':
      return { prefixPath: place(operation.path) };
    case 'auth':
      return { type: 0, scheme: 'digest', auth: Buffer.from(USERS[operation.user].secret) };
    case 'whoAmI':
    case 'closeSession':
      return null;
    default:
      return { ...operation, path: place(operation.path) };
  }
}

function multiOpOf(op: MultiOp, place: (path: string) => string): MultiRequestOp {
  const path = place(op.path);
  switch (op.op) {
    case 'createTtl':
      return { opcode: OpCode.createTtl, request: createRequest(op, path) };
    case 'create':
    case 'create2':
    case 'createContainer':
      return { opcode: OpCode[op.op], request: createRequest(op, path) };
    case 'setData':
      return { opcode: OpCode.setData, request: { ...op, path, data: bytesOf(op.data) } };
    default:
      return { opcode: OpCode[op.op], request: { path, version: op.version } };
  }
}

function multiReadOpOf(
  read: { readonly op: 'getData' | 'getChildren'; readonly path: string },
  place: (path: string) => string,
): MultiReadRequestOp {
  return { opcode: OpCode[read.op], request: { path: place(read.path), watch: false } };
}

function createRequest(op: CreateOp, path: string) {
  const { data, acl, flags, ttlMs } = op;
  return { path, data: bytesOf(data), acl: ACLS[acl], flags, ttlMs };
}

function bytesOf(data: string | null): Uint8Array | null {
  return data === null ? null : Buffer.from(data);
}
