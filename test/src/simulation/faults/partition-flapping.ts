/** A partition that is made and healed about as fast as members notice it. */
import type { FaultKind } from '../contract/fault.js';
import { between, pick, roll, some, whole } from './dice.js';
import { around, bothWays, cutAll, healAll } from './links.js';

export const partitionFlapping: FaultKind = {
  name: 'partition-flapping',
  begin: (world, fault, stage) => {
    if (world.ids.length < 2) return 'there is only one member';
    const one = some(world, whole(1, world.ids.length - 1, roll(fault, 0)), roll(fault, 1));
    const rest = world.ids.filter((id) => !one.includes(id));
    const isOne = roll(fault, 2) < 0.5;
    const links = isOne ? around(world, pick(world.ids, roll(fault, 3))) : bothWays(one, rest);
    const cutForMs = between(20, 2000, roll(fault, 4) ** 2);
    const healedForMs = between(20, 2000, roll(fault, 5) ** 2);
    let isOver = false;
    const cut = () => {
      if (isOver) return;
      cutAll(world, links);
      stage.later(cutForMs, heal);
    };
    const heal = () => {
      if (isOver) return;
      healAll(world, links);
      stage.later(healedForMs, cut);
    };
    cut();
    return () => {
      isOver = true;
      healAll(world, links);
    };
  },
};
