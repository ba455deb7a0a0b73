/**
 * What the linearizability checker is told: an object's rules, and what was recorded of its use.
 *
 * A model is pure: states are values that nobody changes. It says which answers are possible in a
 * state, so an object may be nondeterministic (a queue without order). Types only.
 */
export interface Model<State, Op, Result> {
  readonly initial: State;
  /**
   * The states in which the operation may leave the object when it answers `result`; none when it
   * cannot answer that in this state. `result` undefined: the answer is unknown, but it took
   * effect.
   */
  step(state: State, op: Op, result: Result | undefined): readonly State[];
  /** Equal for equal states, and for no others. */
  key(state: State): string | number;
  /**
   * With this answer it changes nothing, in any state: a history without it is no harder to
   * explain. `result` undefined: whatever it answers.
   */
  isObserver(op: Op, result: Result | undefined): boolean;
  /**
   * It leaves the same state whatever it finds, so that what came just before it cannot be told.
   */
  overwrites(op: Op): boolean;
}

/** An operation on one object. Times are of any clock that orders calls and answers. */
export interface Operation<Op, Result> {
  readonly op: Op;
  readonly calledAt: number;
  /** Null when nobody knows: it may take effect at any time after the call, or never. */
  readonly answer: { readonly at: number; readonly result: Result } | null;
}
