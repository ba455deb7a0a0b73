/**
 * A member that does not lead can neither reach other members nor be reached by them; its clients
 * still reach it.
 */
import type { FaultKind } from '../contract/fault.js';
import { pick, roll } from './dice.js';
import { around, cutAll, healAll, others } from './links.js';

export const isolateFollower: FaultKind = {
  name: 'isolate-follower',
  begin: (world, fault) => {
    const followers = others(world, world.leader);
    if (world.leader === 0 || followers.length === 0) return 'nobody follows';
    const links = around(world, pick(followers, roll(fault, 0)));
    cutAll(world, links);
    return () => healAll(world, links);
  },
};
