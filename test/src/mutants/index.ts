/**
 * The catalogue of all mutants, in the order in which they are run and reported.
 *
 * It contains only the lists: areas are files of their own. Those in named/ have scenarios that
 * must fail on them (named/main.ts); the simulator runs them only when it is asked for them by
 * name.
 */
import { broadcastMutants } from './broadcast.js';
import { checkpointMutants } from './checkpoints.js';
import { clockMutants } from './clocks.js';
import { decisionMutants } from './decisions.js';
import { directoryMutants } from './directories.js';
import { electionMutants } from './elections.js';
import { architectureMutants } from './from-architecture.js';
import { outsideMutants } from './from-outside.js';
import { sourceMutants } from './from-source.js';
import type { Mutant } from './mutant.js';
import { scenarioMutants } from './named/index.js';
import { pathMutants } from './paths.js';
import { requestMutants } from './requests.js';
import { roomMutants } from './rooms.js';
import { sessionEndMutants } from './session-ends.js';
import { sessionMutants } from './sessions.js';
import { storageMutants } from './storage.js';

export const seededMutants: readonly Mutant[] = [
  ...architectureMutants,
  ...electionMutants,
  ...broadcastMutants,
  ...storageMutants,
  ...checkpointMutants,
  ...requestMutants,
  ...decisionMutants,
  ...sessionMutants,
  ...clockMutants,
  ...sessionEndMutants,
  ...pathMutants,
  ...directoryMutants,
  ...sourceMutants,
  ...outsideMutants,
  ...roomMutants,
];

export const allMutants: readonly Mutant[] = [...seededMutants, ...scenarioMutants];
