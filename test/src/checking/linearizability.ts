/**
 * Decides whether there is one order that explains all answers, in which every operation takes
 * effect at an instant between its call and its answer.
 *
 * It is the search of Wing and Gong (1993): it linearizes operations whose call precedes the first
 * answer that is still to be explained, one after the other, and backtracks when there is none.
 * Lowe (2017) added that a configuration, which is the state together with the set of linearized
 * operations, is visited only once; its representation is short, because all operations that were
 * answered before are in the set. Operations without an answer are linearized only where they make
 * a difference, see `isNeedless`. The search gives up at a bound on its work. It never changes the
 * history, and knows about objects only what the model says.
 */
import type { Model, Operation } from './model.js';

export type Linearizability<Op, Result> =
  | { readonly verdict: 'linearizable'; readonly steps: number }
  | {
      readonly verdict: 'contradiction';
      readonly steps: number;
      /**
       * The answer that no order explains; all answers that were given before it can be explained.
       */
      readonly at: Operation<Op, Result>;
      /** Keys of some of the states in which the object may have been before it. */
      readonly states: readonly (string | number)[];
    }
  | { readonly verdict: 'unknown'; readonly steps: number };

export interface SearchBounds {
  /** How many times the model may be asked; a million by default. */
  readonly stepsMax?: number | undefined;
}

const STEPS_MAX = 1_000_000;
const STATES_TOLD = 5;

export function checkLinearizable<State, Op, Result>(
  model: Model<State, Op, Result>,
  history: readonly Operation<Op, Result>[],
  bounds: SearchBounds = {},
): Linearizability<Op, Result> {
  return new Search(model, history, bounds.stepsMax ?? STEPS_MAX).run();
}

type Answered<Op, Result> = Operation<Op, Result> & {
  readonly answer: { readonly at: number; readonly result: Result };
};

interface Configuration<State> {
  /**
   * The operations with an answer, in the order of answers: all before this index are linearized.
   */
  readonly next: number;
  /**
   * The linearized operations at or after `next`, ascending: they are in progress when the next
   * answer is given.
   */
  readonly ahead: readonly number[];
  /** The linearized operations without an answer, ascending. */
  readonly unanswered: readonly number[];
  readonly state: State;
  /** If the operation linearized last has no answer: its index, and the state before it. */
  readonly doubtful: { readonly index: number; readonly before: State } | null;
  /** Whether only operations without an answer are still to be tried. */
  readonly isSecondVisit: boolean;
}

class Search<State, Op, Result> {
  readonly #model: Model<State, Op, Result>;
  readonly #stepsMax: number;
  readonly #answered: readonly Answered<Op, Result>[];
  readonly #unanswered: readonly Operation<Op, Result>[];
  /** For each answer, the operations that are in progress when it is given, its own first. */
  readonly #open: readonly (readonly number[])[];
  /** For each answer, how many operations without an answer were called before it. */
  readonly #doubtfulCount: readonly number[];
  readonly #seen = new Set<string>();
  readonly #stack: Configuration<State>[] = [];
  #steps = 0;
  #furthest = -1;
  readonly #furthestStates = new Set<string | number>();

