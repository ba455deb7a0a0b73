/**
 * Makes the operation of a transaction whose request was refused: it has a zxid and changes
 * nothing. Called by Prepare.
 */
import { ErrorCode } from '@rookery/protocol';
import type { ErrorOp } from '../state/txn.js';

export function failure(code: ErrorCode): ErrorOp {
  return { kind: 'error', code, codes: null };
}

/** The codes of the operations: 0 before the one that failed, its code, and -2 after it. */
export function multiFailure(
  code: ErrorCode,
  at: { readonly failed: number; readonly count: number },
): ErrorOp {
  const codes: number[] = [];
  for (let index = 0; index < at.count; index++) {
    if (index === at.failed) codes.push(code);
    else codes.push(index < at.failed ? ErrorCode.ok : ErrorCode.runtimeInconsistency);
  }
  return { kind: 'error', code, codes };
}
