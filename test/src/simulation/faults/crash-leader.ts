/** The leader's process dies, whether or not its proposals have been sent. */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll } from './dice.js';

export const crashLeader: FaultKind = {
  name: 'crash-leader',
  begin: (world, fault, stage) => {
    const id = world.leader;
    if (id === 0) return 'nobody leads';
    if (!world.crash(id, { inFlight: roll(fault, 1) < 0.5 })) return 'it is down';
    return () => bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
  },
};
