/**
 * A bit of the newest write in a member's log has changed when the member starts again.
 *
 * A start cannot always tell that from the torn end of a write on which nobody relied. So this
 * happens only where all others durably have everything that the member had. Often all of them are
 * restarted with it, so that it takes part in the election with a log that lacks its end.
 */
import type { PeerId } from '@rookery/protocol';
import type { FaultKind, PlannedFault, Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { bringBack, pick, roll } from './dice.js';
import { awaitMoment } from './patience.js';

/** For all members to serve. */
const PATIENCE_MS = 5_000;
/** For the others to have all of it. */
const SHORT_MS = 1_000;

export const flipLast: FaultKind = {
  name: 'flip-last',
  begin: (world, fault, stage) => {
    const id = pick(world.ids, roll(fault, 0));
    if (world.ids.length < 3) return 'the others are no majority';
    const isTime = () =>
      stage.refusesStrike([id]) === null && world.ids.every((one) => world.serves(one));
    awaitMoment(world, stage, { isTime, withinMs: PATIENCE_MS }, (allServe) => {
      if (!allServe) return;
      world.crash(id, { inFlight: roll(fault, 4) < 0.5 });
      const have = () => stage.refusesStrike([id]) === null && world.othersHaveAllOf(id);
      awaitMoment(world, stage, { isTime: have, withinMs: SHORT_MS }, (haveAll) => {
        if (haveAll) flip(world, fault, stage, id);
        else world.start(id);
      });
    });
    return () => undefined;
  },
};

function flip(world: World, fault: PlannedFault, stage: Stage, id: PeerId): void {
  world.flipLast(id, [roll(fault, 1), roll(fault, 2)]);
  if (roll(fault, 3) < 0.5) {
    for (const other of world.ids) world.crash(other, { inFlight: roll(fault, 5) < 0.5 });
    // It is there when they elect.
    world.start(id);
  }
  bringBack(world, stage, { ids: world.ids, rolled: roll(fault, 7) / 5 });
}
