/**
 * The bytes of a transaction: the body of a proposal, in the log and between members.
 *
 * They are encoded by hand in jute's terms, because msgpack would take three times as long, for
 * every write: the kind and the origin in one int, request, session and time as longs, then the
 * fields of the operation in a fixed order. The most common ACL, one entry for world:anyone, is -1
 * and its permission bits. Decoding checks every field, because bytes from a disk or a peer are not
 * to be trusted. Kinds are never renumbered, and no field of theirs ever changes; additions are
 * written from their ensemble level on (level.ts).
 *
 * Nearly all transactions are a setData, or a create of a znode with an ASCII path and the usual
 * ACL. These are read in place (op-view.ts) where they are applied: no object, no string and no
 * view is made for them. All others, and malformed ones, are decoded.
 */
import {
  assert,
  JuteReader,
  type JuteWriter,
  MarshallingError,
  type Proposal,
  type ProposalCursor,
  requiredCount,
  requiredNatural,
  requiredString,
  unreachable,
} from '@rookery/protocol';
import { MODE, NODE_MODES } from './modes.js';
import { CreateView, locateFields, locateName, OpView, SetDataView, WorldAcls } from './op-view.js';
import { PASSWORD_BYTES } from './session.js';
import type { Acl, NodeOp, Txn, TxnOp } from './txn.js';

export const KIND = {
  create: 1,
  delete: 2,
  setData: 3,
  setAcl: 4,
  check: 5,
  multi: 6,
  error: 7,
  createSession: 8,
  closeSession: 9,
  raiseLevel: 10,
  beginClose: 11,
} as const;

const RECORD = 'a transaction';
export const ORIGIN_BITS = 8;
export const ORIGIN_MAX = (1 << ORIGIN_BITS) - 1;
/** It keeps nothing between calls. */
const bodyReader = new JuteReader(new Uint8Array(0));
/** Longer bytes are copied faster by `raw`, although it needs a subarray. */
const VIEW_BYTES_MAX = 512;
/** A setData, or a create with the usual ACL, has at most this many bytes besides path and data. */
const FIXED_BYTES_MAX = 64;
/** Stands in place of the number of entries. */
export const WORLD_ANYONE = -1;

const COUNTER_SPAN = 0x1_0000_0000;
const HIGH_MAX = 1 << 21;
/** Head, request, session and time; the length of the path follows. */
const PATH_AT = 28;
/** The bytes without path and data: the two lengths, and what follows them. */
const SET_DATA_BYTES = PATH_AT + 4 + 4 + 4;
const CREATE_TAIL_BYTES = 4 + 4 + 4 + 8 + 4;
const CREATE_BYTES = PATH_AT + 4 + 4 + CREATE_TAIL_BYTES;
const NONE = -1;

export function writeTxn(writer: JuteWriter, { origin, request, session, time, op }: Txn): void {
  assert(origin >= 0 && origin <= ORIGIN_MAX, () => `${origin} is a member or 0`);
  writer.int((KIND[op.kind] << ORIGIN_BITS) | origin);
  writer.long(request);
  writer.long(session);
  writer.long(time);
  writeOp(writer, op);
}

/**
 * The approximate number of bytes that `writeTxn` writes for a setData or a create, which may be a
 * little too low. Returns 0 for other kinds, whose size is not known before they are written.
 */
export function txnBytesOf({ op }: Txn): number {
  if (op.kind !== 'setData' && op.kind !== 'create') return 0;
  if (op instanceof OpView) return FIXED_BYTES_MAX + op.dataStart - op.pathStart + op.dataBytes;
  return FIXED_BYTES_MAX + op.path.length + (op.data?.length ?? 0);
}

/** Data and passwords are views of the body. Throws MarshallingError. */
export function txnOf({ body }: Pick<Proposal, 'body'>): Txn {
  bodyReader.point(body, 0, body.length);
  return readTxn(bodyReader);
}

/** The reader must end with the transaction. Throws MarshallingError. */
export function readTxn(reader: JuteReader): Txn {
  const head = reader.int();
  const origin = head & ORIGIN_MAX;
  const request = requiredNatural(reader, RECORD);
  const session = requiredNatural(reader, RECORD);
  const time = requiredNatural(reader, RECORD);
  const op = readOp(head >> ORIGIN_BITS, reader);
  if (reader.remaining > 0) {
    throw new MarshallingError(`${reader.remaining} bytes after a transaction`);
  }
  return { origin, request, session, time, op };
}

