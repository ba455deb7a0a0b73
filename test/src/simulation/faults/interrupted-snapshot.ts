/**
 * A member with a new disk is brought up to date, and dies at one of the disk changes that this
 * takes: between any two chunks of its snapshot, or steps of its installation.
 */
import type { FaultKind } from '../contract/fault.js';
import { between, bringBack, pick, roll, whole } from './dice.js';

export const interruptedSnapshot: FaultKind = {
  name: 'interrupted-snapshot',
  begin: (world, fault, stage) => {
    const id = pick(world.ids, roll(fault, 0));
    const refusal = stage.refusesStrike([id]);
    if (refusal !== null) return refusal;
    world.crash(id, { inFlight: false });
    world.wipe(id);
    stage.later(between(0, 50, roll(fault, 1)), () => {
      world.start(id);
      // The log and the tree of an empty disk, its epochs, then the snapshot.
      const when = roll(fault, 3) < 0.5 ? 'before' : 'after';
      stage.later(0, () => void world.crashAtChange(id, whole(1, 50, roll(fault, 2)), when));
    });
    return () => {
      world.crash(id, { inFlight: roll(fault, 4) < 0.5 });
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
