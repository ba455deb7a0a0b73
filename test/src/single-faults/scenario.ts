/**
 * The contract of a scenario: one kind of single fault, played against real processes.
 *
 * A scenario plays its fault one or several times. Each play is an `Outcome`: the figures that the
 * clients measured, what the members and the commands said meanwhile, and which promises did not
 * hold. `main.ts` prints the outcomes.
 */
import type { PulseWindow } from './pulse.js';

export interface Outcome {
  /** The fault that was played, as in "one bit flipped in a value file of the leader". */
  readonly fault: string;
  readonly seen: PulseWindow;
  /** How many terms of a leader began meanwhile. */
  readonly elections: number;
  /** The members that served clients at the end. */
  readonly serving: readonly number[];
  /** Sentences of `rookery status`, `rookery check`, `/readyz` and the metrics. */
  readonly said: readonly string[];
  /** The promises that did not hold; empty if all did. */
  readonly broken: readonly string[];
}

export interface Scenario {
  /** A short name, for `--only`. */
  readonly name: string;
  /** One sentence: the fault, and what the ensemble promises meanwhile. */
  readonly promise: string;
  /** Reports each play as it ends. */
  play(options: PlayOptions): Promise<void>;
}

export interface PlayOptions {
  readonly report: (outcome: Outcome) => void;
  /** Plays fewer variants, for CI. */
  readonly isShort: boolean;
}
