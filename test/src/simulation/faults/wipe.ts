/** Disks are lost with everything on them, of one member or of a minority at once. */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll } from './dice.js';
import { victimsOf } from './guard.js';

export const wipe: FaultKind = {
  name: 'wipe',
  begin: (world, fault, stage) => {
    const ids = victimsOf(world, fault);
    const refusal = stage.refusesStrike(ids);
    if (refusal !== null) return refusal;
    for (const id of ids) {
      world.crash(id, { inFlight: false });
      world.wipe(id);
    }
    return () => bringBack(world, stage, { ids, rolled: roll(fault, 7) });
  },
};
