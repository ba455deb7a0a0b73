/**
 * Determines what kind of znode a create makes, from its opcode, its flags and its time to live.
 *
 * The opcode makes a container or a TTL node, not the flag. Inside a multi it is the other way
 * round, because ZooKeeper derives the opcode from the flag there. Called by prepare-op and
 * prepare.
 */
import {
  CreateFlag,
  ErrorCode,
  type Int64,
  isCreateFlag,
  isEphemeralFlag,
  isSequentialFlag,
  isTtlFlag,
  MarshallingError,
  OpCode,
  TTL_MAX_MS,
} from '@rookery/protocol';
import type { NodeMode } from '../state/txn.js';

export interface CreateMode {
  readonly mode: NodeMode;
  readonly sequential: boolean;
  /** 0 except for the mode ttl. */
  readonly ttlMs: number;
}

export interface AskedMode {
  readonly flags: number;
  /** Only createTtl has it; otherwise 0. */
  readonly askedTtlMs: Int64;
}

/** Returns the mode, or an error code as the first check of a create. */
export function createModeOf(
  opcode: number,
  asked: AskedMode,
  extendedTypes: boolean,
): CreateMode | ErrorCode {
  const { flags } = asked;
  if (!isCreateFlag(flags)) return ErrorCode.badArguments;
  if (isTtlFlag(flags) && !extendedTypes) return ErrorCode.unimplemented;
  if (isTtlFlag(flags) !== (opcode === OpCode.createTtl)) return ErrorCode.badArguments;
  const sequential = isSequentialFlag(flags);
  if (opcode === OpCode.createTtl) {
    const ttlMs = Number(asked.askedTtlMs);
    if (!(ttlMs >= 1 && ttlMs <= TTL_MAX_MS)) return ErrorCode.badArguments;
    return { mode: 'ttl', sequential, ttlMs };
  }
  if (opcode === OpCode.createContainer) return { mode: 'container', sequential, ttlMs: 0 };
  return { mode: isEphemeralFlag(flags) ? 'ephemeral' : 'persistent', sequential, ttlMs: 0 };
}

/**
 * The opcode of a create within a multi. Throws MarshallingError for a TTL flag without a time to
 * live: ZooKeeper finds that out only when it reaches the operation, so an earlier error wins.
 */
export function multiCreateOpcode(opcode: number, flags: number): number {
  if (flags === CreateFlag.container) return OpCode.createContainer;
  if (!isCreateFlag(flags) || !isTtlFlag(flags)) return OpCode.create;
  if (opcode === OpCode.createTtl) return opcode;
  throw new MarshallingError(`operation ${opcode} of a multi has no time to live`);
}
