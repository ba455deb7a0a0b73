/** All checkers of what members do: each watches one property, from inside of every member. */
import type { NewChecker } from '../contract/checker.js';
import { newCommittedStays } from './members/committed-stays.js';
import { newContiguity } from './members/contiguity.js';
import { newDigest } from './members/digest.js';
import { newDiscovery } from './members/discovery.js';
import { newDurability } from './members/durability.js';
import { newElections } from './members/elections.js';
import { newEphemerals } from './members/ephemerals.js';
import { newEpochs } from './members/epochs.js';
import { newKnownLeaderships } from './members/known-leaderships.js';
import { newLeadership } from './members/leadership.js';
import { newPurge } from './members/purge.js';
import { newQuotas } from './members/quotas.js';
import { newRestart } from './members/restart.js';
import { newRoles } from './members/roles.js';
import { newRoom } from './members/room.js';
import { newSameOrder } from './members/same-order.js';
import { newSessionIds } from './members/session-ids.js';
import { newTime } from './members/time.js';
import { newTtl } from './members/ttl.js';
import { newVotes } from './members/votes.js';

export const MEMBER_CHECKERS: readonly NewChecker[] = [
  newSameOrder,
  newContiguity,
  newDurability,
  newRestart,
  newEpochs,
  newCommittedStays,
  newVotes,
  newElections,
  newDiscovery,
  newRoles,
  newLeadership,
  newPurge,
  newQuotas,
  newDigest,
  newEphemerals,
  newTime,
  newTtl,
  newSessionIds,
  newKnownLeaderships,
  newRoom,
];
