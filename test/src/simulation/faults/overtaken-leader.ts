/**
 * A leader goes on proposing while it reaches nobody, until others have elected another one: what
 * it holds then was never committed, and leaves its log when it follows.
 *
 * It is cut off, and often its process dies as well, so it also meets the new leader with a log
 * that a start has read. Clients still reach it.
 */
import type { FaultKind, PlannedFault, Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { between, roll } from './dice.js';
import { around, cutAll, healAll, others } from './links.js';
import { awaitMoment } from './patience.js';

/** An election takes a few timeouts of peers, the longest of which is 2.5 s. */
const PATIENCE_MS = 8_000;

export const overtakenLeader: FaultKind = {
  name: 'overtaken-leader',
  begin: (world, fault, stage) => {
    if (world.ids.length < 3) return 'the others are no majority';
    const isTime = () => world.leader !== 0;
    awaitMoment(world, stage, { isTime, withinMs: PATIENCE_MS }, (leads) => {
      if (leads) isolate(world, fault, stage);
    });
    return () => undefined;
  },
};

function isolate(world: World, fault: PlannedFault, stage: Stage): void {
  const id = world.leader;
  const links = around(world, id);
  cutAll(world, links);
  const isTime = () => others(world, id).some((other) => world.leads(other));
  const returnOnceOvertaken = () => {
    awaitMoment(world, stage, { isTime, withinMs: PATIENCE_MS }, () => {
      healAll(world, links);
      world.start(id);
    });
  };
  if (roll(fault, 0) < 0.5) return returnOnceOvertaken();
  stage.later(between(1, 200, roll(fault, 2)), () => {
    world.crash(id, { inFlight: roll(fault, 1) < 0.5 });
    returnOnceOvertaken();
  });
}
