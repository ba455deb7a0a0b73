/**
 * In some pairs one member receives the other and is not received; each link is drawn by itself.
 */
import type { FaultKind } from '../contract/fault.js';
import { pick, roll } from './dice.js';
import { around, cutAll, healAll, type OneWay } from './links.js';

export const partitionOneWay: FaultKind = {
  name: 'partition-one-way',
  begin: (world, fault) => {
    if (world.ids.length < 2) return 'there is only one member';
    const isLeader = roll(fault, 0) < 0.5 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    const isMute = roll(fault, 2) < 0.5;
    const share = 0.3 + 0.7 * roll(fault, 3);
    const oneWays = around(world, id).filter(([from]) => (from === id) === isMute);
    const links = oneWays.filter((_: OneWay, at) => (roll(fault, 4) * (at + 3) * 7.31) % 1 < share);
    if (links.length === 0) return 'no link was drawn';
    cutAll(world, links);
    return () => healAll(world, links);
  },
};
