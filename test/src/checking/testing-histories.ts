/**
 * Histories for the tests of checkers: they are made with a real object, so they are linearizable
 * by construction. It also contains the slowest but simplest checker, which tries every order.
 */
import type { Random } from '../simulation/random.js';
import type { Model, Operation } from './model.js';

export interface Made<Op, Result> {
  readonly random: Random;
  readonly processes: number;
  readonly operations: number;
  /** The probability that an answer is lost. */
  readonly unknownShare: number;
  /** Whether the answer to this operation may be lost; by default any may be. */
  readonly mayBeUnknown?: (op: Op) => boolean;
  readonly newOp: (random: Random, index: number) => Op;
  /** Chooses the answer among those that the model allows. */
  readonly answersOf: (op: Op) => readonly Result[];
}

interface UnderWay<Op, Result> {
  readonly op: Op;
  readonly calledAt: number;
  /** Null until the operation has taken effect. */
  effect: { readonly result: Result } | null;
}

/**
 * Processes call, the object takes the operation at some moment between, and the answer arrives
 * later or never; in the latter case the process continues without it.
 */
export function madeHistory<State, Op, Result>(
  model: Model<State, Op, Result>,
  made: Made<Op, Result>,
): Operation<Op, Result>[] {
  const { random } = made;
  const history: Operation<Op, Result>[] = [];
  const underWay: (UnderWay<Op, Result> | null)[] = Array.from(
    { length: made.processes },
    () => null,
  );
  const late: UnderWay<Op, Result>[] = [];
  let state = model.initial;
  let calls = 0;
  /** False if the operation cannot take effect now. */
  const takeEffect = (one: UnderWay<Op, Result>) => {
    const possible = made
      .answersOf(one.op)
      .flatMap((result) => model.step(state, one.op, result).map((next) => ({ result, next })));
    if (possible.length === 0) return false;
    const { result, next } = random.pick(possible);
    state = next;
    one.effect = { result };
    return true;
  };
  const forget = (process: number, one: UnderWay<Op, Result>) => {
    history.push({ op: one.op, calledAt: one.calledAt, answer: null });
    underWay[process] = null;
  };
  for (let now = 1; calls < made.operations || underWay.some((one) => one !== null); now++) {
    const lateOne = late[0];
    if (lateOne !== undefined && random.chance(0.1)) {
      takeEffect(lateOne);
      late.shift();
    }
    const process = random.below(made.processes);
    const one = underWay[process] ?? null;
    if (one === null) {
      if (calls >= made.operations) continue;
      underWay[process] = { op: made.newOp(random, calls++), calledAt: now, effect: null };
    } else if (one.effect !== null) {
      const { op, calledAt, effect } = one;
      history.push({ op, calledAt, answer: { at: now, result: effect.result } });
      underWay[process] = null;
    } else if (random.chance(made.unknownShare) && (made.mayBeUnknown?.(one.op) ?? true)) {
      if (random.chance(0.5)) late.push(one);
      forget(process, one);
    } else if (!takeEffect(one)) {
      forget(process, one);
    }
  }
  return history.sort((a, b) => a.calledAt - b.calledAt);
}

/** Tries every order; suitable for a handful of operations. */
export function isLinearizableByForce<State, Op, Result>(
  model: Model<State, Op, Result>,
  history: readonly Operation<Op, Result>[],
): boolean {
  return canExplain(model.initial, history);

  function canExplain(state: State, left: readonly Operation<Op, Result>[]): boolean {
    if (left.every(({ answer }) => answer === null)) return true;
    return left.some((one) => {
      const isTooEarly = left.some(({ answer }) => answer !== null && answer.at < one.calledAt);
      if (isTooEarly) return false;
      const rest = left.filter((other) => other !== one);
      const result = one.answer === null ? undefined : one.answer.result;
      return model.step(state, one.op, result).some((next) => canExplain(next, rest));
    });
  }
}
