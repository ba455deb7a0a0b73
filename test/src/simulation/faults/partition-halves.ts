/** The members are divided into two groups that cannot reach each other. */
import type { FaultKind } from '../contract/fault.js';
import { roll, some, whole } from './dice.js';
import { bothWays, cutAll, healAll } from './links.js';

export const partitionHalves: FaultKind = {
  name: 'partition-halves',
  begin: (world, fault) => {
    if (world.ids.length < 2) return 'there is only one member';
    const one = some(world, whole(1, world.ids.length - 1, roll(fault, 0)), roll(fault, 1));
    const links = bothWays(
      one,
      world.ids.filter((id) => !one.includes(id)),
    );
    cutAll(world, links);
    return () => healAll(world, links);
  },
};
