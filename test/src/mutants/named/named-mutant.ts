/**
 * A mutant and the scenario that must fail on it: mostly a bug that ZooKeeper had.
 *
 * Compiled and made like every other mutant, but not run by the simulator's seeds: it counts as
 * caught when its own scenario fails. Data only.
 */
import type { Mutant } from '../mutant.js';

export interface Scenario {
  /** A vitest file, from the root of the repository. */
  readonly file: string;
  /** The name of the test, without those of the `describe`s around it; traces: the file's name. */
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
