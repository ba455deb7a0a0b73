/**
 * The model's multi: tried on a copy of the tree first, and what its results look like.
 */
import { ErrorCode, OpCode } from '@rookery/protocol';
import type { MultiOp } from './operations.js';
import { type Asker, type ModelTree, Refusal } from './tree.js';

/** The results of a multi that fails, or undefined for one that does not. Spoils the tree. */
export function multiFailure(
  tree: ModelTree,
  ops: readonly MultiOp[],
  by: { readonly asker: Asker; readonly place: (path: string) => string },
): readonly unknown[] | undefined {
  for (const [index, op] of ops.entries()) {
    const code = refusalOf(() => tryOne(tree, op, by.place(op.path), by.asker));
    if (code === undefined) continue;
    return ops.map((_, other) => {
      const after = other < index ? ErrorCode.ok : ErrorCode.runtimeInconsistency;
      return { opcode: OpCode.error, error: other === index ? code : after };
    });
  }
  return undefined;
}

/** In the form of 3.8.0, which answers a create2 as a create. */
export function multiResult(op: MultiOp, body: unknown): unknown {
  const fields = typeof body === 'object' ? body : {};
  switch (op.op) {
    case 'create':
      return { opcode: OpCode.create, ...fields };
    case 'create2': {
      const { path } = { path: undefined, ...fields };
      return { opcode: OpCode.create, path };
    }
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

function refusalOf(work: () => void): number | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}
