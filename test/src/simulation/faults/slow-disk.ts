/** Each change of a member's disk takes longer: by milliseconds, or by most of a second. */
import type { FaultKind } from '../contract/fault.js';
import { between, pick, roll } from './dice.js';

export const slowDisk: FaultKind = {
  name: 'slow-disk',
  begin: (world, fault) => {
    const isLeader = roll(fault, 0) < 0.4 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    world.slowDisk(id, between(1, roll(fault, 2) < 0.7 ? 30 : 800, roll(fault, 3)));
    return () => world.slowDisk(id, 0);
  },
};
