/**
 * All bad neighbours, in the order in which they run. Each has a file of its own; add yours here.
 */
import type { BadNeighbour } from './bad-neighbour.js';
import { collidingNames } from './colliding-names.js';
import { creatingWithoutEnd } from './creating-without-end.js';
import { deepPaths } from './deep-paths.js';
import { largeMultis } from './large-multis.js';
import { longDump } from './long-dump.js';
import { manyEphemerals } from './many-ephemerals.js';
import { sessionStorm } from './session-storm.js';
import { strangersAsking } from './strangers-asking.js';
import { unfinishedFrames } from './unfinished-frames.js';
import { unreadListings } from './unread-listings.js';
import { watchesEnding } from './watches-ending.js';
import { watchesListed } from './watches-listed.js';
import { writesInFlight } from './writes-in-flight.js';

export const BAD_NEIGHBOURS: readonly BadNeighbour[] = [
  longDump,
  watchesListed,
  strangersAsking,
  creatingWithoutEnd,
  manyEphemerals(),
  watchesEnding(),
  collidingNames,
  deepPaths,
  largeMultis,
  writesInFlight,
  unfinishedFrames,
  unreadListings,
  sessionStorm,
];
