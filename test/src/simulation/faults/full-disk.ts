/**
 * A disk is full: its member ends at the next write, and cannot start until there is free space.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll } from './dice.js';

export const fullDisk: FaultKind = {
  name: 'full-disk',
  begin: (world, fault, stage) => {
    const isLeader = roll(fault, 0) < 0.4 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    world.fillDisk(id, true);
    return () => {
      world.fillDisk(id, false);
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
