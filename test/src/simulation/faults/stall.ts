/**
 * A process is stalled: shortly, as during garbage collection, or longer than any timeout, as by
 * SIGSTOP; its clocks advance. The stall ends by itself.
 */
import type { FaultKind } from '../contract/fault.js';
import { between, pick, roll } from './dice.js';

export const stallShort = stall('stall', { lowMs: 5, highMs: 300 });
export const stallLong = stall('stall-long', { lowMs: 500, highMs: 8_000 });

function stall(name: string, { lowMs, highMs }: { lowMs: number; highMs: number }): FaultKind {
  return {
    name,
    begin: (world, fault) => {
      const isLeader = roll(fault, 0) < 0.5 && world.leader !== 0;
      const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
      if (!world.stall(id, between(lowMs, highMs, roll(fault, 2)))) return 'it is down';
      return () => undefined;
    },
  };
}
