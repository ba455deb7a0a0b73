/**
 * All scenarios, in the order in which they run, and the choice among them.
 */
import { BAD_NEIGHBOURS } from '../bad-neighbours/all.js';
import { badNeighbourScenario } from '../bad-neighbours/scenario.js';
import { backupScenarios } from './backup.js';
import { tlsScenarios } from './by-tls.js';
import { clientScenarios } from './client.js';
import { createScenarios } from './creates.js';
import { enduranceScenarios } from './endurance.js';
import { failoverScenarios } from './failover.js';
import { largeTreeScenarios } from './large-tree.js';
import { mixScenarios } from './mixes.js';
import type { Scenario } from './scenario.js';
import { scrapedScenarios } from './scraped.js';
import { sessionScenarios } from './sessions.js';
import { visibilityScenarios } from './visibility.js';
import { watchScenarios } from './watches.js';

export const SCENARIOS: readonly Scenario[] = [
  ...mixScenarios,
  ...createScenarios,
  ...visibilityScenarios,
  ...watchScenarios,
  ...sessionScenarios,
  ...failoverScenarios,
  ...largeTreeScenarios,
  ...enduranceScenarios,
  ...clientScenarios,
  ...scrapedScenarios,
  ...backupScenarios,
  ...tlsScenarios,
  ...BAD_NEIGHBOURS.map(badNeighbourScenario),
];

/** Chooses by names and groups, in the table's order; throws for a name that is neither. */
export function chooseScenarios(names: readonly string[]): readonly Scenario[] {
  for (const name of names) {
    if (SCENARIOS.some((one) => one.name === name || one.group === name)) continue;
    throw new Error(`no scenario and no group is named ${name}; --list shows them`);
  }
  return SCENARIOS.filter(({ name, group }) => names.includes(name) || names.includes(group));
}
