/** The model's multi: it is tried on a copy of the tree first. Also the form of its results. */
import { CreateFlag, ErrorCode, OpCode } from '@rookery/protocol';
import type { MultiOp, Operation } from './operations.js';
import { type Asker, type ModelTree, Refusal } from './tree.js';

/**
 * Returns the meaning of an operation of a multi, where a create's flag decides what is created,
 * not its opcode. Throws a Refusal of the whole multi if the request lacks a time to live.
 */
export function meantInMulti(op: MultiOp): MultiOp {
  if (!('flags' in op)) return op;
  if (op.flags === CreateFlag.container) return { ...op, op: 'createContainer' };
  const hasTtl =
    op.flags === CreateFlag.persistentWithTtl ||
    op.flags === CreateFlag.persistentSequentialWithTtl;
  if (!hasTtl) return { ...op, op: 'create' };
  if (op.op !== 'createTtl') throw new Refusal(ErrorCode.marshallingError);
  return op;
}

/** Whether the multi may be refused as a whole, unless something before it fails. */
export function isMalformed(operation: Operation): boolean {
  if (operation.op !== 'multi') return false;
  return operation.ops.some((op) => refusalOf(() => meantInMulti(op)) !== undefined);
}

/**
 * Returns the results of a multi that fails, or undefined for one that does not. It modifies the
 * tree.
 */
export function multiFailure(
  tree: ModelTree,
  ops: readonly MultiOp[],
  by: { readonly asker: Asker; readonly place: (path: string) => string },
): readonly unknown[] | undefined {
  for (const [index, op] of ops.entries()) {
    const meant = meantInMulti(op);
    const code = refusalOf(() => tryOne(tree, meant, by.place(op.path), by.asker));
    if (code === undefined) continue;
    return ops.map((_, other) => {
      const after = other < index ? ErrorCode.ok : ErrorCode.runtimeInconsistency;
      return { opcode: OpCode.error, error: other === index ? code : after };
    });
  }
  return undefined;
}

/** In the form of 3.8.0, which answers a create2 as a create; `op` is the meaning. */
export function multiResult(op: MultiOp, body: unknown): unknown {
  const fields = typeof body === 'object' ? body : {};
  switch (op.op) {
    case 'create':
    case 'create2':
      return { opcode: OpCode.create, ...fields };
    case 'createContainer':
    case 'createTtl':
      return { opcode: OpCode.create2, ...fields };
    default:
      return { opcode: OpCode[op.op], ...fields };
  }
}

function tryOne(tree: ModelTree, op: MultiOp, path: string, asker: Asker): void {
  switch (op.op) {
    case 'delete':
      tree.delete(op, path, asker);
      return;
    case 'setData':
      tree.setData(op, path, asker);
      return;
    case 'check':
      tree.check(op, path, asker);
      return;
    default:
      tree.create(op, path, asker);
  }
}

function refusalOf(work: () => unknown): number | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
