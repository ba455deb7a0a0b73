/**
 * The operations that change something, and sync.
 */
import {
  type Create2Response,
  CreateFlag,
  isSequentialFlag,
  OPERATIONS,
  OpCode,
  toInt64,
} from '@rookery/protocol';
import type { Reconfiguration } from '../api/client.js';
import { TransactionError } from '../api/errors.js';
import type { TransactionOp, TransactionResult } from '../api/transaction.js';
import type {
  Acl,
  Created,
  CreateMode,
  CreateOptions,
  Data,
  Node,
  OperationOptions,
  Stat,
  VersionOptions,
} from '../api/values.js';
import type { Call } from '../session/call.js';
import type { SessionKeeper } from '../session/session-keeper.js';
import { createError, dataError, opError, pathError } from './argument-check.js';
import { bytesOf, dataOf, OperationCall, statOf } from './calls.js';
import { ANY_VERSION, createOpOf, requestOpOf, resultsOf } from './multi.js';

const ANY_CONFIG = -1n;

export class Writes {
  readonly #keeper: SessionKeeper;

  constructor(keeper: SessionKeeper) {
    this.#keeper = keeper;
  }

  create(path: string, data: Data = null, options: CreateOptions = {}): Promise<Created> {
    const { mode, acl, ttlMs } = options;
    const error =
      pathError(path, isSequential(mode)) ?? createError(path, options) ?? dataError(path, data);
    if (error !== null) return Promise.reject(error);
    const bytes = bytesOf(data, !this.#keeper.isConnected);
    const op = createOpOf({ path, data: bytes, mode, acl, ttlMs });
    const parts = {
      path,
      isWrite: true,
      result: (reply: Create2Response): Created => ({ path: reply.path, stat: statOf(reply.stat) }),
    };
    const call =
      op.opcode === OpCode.createTtl
        ? new OperationCall(op.opcode, OPERATIONS[op.opcode], { ...parts, body: op.request })
        : new OperationCall(op.opcode, OPERATIONS[op.opcode], { ...parts, body: op.request });
    return this.#keeper.submit<Created>(call, options);
  }

  delete(path: string, options?: VersionOptions): Promise<void> {
    return this.#submit(path, options, () => {
      return new OperationCall(OpCode.delete, OPERATIONS[OpCode.delete], {
        path,
        isWrite: true,
        body: { path, version: options?.version ?? ANY_VERSION },
        result: () => undefined,
      });
    });
  }

  setData(path: string, data: Data, options?: VersionOptions): Promise<Stat> {
    const error = dataError(path, data);
    if (error !== null) return Promise.reject(error);
    return this.#submit(path, options, () => {
      const bytes = bytesOf(data, !this.#keeper.isConnected);
      return new OperationCall(OpCode.setData, OPERATIONS[OpCode.setData], {
        path,
        isWrite: true,
        body: { path, data: bytes, version: options?.version ?? ANY_VERSION },
        result: ({ stat }) => statOf(stat),
      });
    });
  }

  setAcl(path: string, acl: readonly Acl[], options?: VersionOptions): Promise<Stat> {
    return this.#submit(path, options, () => {
      return new OperationCall(OpCode.setAcl, OPERATIONS[OpCode.setAcl], {
        path,
        isWrite: true,
        body: { path, acl, version: options?.version ?? ANY_VERSION },
        result: ({ stat }) => statOf(stat),
      });
    });
  }

  /** Only Rookery has this operation. */
  raiseSequence(path: string, atLeast: number, options?: OperationOptions): Promise<number> {
    return this.#submit(path, options, () => {
      return new OperationCall(OpCode.raiseSequence, OPERATIONS[OpCode.raiseSequence], {
        path,
        isWrite: true,
        body: { path, atLeast },
        result: ({ next }) => next,
      });
    });
  }

  sync(path: string, options?: OperationOptions): Promise<void> {
    return this.#submit(path, options, () => {
      return new OperationCall(OpCode.sync, OPERATIONS[OpCode.sync], {
        path,
        body: { path },
        result: () => undefined,
      });
    });
  }

  async multi(
    ops: readonly TransactionOp[],
    options?: OperationOptions,
  ): Promise<TransactionResult[]> {
    if (ops.length === 0) return [];
    for (const op of ops) {
      const error = opError(op);
      if (error !== null) throw error;
    }
    const taken = [...ops];
    const call = new OperationCall(OpCode.multi, OPERATIONS[OpCode.multi], {
      isWrite: true,
      body: { ops: taken.map((op) => requestOpOf(op, !this.#keeper.isConnected)) },
      result: ({ results }) => resultsOf(taken, results),
    });
    const results = await this.#keeper.submit(call, options);
    if (!(results instanceof TransactionError)) return results;
    // The error was created while the frame was handled; here the awaiting caller is on the stack.
    Error.captureStackTrace(results);
    throw results;
  }

  reconfig(change: Reconfiguration, options?: OperationOptions): Promise<Node> {
    const call = new OperationCall(OpCode.reconfig, OPERATIONS[OpCode.reconfig], {
      isWrite: true,
      body: {
        joiningServers: change.joining ?? null,
        leavingServers: change.leaving ?? null,
        newMembers: change.members ?? null,
        currentConfigId: toInt64(change.fromConfig ?? ANY_CONFIG),
      },
      result: ({ data, stat }) => ({ data: dataOf(data), stat: statOf(stat) }),
    });
    return this.#keeper.submit(call, options);
  }

  #submit<T>(path: string, options: OperationOptions | undefined, make: () => Call<T>): Promise<T> {
    const error = pathError(path);
    return error === null ? this.#keeper.submit(make(), options) : Promise.reject(error);
  }
}

function isSequential(mode: CreateMode | undefined): boolean {
  return mode !== undefined && isSequentialFlag(CreateFlag[mode]);
}
