/**
 * A set, a list that only grows, an ordered queue and an unordered queue: which answers are
 * possible. Elements are numbers; states are sorted (set, unordered queue) or in order, and
 * immutable.
 */
import { unreachable } from '@rookery/protocol';
import type { Model } from '../model.js';

type Elements = readonly number[];

export type SetOp =
  | { readonly kind: 'add'; readonly element: number }
  | { readonly kind: 'remove'; readonly element: number }
  | { readonly kind: 'read' };
/** A read returns all elements in any order; add and remove return whether they changed the set. */
export type SetResult = Elements | boolean;

export const setModel: Model<Elements, SetOp, SetResult> = {
  initial: [],
  key: (state) => state.join(),
  isObserver: ({ kind }) => kind === 'read',
  overwrites: () => false,
  step: (state, op, result) => {
    switch (op.kind) {
      case 'add': {
        const isNew = !state.includes(op.element);
        if (result !== undefined && result !== isNew) return [];
        return [isNew ? sorted([...state, op.element]) : state];
      }
      case 'remove': {
        const isThere = state.includes(op.element);
        if (result !== undefined && result !== isThere) return [];
        return [isThere ? state.filter((other) => other !== op.element) : state];
      }
      case 'read':
        return result === undefined || shows(result, state) ? [state] : [];
      default:
        return unreachable(op);
    }
  },
};

export type AppendOp =
  | { readonly kind: 'append'; readonly element: number }
  | { readonly kind: 'read' };
/** A read returns the list; an append always returns null. */
export type AppendResult = Elements | null;

export const appendModel: Model<Elements, AppendOp, AppendResult> = {
  initial: [],
  key: (state) => state.join(),
  isObserver: ({ kind }) => kind === 'read',
  overwrites: () => false,
  step: (state, op, result) => {
    switch (op.kind) {
      case 'append':
        return [[...state, op.element]];
      case 'read':
        return result === undefined || (result !== null && isEqual(result, state)) ? [state] : [];
      default:
        return unreachable(op);
    }
  },
};

export type QueueOp =
  | { readonly kind: 'enqueue'; readonly element: number }
  /**
   * `only` means that the operation takes effect for this element or not at all, as after a
   * look-up.
   */
  | { readonly kind: 'dequeue'; readonly only?: number };
/**
 * A dequeue returns the element, or null if the queue was empty; an enqueue always returns null.
 */
export type QueueResult = number | null;

export const fifoQueue: Model<Elements, QueueOp, QueueResult> = queue((state) => state.slice(0, 1));
export const unorderedQueue: Model<Elements, QueueOp, QueueResult> = queue(
  (state) => state,
  sorted,
);

/** `heads` returns what may be taken; `stored` returns the state after an element was added. */
function queue(
  heads: (state: Elements) => Elements,
  stored: (elements: number[]) => Elements = (elements) => elements,
): Model<Elements, QueueOp, QueueResult> {
  return {
    initial: [],
    key: (state) => state.join(),
    isObserver: () => false,
    overwrites: () => false,
    step: (state, op, result) => {
      switch (op.kind) {
        case 'enqueue':
          return [stored([...state, op.element])];
        case 'dequeue': {
          if (result === null) return state.length === 0 ? [state] : [];
          const { only } = op;
          return heads(state)
            .filter((head, at, all) => all.indexOf(head) === at)
            .filter((head) => result === undefined || head === result)
            .filter((head) => only === undefined || head === only)
            .map((head) => without(state, head));
        }
        default:
          return unreachable(op);
      }
    },
  };
}

function without(state: Elements, element: number): Elements {
  const at = state.indexOf(element);
  return [...state.slice(0, at), ...state.slice(at + 1)];
}

function shows(result: SetResult, state: Elements): boolean {
  return typeof result !== 'boolean' && isEqual(sorted([...result]), state);
}

function isEqual(a: Elements, b: Elements): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}

function sorted(elements: number[]): Elements {
  return elements.sort((a, b) => a - b);
}