function writeOp(writer: JuteWriter, op: TxnOp): void {
  switch (op.kind) {
    case 'multi':
      writer.int(op.ops.length);
      for (const part of op.ops) {
        writer.int(KIND[part.kind]);
        writeNodeOp(writer, part);
      }
      return;
    case 'error':
      writer.int(op.code);
      writer.int(op.codes === null ? -1 : op.codes.length);
      for (const code of op.codes ?? []) writer.int(code);
      return;
    case 'createSession':
      writer.long(op.timeoutMs);
      writer.buffer(op.password);
      return;
    case 'beginClose':
    case 'closeSession':
      return;
    case 'raiseLevel':
      writer.long(op.level);
      return;
    default:
      writeNodeOp(writer, op);
  }
}

function writeNodeOp(writer: JuteWriter, op: NodeOp): void {
  if (op instanceof OpView) writeView(writer, op);
  else writePath(writer, op);
  switch (op.kind) {
    case 'create':
      writeAcl(writer, op.acl);
      writer.int(MODE[op.mode]);
      writer.long(op.ttlMs);
      writer.int(op.opcode);
      return;
    case 'delete':
    case 'check':
      return;
    case 'setData':
      writer.int(op.version);
      return;
    case 'setAcl':
      writeAcl(writer, op.acl);
      writer.int(op.version);
      return;
    default:
      unreachable(op);
  }
}

/** Writes the path, and the data if the operation has any. */
function writePath(writer: JuteWriter, op: NodeOp): void {
  writer.string(op.path);
  if (op.kind === 'create' || op.kind === 'setData') writer.buffer(op.data);
}

/** Like `writePath`: path and data are adjacent in the view, as they are written here. */
function writeView(writer: JuteWriter, op: OpView): void {
  const start = op.pathStart - 4;
  const size = op.dataStart + Math.max(0, op.dataBytes) - start;
  if (size > VIEW_BYTES_MAX) writer.raw(op.bytes.subarray(start, start + size));
  else writer.rawWithin(op.view, start, size);
}

function readOp(kind: number, reader: JuteReader): TxnOp {
  switch (kind) {
    case KIND.multi: {
      const ops: NodeOp[] = [];
      for (let left = requiredCount(reader, RECORD); left > 0; left--) {
        ops.push(readNodeOp(reader.int(), reader));
      }
      return { kind: 'multi', ops };
    }
    case KIND.error:
      return { kind: 'error', code: reader.int(), codes: readCodes(reader) };
    case KIND.createSession:
      return {
        kind: 'createSession',
        timeoutMs: requiredNatural(reader, RECORD),
        password: readPassword(reader),
      };
    case KIND.beginClose:
      return { kind: 'beginClose' };
    case KIND.closeSession:
      return { kind: 'closeSession' };
    case KIND.raiseLevel:
      return { kind: 'raiseLevel', level: requiredNatural(reader, RECORD) };
    default:
      return readNodeOp(kind, reader);
  }
}

function readNodeOp(kind: number, reader: JuteReader): NodeOp {
  const path = requiredString(reader, RECORD);
  switch (kind) {
    case KIND.create: {
      const data = reader.buffer();
      const acl = readAcl(reader);
      const mode = NODE_MODES[reader.int()];
      if (mode === undefined) {
        throw new MarshallingError('a transaction creates a node of no known mode');
      }
      const ttlMs = requiredNatural(reader, RECORD);
      return { kind: 'create', path, data, acl, mode, ttlMs, opcode: reader.int() };
    }
    case KIND.delete:
      return { kind: 'delete', path };
    case KIND.setData: {
      const data = reader.buffer();
      return { kind: 'setData', path, data, version: reader.int() };
    }
    case KIND.setAcl: {
      const acl = readAcl(reader);
      return { kind: 'setAcl', path, acl, version: reader.int() };
    }
    case KIND.check:
      return { kind: 'check', path };
    default:
      throw new MarshallingError(`a transaction has the unknown kind ${kind}`);
  }
}

