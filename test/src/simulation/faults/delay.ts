/**
 * Messages of some links take longer, so that what was shorter than a timeout may now exceed it.
 */
import type { FaultKind } from '../contract/fault.js';
import { between, pick, roll } from './dice.js';
import { around, bothWays, type OneWay } from './links.js';

export const delay: FaultKind = {
  name: 'delay',
  begin: (world, fault) => {
    if (world.ids.length < 2) return 'there is only one member';
    const byMs = between(1, roll(fault, 0) < 0.7 ? 100 : 1500, roll(fault, 1));
    const links = linksOf();
    for (const [from, to] of links) world.delay(from, to, byMs);
    return () => {
      for (const [from, to] of links) world.delay(from, to, 0);
    };

    function linksOf(): readonly OneWay[] {
      const id = pick(world.ids, roll(fault, 3));
      if (roll(fault, 2) < 0.3) return bothWays(world.ids, world.ids);
      if (roll(fault, 2) < 0.6) return around(world, id);
      return around(world, id).filter(([from]) => from === id);
    }
  },
};
