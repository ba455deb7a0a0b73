/**
 * The leader can neither reach other members nor be reached by them; its clients still reach it.
 */
import type { FaultKind } from '../contract/fault.js';
import { around, cutAll, healAll } from './links.js';

export const isolateLeader: FaultKind = {
  name: 'isolate-leader',
  begin: (world) => {
    if (world.leader === 0) return 'nobody leads';
    const links = around(world, world.leader);
    if (links.length === 0) return 'there is only one member';
    cutAll(world, links);
    return () => healAll(world, links);
  },
};
