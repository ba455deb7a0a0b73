/**
 * Encodes and decodes transactions: the bodies of proposals, in the log and between members.
 *
 * They are encoded by hand in jute's terms, because msgpack would take three times as long, for
 * every write: the kind and the origin in one int, request, session and time as longs, then the
 * fields of the operation in a fixed order. The most common ACL, one entry for world:anyone, is -1
 * and its permission bits. Decoding checks every field, because bytes from a disk or a peer are not
 * to be trusted. Kinds are never renumbered, and no field of theirs ever changes; additions are
 * written from their ensemble level on (level.ts).
 *
 * Nearly all transactions are a setData, or a create of a znode with an ASCII path. Where they are
 * applied (TxnViews), these are read in place (op-view.ts): no string and no copy is made of their
 * path and data. All others are read as objects.
 */
import {
  assert,
  JuteReader,
  type JuteWriter,
  MarshallingError,
  naturalAt,
  PASSWORD_BYTES,
  type Proposal,
  type ProposalCursor,
  requiredCount,
  requiredNatural,
  requiredString,
  unreachable,
} from '@rookery/protocol';
import { NO_BYTES } from './memory/path-view.js';
import { CreateView, OpView, readPathAndData, SetDataView, WorldAcls } from './op-view.js';
import {
  type Acl,
  type CreateOp,
  MODE,
  NODE_MODES,
  type NodeOp,
  type Reused,
  type Txn,
  type TxnOp,
} from './txn.js';

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
  raiseSequence: 12,
} as const;

const RECORD = 'a transaction';
/** Kind and origin, request, session and time. */
const HEAD_BYTES = 28;
const ORIGIN_BITS = 8;
const ORIGIN_MAX = (1 << ORIGIN_BITS) - 1;
/** Overwritten by each call; `worldAcls` has at most 32 lists. */
const bodyReader = new JuteReader(NO_BYTES);
const decodedCreate = new CreateView();
const decodedSetData = new SetDataView();
const worldAcls = new WorldAcls();
const NO_OP: TxnOp = { kind: 'beginClose' };
/** Longer bytes are copied faster by `raw`, although it needs a subarray. */
const VIEW_BYTES_MAX = 512;
/** A setData, or a create with the usual ACL, has at most this many bytes besides path and data. */
const FIXED_BYTES_MAX = 64;
/** Stands in place of the number of entries. */
const WORLD_ANYONE = -1;

export function writeTxn(writer: JuteWriter, { origin, request, session, time, op }: Txn): void {
  assert(origin >= 0 && origin <= ORIGIN_MAX, () => `${origin} is a member or 0`);
  writer.int((KIND[op.kind] << ORIGIN_BITS) | origin);
  writer.long(request);
  writer.long(session);
  writer.long(time);
  writeOp(writer, op);
}

/**
 * The approximate number of bytes that `writeTxn` writes for a setData or a create, but for the
 * ACL. Returns 0 for other kinds, whose size is not known before they are written.
 */
export function txnBytesOf({ op }: Txn): number {
  if (op.kind !== 'setData' && op.kind !== 'create') return 0;
  if (op instanceof OpView && op.isWhole) {
    return FIXED_BYTES_MAX + op.dataStart - op.pathStart + op.dataBytes;
  }
  return FIXED_BYTES_MAX + op.path.length + (op.data?.length ?? 0);
}

/** Data and passwords are views of the body. Throws MarshallingError. */
export function txnOf({ body }: { readonly body: Proposal['body'] }): Txn {
  bodyReader.point(body, 0, body.length);
  return readTxn(bodyReader);
}

/** The reader must end with the transaction. Throws MarshallingError. */
function readTxn(reader: JuteReader): Txn {
  const txn = emptyTxn();
  const kind = readHead(txn, reader);
  txn.op = readOp(kind, reader);
  checkEnd(reader);
  return txn;
}

/** Reads everything before the operation, and returns the kind of that. */
function readHead(txn: Reused<Txn>, reader: JuteReader): number {
  const { view, position } = reader;
  reader.skip(HEAD_BYTES);
  const head = view.getInt32(position);
  txn.origin = head & ORIGIN_MAX;
  txn.request = naturalAt(view, position + 4, RECORD);
  txn.session = naturalAt(view, position + 12, RECORD);
  txn.time = naturalAt(view, position + 20, RECORD);
  return head >> ORIGIN_BITS;
}

