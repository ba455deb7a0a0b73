/**
 * Lists all scenarios in the order in which they are played.
 */
import { crowdedTurns } from './crowded-turns.js';
import { damagedFiles } from './damaged-files.js';
import { fullDisk } from './full-disk.js';
import { greedyAddress } from './greedy-address.js';
import { greedyWatches } from './greedy-watches.js';
import { hostileRequests } from './hostile-requests.js';
import { interruptedFounding } from './interrupted-founding.js';
import { manyEphemerals } from './many-ephemerals.js';
import type { Scenario } from './scenario.js';
import { stoppedClock } from './stopped-clock.js';

export const SCENARIOS: readonly Scenario[] = [
  damagedFiles,
  interruptedFounding,
  fullDisk,
  greedyAddress,
  manyEphemerals,
  hostileRequests,
  crowdedTurns,
  greedyWatches,
  stoppedClock,
];
