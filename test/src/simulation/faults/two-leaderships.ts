/**
 * A member returns with the history of another leadership of its newest epoch, as a second process
 * on copied data leaves it.
 *
 * This happens only where all others durably have everything that the member had: whatever they
 * elect without it is the ensemble's history. Often all of them are restarted with it, so that it
 * stands as a candidate, with a history that looks as new as theirs.
 */
import type { PeerId } from '@rookery/protocol';
import type { FaultKind, PlannedFault, Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { bringBack, pick, roll } from './dice.js';
import { awaitMoment } from './patience.js';

/** For all members to serve. */
const PATIENCE_MS = 5_000;
/** For the others to have all of it: what they do not have by then waits for this member. */
const SHORT_MS = 1_000;

export const twoLeaderships: FaultKind = {
  name: 'two-leaderships',
  begin: (world, fault, stage) => {
    const id = pick(world.ids, roll(fault, 0));
    if (world.ids.length < 3) return 'the others are no majority';
    const isTime = () => stage.refusesStrike([id]) === null && world.ids.every(serves);
    awaitMoment(world, stage, { isTime, withinMs: PATIENCE_MS }, (allServe) => {
      if (!allServe) return;
      world.crash(id, { inFlight: false });
      const have = () => stage.refusesStrike([id]) === null && world.othersHaveAllOf(id);
      awaitMoment(world, stage, { isTime: have, withinMs: SHORT_MS }, (haveAll) => {
        if (haveAll) forge(world, fault, stage, id);
        else world.start(id);
      });
    });
    return () => undefined;
    function serves(one: PeerId): boolean {
      return world.serves(one);
    }
  },
};

function forge(world: World, fault: PlannedFault, stage: Stage, id: PeerId): void {
  world.forgeHistory(id, [roll(fault, 1), roll(fault, 2)]);
  if (roll(fault, 3) < 0.5) {
    for (const other of world.ids) world.crash(other, { inFlight: roll(fault, 4) < 0.5 });
    // It is there when they elect.
    world.start(id);
  }
  bringBack(world, stage, { ids: world.ids, rolled: roll(fault, 7) / 5 });
}