function checkEnd({ remaining }: JuteReader): void {
  if (remaining > 0) throw new MarshallingError(`${remaining} bytes after a transaction`);
}

function emptyTxn(): Reused<Txn> {
  return { origin: 0, request: 0, session: 0, time: 0, op: NO_OP };
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
    case 'raiseSequence':
      writer.string(op.path);
      writer.int(op.creates);
      return;
    case 'raiseLevel':
      writer.long(op.level);
      return;
    default:
      writeNodeOp(writer, op);
  }
}

function writeNodeOp(writer: JuteWriter, op: NodeOp): void {
  if (op instanceof OpView && op.isWhole) writeView(writer, op);
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
    case KIND.raiseSequence: {
      const path = requiredString(reader, RECORD);
      return { kind: 'raiseSequence', path, creates: reader.int() };
    }
    case KIND.raiseLevel:
      return { kind: 'raiseLevel', level: requiredNatural(reader, RECORD) };
    default:
      return readNodeOp(kind, reader);
  }
}

function readNodeOp(kind: number, reader: JuteReader): NodeOp {
  switch (kind) {
    case KIND.create:
      return createOf(readCreate(decodedCreate, reader));
    case KIND.delete:
      return { kind: 'delete', path: requiredString(reader, RECORD) };
    case KIND.setData: {
      const { path, data, version } = readSetData(decodedSetData, reader);
      return { kind: 'setData', path, data, version };
    }
    case KIND.setAcl: {
      const path = requiredString(reader, RECORD);
      const acl = readAcl(reader);
      return { kind: 'setAcl', path, acl, version: reader.int() };
    }
    case KIND.check:
      return { kind: 'check', path: requiredString(reader, RECORD) };
    default:
      throw new MarshallingError(`a transaction has the unknown kind ${kind}`);
  }
}

function readSetData(op: SetDataView, reader: JuteReader): SetDataView {
  readPathAndData(op, reader);
  op.version = reader.int();
  return op;
}

function readCreate(op: CreateView, reader: JuteReader): CreateView {
  readPathAndData(op, reader);
  op.acl = readAcl(reader);
  const mode = NODE_MODES[reader.int()];
  if (mode === undefined) {
    throw new MarshallingError('a transaction creates a node of no known mode');
  }
  op.mode = mode;
  op.ttlMs = requiredNatural(reader, RECORD);
  op.opcode = reader.int();
  return op;
}

/** The same as an object of its own. */
function createOf({ path, data, acl, mode, ttlMs, opcode }: CreateView): CreateOp {
  return { kind: 'create', path, data, acl, mode, ttlMs, opcode };
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
  if (count === WORLD_ANYONE) return worldAcls.of(reader.int());
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
  readonly #reader = new JuteReader(NO_BYTES);
  readonly #setData = new SetDataView();
  readonly #create = new CreateView();
  readonly #txn = emptyTxn();

  /**
   * Returns the transaction of the proposal at the cursor; it is valid until the next call, or
   * until `release`. Throws MarshallingError.
   */
  txnOf(proposal: ProposalCursor): Txn {
    const reader = this.#reader;
    const txn = this.#txn;
    proposal.pointAtBody(reader);
    const kind = readHead(txn, reader);
    if (kind === KIND.setData) txn.op = readSetData(this.#setData, reader);
    else if (kind === KIND.create) txn.op = this.#readCreate();
    else txn.op = readOp(kind, reader);
    checkEnd(reader);
    return txn;
  }

  /** Forgets the last proposal: its transaction, if it was kept, has no path and no data. */
  release(): void {
    this.#reader.point(NO_BYTES, 0, 0);
    this.#setData.release();
    this.#create.release();
    this.#txn.op = NO_OP;
  }

  /** The tree takes only the name of a plain path from where it is. */
  #readCreate(): CreateOp {
    const op = readCreate(this.#create, this.#reader);
    op.locateName();
    return op.isPlain ? op : createOf(op);
  }
}
