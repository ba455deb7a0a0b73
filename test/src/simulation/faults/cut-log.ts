/**
 * The newest part of a member's log is gone when it starts again, and begins before the log's mark.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll } from './dice.js';
import { victimsOf } from './guard.js';

export const cutLog: FaultKind = {
  name: 'cut-log',
  begin: (world, fault, stage) => {
    const ids = victimsOf(world, fault);
    const refusal = stage.refusesStrike(ids);
    if (refusal !== null) return refusal;
    let cut = 0;
    for (const id of ids) {
      world.crash(id, { inFlight: false });
      if (world.cutLog(id, roll(fault, 2))) cut += 1;
    }
    const end = () => bringBack(world, stage, { ids, rolled: roll(fault, 7) });
    if (cut > 0) return end;
    end();
    return 'no disk shows where its log ended';
  },
};
