/**
 * Mutants of the named bugs: each has a consistency bug that ZooKeeper had.
 *
 * The list only. Not run by the simulator's seeds, where many of them cannot show (a torn file, an
 * old client's handshake): main.ts here runs each on its own scenario, which must fail.
 */
import { durabilityMutants } from './durability.js';
import { electionMutants } from './election.js';
import { historyMutants } from './history.js';
import type { NamedMutant } from './named-mutant.js';

export const namedMutants: readonly NamedMutant[] = [
  ...historyMutants,
  ...durabilityMutants,
  ...electionMutants,
];
