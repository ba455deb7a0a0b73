/**
 * Connections between two members break, once or several times, together with what was in flight.
 */
import type { FaultKind } from '../contract/fault.js';
import { between, pick, roll, whole } from './dice.js';
import { others } from './links.js';

export const resetLink: FaultKind = {
  name: 'reset-link',
  begin: (world, fault, stage) => {
    if (world.ids.length < 2) return 'there is only one member';
    const isLeader = roll(fault, 0) < 0.6 && world.leader !== 0;
    const one = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    const other = pick(others(world, one), roll(fault, 2));
    const everyMs = between(5, 800, roll(fault, 3));
    let left = whole(1, 5, roll(fault, 4));
    const reset = () => {
      world.resetLink(one, other);
      left -= 1;
      if (left > 0) stage.later(everyMs, reset);
    };
    reset();
    return () => {
      left = 0;
    };
  },
};
