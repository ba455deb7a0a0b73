/**
 * Writes the reply to a write, which says what its transaction did, right after it was applied; and
 * the reply to a sync.
 *
 * It also knows the two forms that every reply has: a header with a body, or a header with an error
 * and no body. A multi that failed is the exception: its header has error 0, and the errors are in
 * its body.
 */
import {
  assert,
  decode,
  ErrorCode,
  InvariantViolation,
  type JuteWriter,
  MarshallingError,
  MultiResponse,
  type MultiResult,
  OpCode,
  PathRequest,
  putLong,
  type Stat,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import { OpView, type WithPath } from '../state/op-view.js';
import { NO_NODE, type Tree } from '../state/tree.js';
import type { NodeOp, Txn } from '../state/txn.js';

/** xid, zxid and error. */
const HEADER_BYTES = 16;

/** The caller writes the body and ends the frame. */
export function beginReply(writer: JuteWriter, xid: number, zxid: Zxid): void {
  writeHeader(writer, xid, zxid, ErrorCode.ok);
}

/** Written in one step, because it begins every answer. */
function writeHeader(writer: JuteWriter, xid: number, zxid: Zxid, code: number): void {
  writer.beginFrame();
  const at = writer.claim(HEADER_BYTES);
  const { view } = writer;
  view.setInt32(at, xid);
  putLong(view, at + 4, zxid);
  view.setInt32(at + 12, code);
}

export function writeError(
  writer: JuteWriter,
  reply: { readonly xid: number; readonly zxid: number; readonly code: number },
): void {
  writeHeader(writer, reply.xid, reply.zxid, reply.code);
  writer.endFrame();
}

export interface TxnReply {
  readonly xid: number;
  readonly zxid: Zxid;
  readonly txn: Txn;
  /** For each create and setData of a multi, in order: its Stat before the next operation. */
  readonly stats: readonly Stat[];
}

/** `body` is the request's, because the answer repeats its path. */
export function writeSyncReply(
  writer: JuteWriter,
  reply: { readonly xid: number; readonly zxid: Zxid; readonly body: Uint8Array },
): void {
  const { xid, zxid, body } = reply;
  const path = pathOfSync(body);
  if (path === null) return writeError(writer, { xid, zxid, code: ErrorCode.marshallingError });
  beginReply(writer, xid, zxid);
  writer.string(path);
  writer.endFrame();
}

/** `tree` is as the transaction left it. */
export function writeTxnReply(writer: JuteWriter, tree: Tree, reply: TxnReply): void {
  const { xid, zxid, txn } = reply;
  const { op } = txn;
  if (op.kind === 'error' && op.codes === null) {
    return writeError(writer, { xid, zxid, code: op.code });
  }
  beginReply(writer, xid, zxid);
  switch (op.kind) {
    case 'create':
      writePath(writer, op);
      if (op.opcode !== OpCode.create) writeStat(writer, tree, op);
      break;
    case 'setData':
    case 'setAcl':
      writeStat(writer, tree, op);
      break;
    case 'multi':
      MultiResponse.write(writer, { results: resultsOf(op.ops, reply.stats) });
      break;
    case 'error':
      MultiResponse.write(writer, { results: (op.codes ?? []).map(errorResult) });
      break;
    case 'delete':
    case 'check':
    case 'createSession':
    case 'beginClose':
    case 'closeSession':
    case 'raiseLevel':
      break;
    default:
      return unreachable(op);
  }
  writer.endFrame();
}

function writePath(writer: JuteWriter, op: WithPath): void {
  if (!(op instanceof OpView)) return writer.string(op.path);
  const { view, pathStart, pathEnd } = op;
  writer.int(pathEnd - pathStart);
  writer.rawWithin(view, pathStart, pathEnd - pathStart);
}

function writeStat(writer: JuteWriter, tree: Tree, op: WithPath): void {
  const node = op instanceof OpView ? op.node : tree.find(op.path);
  assert(node !== NO_NODE, () => `${op.path} is there after its own change`);
  tree.writeStat(node, writer);
}

function errorResult(error: number): MultiResult {
  return { opcode: OpCode.error, error };
}

function resultsOf(ops: readonly NodeOp[], stats: readonly Stat[]): readonly MultiResult[] {
  let used = 0;
  const nextStat = (): Stat => {
    const stat = stats[used++];
    assert(stat !== undefined, 'each create and setData of a multi left its Stat');
    return stat;
  };
  return ops.map((op): MultiResult => {
    switch (op.kind) {
      case 'create': {
        const stat = nextStat();
        // As in 3.8, a create2 of a multi has become a create and has no Stat: see create-mode.ts.
        if (op.opcode === OpCode.create) return { opcode: OpCode.create, path: op.path };
        return { opcode: OpCode.create2, path: op.path, stat };
      }
      case 'setData':
        return { opcode: OpCode.setData, stat: nextStat() };
      case 'delete':
        return { opcode: OpCode.delete };
      case 'check':
        return { opcode: OpCode.check };
      case 'setAcl':
        throw new InvariantViolation('a multi has no setAcl');
      default:
        return unreachable(op);
    }
  });
}

function pathOfSync(body: Uint8Array): string | null {
  try {
    return decode(PathRequest, body).path;
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}
