/**
 * A virtual machine is suspended, mostly that of the leader, and its monotonic clock stands still
 * meanwhile. Its wall clock goes on, so it can tell that time has passed. Sometimes a second
 * machine of the same host is suspended with it.
 */
import type { FaultKind } from '../contract/fault.js';
import { between, pick, roll } from './dice.js';

export const stoppedClock: FaultKind = {
  name: 'stopped-clock',
  begin: (world, fault) => {
    const isLeader = roll(fault, 0) < 0.7 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    const forMs = between(500, 12_000, roll(fault, 2));
    if (!world.stall(id, forMs, 'stands')) return 'it is down';
    const second = pick(world.ids, roll(fault, 3));
    if (roll(fault, 4) < 0.3 && second !== id) world.stall(second, forMs, 'stands');
    return () => undefined;
  },
};
