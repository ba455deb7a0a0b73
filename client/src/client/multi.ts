/**
 * Converts transactions and multiReads to the records of the wire, and their replies to results and
 * errors.
 */
import {
  CreateFlag,
  type CreateRequest,
  type CreateTtlRequest,
  ErrorCode,
  isTtlFlag,
  type KeeperError,
  keeperError,
  MarshallingError,
  type MultiReadResult,
  type MultiRequestOp,
  type MultiResult,
  OpCode,
  Perms,
  unreachable,
} from '@rookery/protocol';
import type { ReadOp, ReadResult } from '../api/client.js';
import { TransactionError } from '../api/errors.js';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type { Acl, CreateMode } from '../api/values.js';
import { bytesOf, dataOf, statOf } from './calls.js';

/** Grants every permission to everybody. */
export const OPEN_ACL: readonly Acl[] = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

/** Matches any version. */
export const ANY_VERSION = -1;

export interface CreateParts {
  readonly path: string;
  readonly data: Uint8Array | null;
  readonly mode: CreateMode | undefined;
  readonly acl: readonly Acl[] | undefined;
  readonly ttlMs: number | undefined;
}

/** The kinds of create whose reply contains a Stat, if the server supports that. */
export type CreateOp =
  | {
      readonly opcode: typeof OpCode.create2 | typeof OpCode.createContainer;
      readonly request: CreateRequest;
    }
  | { readonly opcode: typeof OpCode.createTtl; readonly request: CreateTtlRequest };

export function createOpOf(parts: CreateParts): CreateOp {
  const { path, data, mode = 'persistent', acl = OPEN_ACL } = parts;
  const flags = CreateFlag[mode];
  if (isTtlFlag(flags)) {
    const request = { path, data, acl, flags, ttlMs: parts.ttlMs ?? 0 };
    return { opcode: OpCode.createTtl, request };
  }
  const opcode = mode === 'container' ? OpCode.createContainer : OpCode.create2;
  return { opcode, request: { path, data, acl, flags } };
}

export function requestOpOf(op: TransactionOp, copied: boolean): MultiRequestOp {
  const { path } = op;
  switch (op.kind) {
    case 'create':
      return createOpOf({
        path,
        data: bytesOf(op.data ?? null, copied),
        mode: op.mode,
        acl: op.acl,
        ttlMs: op.ttlMs,
      });
    case 'delete':
      return { opcode: OpCode.delete, request: { path, version: op.version ?? ANY_VERSION } };
    case 'setData': {
      const data = bytesOf(op.data, copied);
      return {
        opcode: OpCode.setData,
        request: { path, data, version: op.version ?? ANY_VERSION },
      };
    }
    case 'check':
      return { opcode: OpCode.check, request: { path, version: op.version ?? ANY_VERSION } };
    default:
      return unreachable(op);
  }
}

/** Returns the results in the order of the operations, or the error that the reply contains. */
export function resultsOf(
  ops: readonly TransactionOp[],
  results: readonly MultiResult[],
): TransactionResult[] | TransactionError {
  if (results.length !== ops.length) {
    throw new MarshallingError(
      `the reply has ${results.length} results for ${ops.length} operations`,
    );
  }
  if (results.some((result) => result.opcode === OpCode.error)) return failureOf(ops, results);
  return results.map((result, index) => resultOf(result, ops[index]));
}

/** The operations before the failed one have code 0, those after it -2. */
function failureOf(
  ops: readonly TransactionOp[],
  results: readonly MultiResult[],
): TransactionError {
  const codes = results.map((result) => (result.opcode === OpCode.error ? result.error : 0));
  const atFault = codes.findIndex((code) => code !== 0 && code !== ErrorCode.runtimeInconsistency);
  const failedIndex = atFault === -1 ? codes.findIndex((code) => code !== 0) : atFault;
  const errors = codes.map((code, index): KeeperError | null => {
    return code === 0 ? null : keeperError(code, ops[index]?.path);
  });
  const error = errors[failedIndex] ?? keeperError(ErrorCode.systemError);
  return new TransactionError(failedIndex, error, errors);
}

function resultOf(result: MultiResult, op: TransactionOp | undefined): TransactionResult {
  switch (op?.kind) {
    case 'create':
      if (result.opcode === OpCode.create2) {
        return { kind: 'create', path: result.path, stat: statOf(result.stat) };
      }
      if (result.opcode === OpCode.create) return { kind: 'create', path: result.path, stat: null };
      break;
    case 'setData':
      if (result.opcode === OpCode.setData) return { kind: 'setData', stat: statOf(result.stat) };
      break;
    case 'delete':
      if (result.opcode === OpCode.delete) return { kind: 'delete' };
      break;
    case 'check':
      if (result.opcode === OpCode.check) return { kind: 'check' };
      break;
    case undefined:
      break;
    default:
      return unreachable(op);
  }
  throw new MarshallingError(`the reply has a result of type ${result.opcode} for a ${op?.kind}`);
}

export function readResultOf(result: MultiReadResult, op: ReadOp | undefined): ReadResult {
  switch (result.opcode) {
    case OpCode.getData:
      return { kind: 'getData', data: dataOf(result.data), stat: statOf(result.stat) };
    case OpCode.getChildren:
      return { kind: 'getChildren', children: result.children };
    case OpCode.error:
      return { kind: 'error', error: keeperError(result.error, op?.path) };
    default:
      return unreachable(result);
  }
}
