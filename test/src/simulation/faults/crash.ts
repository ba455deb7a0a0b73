/** One member's process dies, between two of its steps. */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll } from './dice.js';

export const crash: FaultKind = {
  name: 'crash',
  begin: (world, fault, stage) => {
    const id = pick(world.ids, roll(fault, 0));
    if (!world.crash(id, { inFlight: roll(fault, 1) < 0.5 })) return 'it is down';
    return () => bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
  },
};