  constructor(
    model: Model<State, Op, Result>,
    history: readonly Operation<Op, Result>[],
    stepsMax: number,
  ) {
    this.#model = model;
    this.#stepsMax = stepsMax;
    this.#answered = history.filter(isAnswered).sort((a, b) => a.answer.at - b.answer.at);
    this.#unanswered = history
      .filter(({ answer }) => answer === null)
      .sort((a, b) => a.calledAt - b.calledAt);
    this.#open = openAtAnswers(this.#answered);
    this.#doubtfulCount = this.#answered.map(
      ({ answer }) => this.#unanswered.filter(({ calledAt }) => calledAt <= answer.at).length,
    );
  }

  run(): Linearizability<Op, Result> {
    const { initial: state } = this.#model;
    this.#visit({ next: 0, ahead: [], unanswered: [], state, doubtful: null });
    for (;;) {
      const configuration = this.#stack.pop();
      const steps = this.#steps;
      if (configuration === undefined) return this.#contradiction();
      if (configuration.next === this.#answered.length) return { verdict: 'linearizable', steps };
      if (steps > this.#stepsMax) return { verdict: 'unknown', steps };
      if (configuration.isSecondVisit) this.#takeUnanswered(configuration);
      else this.#takeAnswered(configuration);
    }
  }

  #takeAnswered(from: Configuration<State>): void {
    const observer = this.#observerNow(from);
    if (observer !== null) {
      const { unanswered, state } = from;
      this.#visit({ ...withTaken(from, observer), unanswered, state, doubtful: null });
      return;
    }
    this.#stack.push({ ...from, isSecondVisit: true });
    const open = this.#open[from.next] ?? [];
    // The configuration that is pushed last is visited first: this is the operation whose answer
    // comes next.
    for (let i = open.length - 1; i >= 0; i--) {
      const index = open[i] ?? 0;
      const taken = this.#answered[index];
      if (taken === undefined || from.ahead.includes(index)) continue;
      const { result } = taken.answer;
      for (const state of this.#step(from.state, taken.op, result)) {
        if (this.#isNeedless(from, { op: taken.op, result, state, index: -1 })) continue;
        const { unanswered } = from;
        this.#visit({ ...withTaken(from, index), unanswered, state, doubtful: null });
      }
    }
  }

  /**
   * Returns an operation that changes nothing and that the state explains. Whatever order follows
   * from here, the operation may as well come first, so no other choice need be tried. Without
   * this, concurrent reads of one value would be tried in each of their orders.
   */
  #observerNow({ next, ahead, state }: Configuration<State>): number | null {
    for (const index of this.#open[next] ?? []) {
      const taken = this.#answered[index];
      if (taken === undefined || ahead.includes(index)) continue;
      const { result } = taken.answer;
      if (!this.#model.isObserver(taken.op, result)) continue;
      if (this.#step(state, taken.op, result).length > 0) return index;
    }
    return null;
  }

  #takeUnanswered(from: Configuration<State>): void {
    const { next, ahead, state: before } = from;
    const count = this.#doubtfulCount[next] ?? 0;
    for (let index = count - 1; index >= 0; index--) {
      const taken = this.#unanswered[index];
      if (taken === undefined || from.unanswered.includes(index)) continue;
      // The overwriting operation would hide the effect of the one before it.
      if (from.doubtful !== null && this.#model.overwrites(taken.op)) continue;
      for (const state of this.#step(before, taken.op, undefined)) {
        if (this.#isNeedless(from, { op: taken.op, result: undefined, state, index })) continue;
        const unanswered = [...from.unanswered, index].sort((a, b) => a - b);
        this.#visit({ next, ahead, unanswered, state, doubtful: { index, before } });
      }
    }
  }

  /**
   * Whether the operation has no answer and changes nothing, or follows an operation without an
   * answer in an order for which an equivalent one exists in which the latter is left out or comes
   * later. If there is an order at all, there is one without any such pair, because repeated
   * leaving out and postponing terminates. (Two operations without an answer are only exchanged
   * into the order of their calls, so that this terminates as well.)
   */
  #isNeedless(from: Configuration<State>, taken: Taken<State, Op, Result>): boolean {
    const key = this.#model.key(taken.state);
    if (taken.index >= 0 && key === this.#model.key(from.state)) return true;
    if (from.doubtful === null) return false;
    const { index, before } = from.doubtful;
    const doubtful = this.#unanswered[index];
    const mayComeLater = taken.index < index;
    for (const without of this.#step(before, taken.op, taken.result)) {
      if (this.#model.key(without) === key) return true;
      if (!mayComeLater || doubtful === undefined) continue;
      for (const later of this.#step(without, doubtful.op, undefined)) {
        if (this.#model.key(later) === key) return true;
      }
    }
    return false;
  }

  #step(state: State, op: Op, result: Result | undefined): readonly State[] {
    this.#steps++;
    return this.#model.step(state, op, result);
  }

  #visit(configuration: Omit<Configuration<State>, 'isSecondVisit'>): void {
    const { next, ahead, unanswered, state, doubtful } = configuration;
    const stateKey = this.#model.key(state);
    const last = doubtful === null ? '' : `${doubtful.index}/${this.#model.key(doubtful.before)}`;
    const key = `${next}|${ahead.join()}|${unanswered.join()}|${last}|${stateKey}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#stack.push({ ...configuration, isSecondVisit: false });
    if (next > this.#furthest) {
      this.#furthest = next;
      this.#furthestStates.clear();
    }
    if (next === this.#furthest && this.#furthestStates.size < STATES_TOLD) {
      this.#furthestStates.add(stateKey);
    }
  }

  #contradiction(): Linearizability<Op, Result> {
    const at = this.#answered[this.#furthest];
    if (at === undefined) throw new Error('a search without an end');
    const states = [...this.#furthestStates];
    return { verdict: 'contradiction', steps: this.#steps, at, states };
  }
}

interface Taken<State, Op, Result> {
  readonly op: Op;
  readonly result: Result | undefined;
  readonly state: State;
  /** -1 for an operation with an answer. */
  readonly index: number;
}

function isAnswered<Op, Result>(
  operation: Operation<Op, Result>,
): operation is Answered<Op, Result> {
  return operation.answer !== null;
}

function openAtAnswers(answered: readonly Answered<unknown, unknown>[]): number[][] {
  const calls = answered.map((_, index) => index).sort((a, b) => calledAt(a) - calledAt(b));
  let called = 0;
  let open: number[] = [];
  return answered.map(({ answer }, index) => {
    for (; called < calls.length; called++) {
      const call = calls[called] ?? 0;
      if (calledAt(call) > answer.at) break;
      open.push(call);
    }
    const now = open.sort((a, b) => a - b);
    open = now.filter((other) => other !== index);
    return now;
  });

  function calledAt(index: number): number {
    return answered[index]?.calledAt ?? 0;
  }
}

function withTaken(
  { next, ahead }: { readonly next: number; readonly ahead: readonly number[] },
  index: number,
): { readonly next: number; readonly ahead: readonly number[] } {
  if (index !== next) return { next, ahead: [...ahead, index].sort((a, b) => a - b) };
  let first = 0;
  let reached = next + 1;
  while (ahead[first] === reached) {
    first++;
    reached++;
  }
  return { next: reached, ahead: ahead.slice(first) };
}
