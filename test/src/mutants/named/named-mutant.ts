/**
 * A mutant and the scenario that must fail on it: mostly a bug that ZooKeeper had.
 *
 * It is compiled and applied like every other mutant, but not run by the simulator's seeds: it
 * counts as caught if its own scenario fails. This file contains only types.
 */
import type { Mutant } from '../mutant.js';

export interface Scenario {
  /** A vitest file, from the root of the repository. */
  readonly file: string;
  /**
   * The title of the test, without those of the `describe`s around it; for traces, the file's name.
   */
  readonly name: string;
}

export interface NamedMutant extends Mutant {
  readonly area: 'named';
  readonly scenario: Scenario;
}

const TRACES = 'test/src/traces/traces.test.ts';

/** A trace in test/traces, by its name without the ending. */
export function trace(name: string): Scenario {
  return { file: TRACES, name: `${name}.txt` };
}

/** A test in test/src/named-bugs. */
export function scenario(file: string, name: string): Scenario {
  return { file: `test/src/named-bugs/${file}.test.ts`, name };
}
