/** A member's clocks run fast or slow, by at most what the run's facts say. */
import type { FaultKind } from '../contract/fault.js';
import { pick, roll } from './dice.js';

/** RunFacts.clockDrift of every run: far worse than a quartz, 200 ppm, so that margins show. */
export const CLOCK_DRIFT = 0.01;

export const clockRate: FaultKind = {
  name: 'clock-rate',
  begin: (world, fault) => {
    const isLeader = roll(fault, 0) < 0.4 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    world.setClockRate(id, 1 + CLOCK_DRIFT * (2 * roll(fault, 2) - 1));
    return () => world.setClockRate(id, 1);
  },
};
