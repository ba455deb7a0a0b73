/**
 * A register that can be read, written, and changed if it holds a certain value.
 */
import { unreachable } from '@rookery/protocol';
import type { Model } from '../model.js';

export type RegisterValue = number | string | null;

export type RegisterOp =
  | { readonly kind: 'read' }
  | { readonly kind: 'write'; readonly value: RegisterValue }
  | { readonly kind: 'cas'; readonly expected: RegisterValue; readonly value: RegisterValue };

/** The value of a read; for a cas whether it was applied; for a write always null. */
export type RegisterResult = RegisterValue | boolean;

export function casRegister(
  initial: RegisterValue,
): Model<RegisterValue, RegisterOp, RegisterResult> {
  return {
    initial,
    key: (state) => (typeof state === 'string' ? `'${state}` : `${state}`),
    isObserver: ({ kind }) => kind === 'read',
    overwrites: ({ kind }) => kind === 'write',
    step: (state, op, result) => {
      switch (op.kind) {
        case 'read':
          return result === undefined || result === state ? [state] : [];
        case 'write':
          return [op.value];
        case 'cas': {
          const isDone = state === op.expected;
          if (result !== undefined && result !== isDone) return [];
          return isDone ? [op.value] : [state];
        }
        default:
          return unreachable(op);
      }
    },
  };
}
