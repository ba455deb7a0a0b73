/** Two or more processes die at once, a quorum or not. */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll, some, whole } from './dice.js';

export const crashSeveral: FaultKind = {
  name: 'crash-several',
  begin: (world, fault, stage) => {
    if (world.ids.length < 2) return 'there is only one member';
    const count = whole(2, world.ids.length, roll(fault, 0));
    const ids = some(world, count, roll(fault, 1));
    for (const id of ids) world.crash(id, { inFlight: roll(fault, 2) < 0.5 });
    return () => bringBack(world, stage, { ids, rolled: roll(fault, 7) });
  },
};
