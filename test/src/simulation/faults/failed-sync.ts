/**
 * A sync fails with an input/output error, which ends the member. A member that has synced nothing
 * until the fault's end dies then, so that no failure is left pending.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll } from './dice.js';

export const failedSync: FaultKind = {
  name: 'failed-sync',
  begin: (world, fault, stage) => {
    const isLeader = roll(fault, 0) < 0.5 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    if (!world.isUp(id)) return 'it is down';
    world.failNextSync(id);
    return () => {
      world.crash(id, { inFlight: roll(fault, 2) < 0.5 });
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
