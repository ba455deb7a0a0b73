/**
 * Checks the arguments of operations before anything is sent. Paths are checked for everybody.
 * Kinds, modes and data are checked for callers without a compiler, who would otherwise get an
 * error about the encoding of a frame. Returns the error instead of throwing it, so that the
 * promise of the operation can be rejected with it. Computes only.
 */
import {
  BadArgumentsError,
  CreateFlag,
  isSequentialFlag,
  isTtlFlag,
  SEQUENCE_MAX,
  validatePath,
} from '@rookery/protocol';
import type { TransactionOp } from '../api/transaction.js';
import type { CreateMode } from '../api/values.js';

const OP_KINDS = {
  create: true,
  delete: true,
  setData: true,
  check: true,
} as const satisfies Record<TransactionOp['kind'], true>;

export interface CreateArguments {
  readonly mode?: CreateMode | undefined;
  readonly ttlMs?: number | undefined;
}

/** Returns null if the path is legal. The server would refuse most, but not all, illegal paths. */
export function pathError(path: unknown, sequential = false): BadArgumentsError | null {
  if (typeof path !== 'string') return bad(undefined, `the path is ${kindOf(path)}, not a string`);
  const problem = validatePath(path, { sequential });
  return problem === null ? null : bad(path, problem);
}

/** Returns null for bytes, a string and null. */
export function dataError(path: string, data: unknown): BadArgumentsError | null {
  if (typeof data === 'string' || data === null || ArrayBuffer.isView(data)) return null;
  return bad(path, `data is ${kindOf(data)}, neither bytes nor a string nor null`);
}

/** Checks that TTL znodes, and only they, have a time to live. The server checks its range. */
export function createError(path: string, create: CreateArguments): BadArgumentsError | null {
  const { mode = 'persistent', ttlMs } = create;
  if (!Object.hasOwn(CreateFlag, mode)) {
    const modes = Object.keys(CreateFlag).join(', ');
    return bad(path, `there is no mode ${JSON.stringify(mode)}, but ${modes}`);
  }
  if (isTtlFlag(CreateFlag[mode]) === (ttlMs !== undefined)) return null;
  return bad(path, ttlMs === undefined ? `mode ${mode} needs ttlMs` : `mode ${mode} has no ttlMs`);
}

/** Returns null for a number that raiseSequence takes. */
export function sequenceError(path: string, atLeast: unknown): BadArgumentsError | null {
  const isNumber = Number.isInteger(atLeast) && Number(atLeast) >= 0;
  if (isNumber && Number(atLeast) <= SEQUENCE_MAX) return null;
  return bad(path, `the number is ${String(atLeast)}, not an integer from 0 to ${SEQUENCE_MAX}`);
}

export function watcherError(path: string, watcher: unknown): BadArgumentsError | null {
  if (typeof watcher === 'function') return null;
  return bad(path, `the watcher is ${kindOf(watcher)}, not a function`);
}

export function opError(op: TransactionOp): BadArgumentsError | null {
  const { kind, path } = op;
  if (!Object.hasOwn(OP_KINDS, kind))
    return bad(path, `there is no operation ${JSON.stringify(kind)}`);
  const isSequential = kind === 'create' && isSequentialFlag(CreateFlag[op.mode ?? 'persistent']);
  const error = pathError(path, isSequential);
  if (error !== null || kind === 'delete' || kind === 'check') return error;
  if (kind === 'setData') return dataError(path, op.data);
  return createError(path, op) ?? dataError(path, op.data ?? null);
}

function bad(path: string | undefined, problem: string): BadArgumentsError {
  return new BadArgumentsError(path, { cause: new Error(problem) });
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
