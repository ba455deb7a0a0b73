/** A member's date jumps, forward or back, by seconds or by years; nothing may depend on it. */
import type { FaultKind } from '../contract/fault.js';
import { pick, roll } from './dice.js';

const JUMPS_MS = [1_000, 60_000, 3_600_000, 86_400_000, 20 * 365 * 86_400_000] as const;

export const wallClock: FaultKind = {
  name: 'wall-clock',
  begin: (world, fault) => {
    const isLeader = roll(fault, 0) < 0.5 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    const byMs = Math.round(pick(JUMPS_MS, roll(fault, 2)) * (0.1 + 0.9 * roll(fault, 3)));
    const signedMs = roll(fault, 4) < 0.5 ? byMs : -byMs;
    world.jumpWallClock(id, signedMs);
    return () => world.jumpWallClock(id, -signedMs);
  },
};
