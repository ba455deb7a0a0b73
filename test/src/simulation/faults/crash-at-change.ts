/**
 * A process dies at one of its next changes of a disk, before or after that took effect: between
 * any two operations of its storage. A process that has changed nothing until the fault's end dies
 * then.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll, whole } from './dice.js';

export const crashAtChange: FaultKind = {
  name: 'crash-at-change',
  begin: (world, fault, stage) => {
    const isLeader = roll(fault, 0) < 0.4 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    const when = roll(fault, 2) < 0.5 ? 'before' : 'after';
    // Mostly small counts: a start, a checkpoint or a snapshot consists of a dozen changes.
    const count = whole(1, roll(fault, 3) < 0.8 ? 12 : 100, roll(fault, 4));
    if (!world.crashAtChange(id, count, when)) return 'it is down';
    return () => {
      world.crash(id, { inFlight: roll(fault, 5) < 0.5 });
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
