/**
 * Plans which runs there are, and their order. Pure.
 *
 * The order is scenario by scenario, round by round, alternating between the systems; ZooKeeper is
 * included only where it has what the scenario is about. Round 0 warms up and does not count;
 * scenarios with ensembles of their own have no such round, because its effect would not last.
 */
import type { Scenario } from '../scenarios/scenario.js';
import type { Settings } from './settings.js';

export interface PlannedRun {
  readonly scenario: Scenario;
  readonly system: string;
  readonly round: number;
}

export function plannedRuns(
  scenarios: readonly Scenario[],
  options: { readonly settings: Settings; readonly systems: readonly string[] },
): readonly PlannedRun[] {
  const { settings } = options;
  return scenarios.flatMap((scenario) => {
    const systems = options.systems.filter(
      (system) => !(scenario.isRookeryOnly && system === 'zookeeper'),
    );
    const rounds = Math.min(settings.rounds, scenario.roundsMax ?? settings.rounds);
    const first = scenario.isFresh ? 1 : 0;
    const numbers = Array.from({ length: rounds + 1 - first }, (_, index) => index + first);
    return numbers.flatMap((round) => systems.map((system) => ({ scenario, system, round })));
  });
}
