/**
 * One bit of a record on a member's disk has changed when it starts again, but never in the last
 * record.
 */
import type { FaultKind } from '../contract/fault.js';
import { bringBack, roll } from './dice.js';
import { victimsOf } from './guard.js';

export const flipBit: FaultKind = {
  name: 'flip-bit',
  begin: (world, fault, stage) => {
    const ids = victimsOf(world, fault);
    const refusal = stage.refusesStrike(ids);
    if (refusal !== null) return refusal;
    let flipped = 0;
    for (const [at, id] of ids.entries()) {
      world.crash(id, { inFlight: roll(fault, 2) < 0.5 });
      const chosen = [roll(fault, 3), roll(fault, 4), roll(fault, 5)] as const;
      if (world.flipBit(id, [chosen[0], (chosen[1] + at * 0.37) % 1, chosen[2]])) flipped += 1;
    }
    const end = () => bringBack(world, stage, { ids, rolled: roll(fault, 7) });
    if (flipped > 0) return end;
    end();
    return 'there is no record to flip a bit of, or it is empty';
  },
};
