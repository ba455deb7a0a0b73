/**
 * Mutants with a scenario: of the named bugs, which are consistency bugs that ZooKeeper had, and of
 * others.
 *
 * It contains only the lists. The simulator's seeds do not run them, because many of them cannot
 * show there (an incomplete file, an old client's handshake): main.ts here runs each on its own
 * scenario, which must fail.
 */
import { agreementMutants } from './agreements.js';
import { authenticationMutants } from './authentication.js';
import { checkpointMutants } from './checkpoints.js';
import { diskMutants } from './disks.js';
import { durabilityMutants } from './durability.js';
import { electionMutants } from './election.js';
import { historyMutants } from './history.js';
import { identityMutants } from './identities.js';
import type { NamedMutant } from './named-mutant.js';
import { outsideScenarios } from './outside.js';
import { ownMutants } from './own.js';
import { repairMutants } from './repairs.js';
import { roomMutants } from './room.js';
import { sessionMutants } from './sessions.js';
import { socketMutants } from './sockets.js';
import { treeBoundMutants } from './tree-bound.js';
import { valueFileMutants } from './value-files.js';
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

export const scenarioMutants: readonly NamedMutant[] = [
  ...namedMutants,
  ...identityMutants,
  ...ownMutants,
  ...outsideScenarios,
  ...repairMutants,
  ...roomMutants,
  ...treeBoundMutants,
  ...agreementMutants,
  ...valueFileMutants,
  ...authenticationMutants,
];
