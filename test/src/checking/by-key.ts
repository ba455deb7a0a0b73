/**
 * Checks histories of many independent objects: each object is checked by itself, which is
 * equivalent to checking them together (linearizability is a local property), and much cheaper. It
 * also reduces a contradiction to the part of the history that suffices to show it.
 */
import { checkLinearizable, type Linearizability, type SearchBounds } from './linearizability.js';
import type { Model, Operation } from './model.js';

export interface KeyedVerdict<Key, Op, Result> {
  readonly key: Key;
  readonly outcome: Linearizability<Op, Result>;
  /** For a contradiction: operations that suffice to show it, in the order of their calls. */
  readonly evidence: readonly Operation<Op, Result>[];
}

/** The objects whose history is not linearizable, or could not be decided. */
export function checkByKey<Key, State, Op, Result>(
  model: Model<State, Op, Result>,
  histories: ReadonlyMap<Key, readonly Operation<Op, Result>[]>,
  bounds: SearchBounds = {},
): KeyedVerdict<Key, Op, Result>[] {
  const verdicts: KeyedVerdict<Key, Op, Result>[] = [];
  for (const [key, history] of histories) {
    const outcome = checkLinearizable(model, history, bounds);
    if (outcome.verdict === 'linearizable') continue;
    const evidence =
      outcome.verdict === 'contradiction' ? evidenceOf(model, history, outcome.at, bounds) : [];
    verdicts.push({ key, outcome, evidence });
  }
  return verdicts;
}

/**
 * Reduces a history that cannot be explained up to the answer of `at`: operations that were called
 * after it are left out, and so is every read that the contradiction does not need.
 */
export function evidenceOf<State, Op, Result>(
  model: Model<State, Op, Result>,
  history: readonly Operation<Op, Result>[],
  at: Operation<Op, Result>,
  bounds: SearchBounds = {},
): Operation<Op, Result>[] {
  const end = at.answer?.at ?? Number.POSITIVE_INFINITY;
  let evidence = history
    .filter(({ calledAt }) => calledAt <= end)
    .filter(({ op, answer }) => answer !== null || !model.isObserver(op, undefined))
    .sort((a, b) => a.calledAt - b.calledAt);
  for (const observer of evidence.filter(({ op, answer }) =>
    model.isObserver(op, answer?.result),
  )) {
    const less = evidence.filter((one) => one !== observer);
    if (checkLinearizable(model, less, bounds).verdict === 'contradiction') evidence = less;
  }
  return evidence;
}
