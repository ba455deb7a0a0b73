/**
 * Continues a bench that was interrupted where it ended, and lets it measure scenarios again. Pure.
 *
 * Figures are medians of rounds, so all rounds of a scenario must be of one product on one machine
 * with one set of sizes; anything else is refused by name. What was measured stays, what is missing
 * is planned. Whole scenarios may be of a later product than the others, and the report says so.
 */
import type { MeasuredAgain, Results, Run } from '../report/results.js';
import type { PlannedRun } from './schedule.js';

/**
 * The results without the runs of these scenarios, which are to be measured at another commit.
 * Throws for a scenario that is not in them.
 */
export function measuredAgain(before: Results, { at, commit, scenarios }: MeasuredAgain): Results {
  const known = new Set(before.scenarios.map(({ name }) => name));
  for (const name of scenarios) {
    if (!known.has(name)) throw new Error(`the bench in --out has no scenario ${name}`);
  }
  return {
    ...before,
    runs: before.runs.filter(({ scenario }) => !scenarios.includes(scenario)),
    again: [...(before.again ?? []), { at, commit, scenarios }],
  };
}

/** Throws with the name of what differs if the runs of one may not be combined with the other's. */
export function requireSameBench(before: Results, now: Omit<Results, 'runs'>): void {
  const facts = (results: Omit<Results, 'runs'>) => {
    const { machine, settings, systems, scenarios, baseline = null } = results;
    const commit = results.again?.at(-1)?.commit ?? results.commit;
    const { cpu, cores, memoryBytes, kernel, node, java, fileSystem } = machine;
    return {
      commit,
      baseline,
      ...settings,
      systems,
      scenarios: scenarios.map(({ name }) => name),
      cpu,
      cores,
      memoryBytes,
      kernel,
      node,
      java,
      fileSystem,
    };
  };
  const then = Object.entries(facts(before));
  const today: Readonly<Record<string, unknown>> = facts(now);
  for (const [name, value] of then) {
    if (JSON.stringify(value) === JSON.stringify(today[name])) continue;
    throw new Error(
      `cannot resume: ${name} was ${JSON.stringify(value)} and is ${JSON.stringify(today[name])}`,
    );
  }
}

/** The runs that have not been made, and their warm-ups. */
export function missingRuns(
  planned: readonly PlannedRun[],
  made: readonly Run[],
): readonly PlannedRun[] {
  const keyOf = (scenario: string, system: string, round: number) =>
    JSON.stringify([scenario, system, round]);
  const done = new Set(made.map(({ scenario, system, round }) => keyOf(scenario, system, round)));
  const missing = planned.filter(
    ({ scenario, system, round }) => round > 0 && !done.has(keyOf(scenario.name, system, round)),
  );
  const cold = new Set(missing.map(({ scenario, system }) => keyOf(scenario.name, system, 0)));
  const wanted = new Set(missing);
  return planned.filter(
    (run) =>
      wanted.has(run) || (run.round === 0 && cold.has(keyOf(run.scenario.name, run.system, 0))),
  );
}
