/** Two groups that cannot reach each other, and one member that reaches both. */
import type { FaultKind } from '../contract/fault.js';
import { roll, some, whole } from './dice.js';
import { bothWays, cutAll, healAll } from './links.js';

export const partitionBridge: FaultKind = {
  name: 'partition-bridge',
  begin: (world, fault) => {
    if (world.ids.length < 3) return 'a bridge needs three members';
    const [, ...rest] = some(world, world.ids.length, roll(fault, 0));
    const size = whole(1, rest.length - 1, roll(fault, 1));
    const links = bothWays(rest.slice(0, size), rest.slice(size));
    cutAll(world, links);
    return () => healAll(world, links);
  },
};
