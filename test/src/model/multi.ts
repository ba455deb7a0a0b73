/**
 * The model's multi: tried on a copy of the tree first, and what its results look like.
 */
import { CreateFlag, ErrorCode, OpCode } from '@rookery/protocol';
import type { MultiOp, Operation } from './operations.js';
import { type Asker, type ModelTree, Refusal } from './tree.js';

/**
 * What an operation of a multi means: there a create's flag decides what is made, not its opcode.
 * Throws a Refusal, which is that of the whole multi, where a time to live is not in the request.
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

/** Whether it is a multi that may be refused as a whole, unless something before it fails. */
export function isMalformed(operation: Operation): boolean {
  if (operation.op !== 'multi') return false;
  return operation.ops.some((op) => refusalOf(() => meantInMulti(op)) !== undefined);
}

/** The results of a multi that fails, or undefined for one that does not. Spoils the tree. */
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

/** In the form of 3.8.0, which answers a create2 as a create; `op` is what is meant. */
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
