/**
 * The resolvers of some members do not answer; one of the other members may be restarted meanwhile.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll, some, whole } from './dice.js';

export const hangingResolver: FaultKind = {
  name: 'hanging-resolver',
  begin: (world, fault, stage) => {
    const ids = some(world, whole(1, world.ids.length, roll(fault, 0)), roll(fault, 1));
    for (const id of ids) world.hangResolver(id, true);
    const restarted = roll(fault, 2) < 0.5 ? some(world, 1, roll(fault, 3)) : [];
    for (const id of restarted) world.crash(id, { inFlight: false });
    bringBack(world, stage, { ids: restarted, rolled: roll(fault, 7) });
    return () => {
      for (const id of ids) world.hangResolver(id, false);
      for (const id of restarted) world.start(id);
    };
  },
};