function writeAcl(writer: JuteWriter, acl: readonly Acl[]): void {
  const first = acl[0];
  if (acl.length === 1 && first?.scheme === 'world' && first.id === 'anyone') {
    writer.int(WORLD_ANYONE);
    writer.int(first.perms);
    return;
  }
  writer.int(acl.length);
  for (const { perms, scheme, id } of acl) {
    writer.int(perms);
    writer.string(scheme);
    writer.string(id);
  }
}

function readAcl(reader: JuteReader): readonly Acl[] {
  const count = reader.count();
  if (count === WORLD_ANYONE) return [{ perms: reader.int(), scheme: 'world', id: 'anyone' }];
  const acl: Acl[] = [];
  for (let left = count; left > 0; left--) {
    acl.push({
      perms: reader.int(),
      scheme: requiredString(reader, RECORD),
      id: requiredString(reader, RECORD),
    });
  }
  return acl;
}

function readCodes(reader: JuteReader): readonly number[] | null {
  const count = reader.count();
  if (count < 0) return null;
  const codes: number[] = [];
  for (let left = count; left > 0; left--) codes.push(reader.int());
  return codes;
}

function readPassword(reader: JuteReader): Uint8Array {
  const password = reader.buffer();
  if (password?.length !== PASSWORD_BYTES) {
    throw new MarshallingError('a transaction opens a session with no password');
  }
  return password;
}

/** Reads the transactions of proposals that are to be applied, one after the other. */
export class TxnViews {
  readonly #reader = new JuteReader(new Uint8Array(0));
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #txn = { origin: 0, request: 0, session: 0, time: 0, op: this.#setData as TxnOp };
  readonly #acls = new WorldAcls();
  #view = this.#reader.view;

  /**
   * Returns the transaction of the proposal at the cursor; it is valid until the next call. Throws
   * MarshallingError.
   */
  txnOf(proposal: ProposalCursor): Txn {
    const reader = this.#reader;
    proposal.pointAtBody(reader);
    const at = reader.position;
    const end = at + reader.remaining;
    this.#view = reader.view;
    const kind = end - at < SET_DATA_BYTES ? 0 : this.#view.getInt32(at) >> ORIGIN_BITS;
    const isInPlace =
      (kind === KIND.setData && this.#locateSetData(at, end)) ||
      (kind === KIND.create && this.#locateCreate(at, end));
    return isInPlace && this.#readHead(at, kind) ? this.#txn : readTxn(reader);
  }

  #readHead(at: number, kind: number): boolean {
    const txn = this.#txn;
    txn.origin = this.#view.getInt32(at) & ORIGIN_MAX;
    txn.request = this.#natural(at + 4);
    txn.session = this.#natural(at + 12);
    txn.time = this.#natural(at + 20);
    txn.op = kind === KIND.create ? this.#create : this.#setData;
    return txn.request >= 0 && txn.session >= 0 && txn.time >= 0;
  }

  #locateSetData(at: number, end: number): boolean {
    const op = this.#setData;
    const next = locateFields(op, this.#reader, { at: at + PATH_AT, end });
    if (next === NONE || next + 4 !== end) return false;
    op.version = this.#view.getInt32(next);
    return true;
  }

  #locateCreate(at: number, end: number): boolean {
    if (end - at < CREATE_BYTES) return false;
    const op = this.#create;
    const next = locateFields(op, this.#reader, { at: at + PATH_AT, end });
    if (next === NONE || next + CREATE_TAIL_BYTES !== end) return false;
    const view = this.#view;
    if (view.getInt32(next) !== WORLD_ANYONE) return false;
    const mode = NODE_MODES[view.getInt32(next + 8)];
    const ttlMs = this.#natural(next + 12);
    if (mode === undefined || ttlMs < 0 || !locateName(op)) return false;
    op.acl = this.#acls.of(view.getInt32(next + 4));
    op.mode = mode;
    op.ttlMs = ttlMs;
    op.opcode = view.getInt32(next + 20);
    return true;
  }

  /** Returns a negative number if the long is not a safe integer. */
  #natural(at: number): number {
    const high = this.#view.getInt32(at);
    return high < HIGH_MAX ? high * COUNTER_SPAN + this.#view.getUint32(at + 4) : NONE;
  }
}
