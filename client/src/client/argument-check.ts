/**
 * What callers give, checked before anything is sent: paths for everybody; kinds, modes and data
 * for those whose compiler has not looked, who would else be told of a byte of a frame. Gives the
 * error instead of throwing it, for an operation's promise to be rejected with. Computes only.
 */
import {
  BadArgumentsError,
  CreateFlag,
  isSequentialFlag,
  isTtlFlag,
  validatePath,
} from '@rookery/protocol';
import type { TransactionOp } from '../api/transaction.js';
import type { CreateMode } from '../api/values.js';

const OP_KINDS = {
  ...{ create: true, delete: true, setData: true, check: true },
} as const satisfies Record<TransactionOp['kind'], true>;

export interface CreateArguments {
  readonly mode?: CreateMode | undefined;
  readonly ttlMs?: number | undefined;
}

/** Null when the path is legal. The server would refuse most, but not all, of the others. */
export function pathError(path: unknown, sequential = false): BadArgumentsError | null {
  if (typeof path !== 'string') return bad(undefined, `the path is ${kindOf(path)}, not a string`);
  const problem = validatePath(path, { sequential });
  return problem === null ? null : bad(path, problem);
}

/** Null for bytes, a string and null. */
export function dataError(path: string, data: unknown): BadArgumentsError | null {
  if (typeof data === 'string' || data === null || ArrayBuffer.isView(data)) return null;
  return bad(path, `data is ${kindOf(data)}, neither bytes nor a string nor null`);
}

/** A time to live is given to TTL znodes and to them only; the server looks at its range. */
export function createError(path: string, create: CreateArguments): BadArgumentsError | null {
  const { mode = 'persistent', ttlMs } = create;
  if (!Object.hasOwn(CreateFlag, mode)) {
    const modes = Object.keys(CreateFlag).join(', ');
    return bad(path, `there is no mode ${JSON.stringify(mode)}, but ${modes}`);
  }
  if (isTtlFlag(CreateFlag[mode]) === (ttlMs !== undefined)) return null;
  return bad(path, ttlMs === undefined ? `mode ${mode} needs ttlMs` : `mode ${mode} has no ttlMs`);
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
