/**
 * What is on the disk of a member changes under its process, mostly that of the leader: a bit of a
 * record, some sectors of the log, the header of a file. Its memory is whole.
 *
 * Sometimes another member is down meanwhile and comes back, so that it is brought up to date from
 * the damaged files. A member that has not found the damage by the end of the fault is sometimes
 * restarted on it.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll } from './dice.js';
import { others } from './links.js';

export const decay: FaultKind = {
  name: 'decay',
  begin: (world, fault, stage) => {
    const isLeader = roll(fault, 0) < 0.6 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    const refusal = stage.refusesStrike([id]);
    if (refusal !== null) return refusal;
    const dice = [roll(fault, 2), roll(fault, 3), roll(fault, 4)] as const;
    if (!world.decay(id, dice)) return 'it is down, or there is nothing to damage';
    const learner = pick(others(world, id), roll(fault, 1));
    if (roll(fault, 5) < 0.5) world.crash(learner, { inFlight: false });
    return () => {
      world.start(learner);
      if (!world.struck.has(id) || roll(fault, 5) * 2 - 1 > 0) return;
      world.crash(id, { inFlight: false });
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
