/** All members go down together, by a crash or a clean stop, and come back one by one. */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll } from './dice.js';

export const restartAll: FaultKind = {
  name: 'restart-all',
  begin: (world, fault, stage) => {
    const isClean = roll(fault, 0) < 0.3;
    for (const id of world.ids) {
      if (isClean) world.stop(id);
      else world.crash(id, { inFlight: roll(fault, 1) < 0.5 });
    }
    return () => {
      // A member that has not stopped by now is killed.
      if (isClean) for (const id of world.ids) world.crash(id, { inFlight: false });
      bringBack(world, stage, { ids: world.ids, rolled: roll(fault, 7) });
    };
  },
};
