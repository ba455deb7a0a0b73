/**
 * A single write finds the disk full, of the log, of a checkpoint or of the meta record; the next
 * one would succeed. The member ends. One that has written nothing until the fault's end dies then.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll, whole } from './dice.js';

export const fullOnce: FaultKind = {
  name: 'full-once',
  begin: (world, fault, stage) => {
    const isLeader = roll(fault, 0) < 0.5 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    if (!world.isUp(id)) return 'it is down';
    world.failWrite(id, whole(1, 12, roll(fault, 2)));
    return () => {
      world.crash(id, { inFlight: roll(fault, 3) < 0.5 });
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
