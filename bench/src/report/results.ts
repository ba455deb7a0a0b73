/**
 * Everything that one bench found out, as plain data: the content of bench.json, from which each
 * report is made.
 *
 * It contains the scenarios' titles and figures, so that a file can be read without the code that
 * wrote it.
 */
import type { Figure, Measurement, Scenario } from '../scenarios/scenario.js';
import type { Machine } from '../systems/machine.js';

export interface ScenarioFacts {
  readonly name: string;
  readonly title: string;
  readonly group: string;
  readonly members: number;
  readonly figures: readonly Figure[];
  readonly scale: {
    readonly dimension: string;
    readonly what: string;
    readonly at: number;
  } | null;
}

export interface Run {
  readonly scenario: string;
  readonly system: string;
  /** Counted from 1; warm-up rounds are not kept. */
  readonly round: number;
  readonly measurement: Measurement;
}

/** Scenarios whose runs are all of another commit than the rest. */
export interface MeasuredAgain {
  readonly at: string;
  readonly commit: string;
  readonly scenarios: readonly string[];
}

export interface Results {
  readonly startedAt: string;
  /** The times at which it continued after an interruption; older files do not contain them. */
  readonly resumedAt?: readonly string[];
  /** The newest is last. */
  readonly again?: readonly MeasuredAgain[];
  readonly commit: string;
  /** The commit of the system `baseline`; null if it was not measured, absent in older files. */
  readonly baseline?: string | null;
  readonly machine: Machine;
  readonly settings: {
    readonly rounds: number;
    readonly seconds: number;
    readonly minutes: number;
    readonly isQuick: boolean;
  };
  /** The first system is measured; the others are what it is compared with. */
  readonly systems: readonly string[];
  readonly scenarios: readonly ScenarioFacts[];
  readonly runs: readonly Run[];
  /** Scenarios that could not be run, and the reasons. */
  readonly skipped: readonly string[];
}

export function factsOf(scenario: Scenario, at: number | null): ScenarioFacts {
  const { name, title, group, members, figures, scale } = scenario;
  const point =
    scale === null || at === null ? null : { dimension: scale.dimension, what: scale.what, at };
  return { name, title, group, members, figures, scale: point };
}

/**
 * The values of one figure: round n is at index n-1, with NaN for a round that failed or has no
 * such value.
 */
export function valuesOf(
  results: Results,
  which: { readonly scenario: string; readonly system: string; readonly figure: string },
): readonly number[] {
  const values: number[] = [];
  for (const { round, measurement } of runsOf(results, which)) {
    while (values.length < round) values.push(Number.NaN);
    values[round - 1] = measurement.values[which.figure] ?? Number.NaN;
  }
  return values;
}

export function runsOf(
  results: Results,
  which: { readonly scenario: string; readonly system: string },
): readonly Run[] {
  return results.runs.filter(
    ({ scenario, system }) => scenario === which.scenario && system === which.system,
  );
}
