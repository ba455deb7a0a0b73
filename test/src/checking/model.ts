/**
 * The input of the linearizability checker: an object's rules, and the recorded history of its use.
 *
 * A model is pure: states are immutable values. It says which answers are possible in a state, so
 * an object may be nondeterministic (an unordered queue). This file contains types only.
 */
export interface Model<State, Op, Result> {
  readonly initial: State;
  /**
   * The states in which the operation may leave the object if it answers `result`; empty if it
   * cannot give that answer in this state. `result` undefined means that the answer is unknown, but
   * the operation took effect.
   */
  step(state: State, op: Op, result: Result | undefined): readonly State[];
  /** Equal for equal states, and different for different ones. */
  key(state: State): string | number;
  /**
   * Whether the operation with this answer changes nothing in any state, so that a history without
   * it is equivalent or easier. `result` undefined means any answer.
   */
  isObserver(op: Op, result: Result | undefined): boolean;
  /**
   * Whether the operation leaves the same state whatever the state before, so that it hides its
   * predecessor.
   */
  overwrites(op: Op): boolean;
}

/** An operation on one object. Times come from any clock that orders calls and answers. */
export interface Operation<Op, Result> {
  readonly op: Op;
  readonly calledAt: number;
  /**
   * Null if the answer is unknown: the operation may take effect at any time after the call, or
   * never.
   */
  readonly answer: { readonly at: number; readonly result: Result } | null;
}
