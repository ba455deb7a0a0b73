/** One member is stopped as by SIGTERM; often the leader, as in an upgrade. */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, pick, roll } from './dice.js';

export const cleanStop: FaultKind = {
  name: 'clean-stop',
  begin: (world, fault, stage) => {
    const isLeader = roll(fault, 0) < 0.4 && world.leader !== 0;
    const id = isLeader ? world.leader : pick(world.ids, roll(fault, 1));
    if (!world.stop(id)) return 'it is down';
    return () => {
      // A member that has not stopped by now is killed, as an init system does.
      world.crash(id, { inFlight: false });
      bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
    };
  },
};
