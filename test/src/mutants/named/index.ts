/**
 * Mutants of the named bugs: each has a consistency bug that ZooKeeper had.
 *
 * The list only. Not run by the simulator's seeds, where many of them cannot show (a torn file, an
 * old client's handshake): main.ts here runs each on its own scenario, which must fail.
 */
import { checkpointMutants } from './checkpoints.js';
import { diskMutants } from './disks.js';
import { durabilityMutants } from './durability.js';
import { electionMutants } from './election.js';
import { historyMutants } from './history.js';
import type { NamedMutant } from './named-mutant.js';
import { sessionMutants } from './sessions.js';
import { socketMutants } from './sockets.js';
import { watchMutants } from './watches.js';

export const namedMutants: readonly NamedMutant[] = [
  ...historyMutants,
  ...durabilityMutants,
  ...electionMutants,
  ...checkpointMutants,
  ...diskMutants,
  ...sessionMutants,
  ...watchMutants,
  ...socketMutants,
];
