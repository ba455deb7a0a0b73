/**
 * A leader goes on proposing while it reaches nobody, until others have elected another one: what
 * it holds then was never committed, and leaves its log when it follows.
 *
 * It is cut off, and often its process dies as well, so it also meets the new leader with a log
 * that a start has read. Clients still reach it.
 */
import type { PeerId } from '@rookery/protocol';
import type { FaultKind, PlannedFault, Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { between, bringBack, roll, whole } from './dice.js';
import { around, cutAll, healAll, others } from './links.js';
import { awaitMoment } from './patience.js';

/** An election takes a few timeouts of peers, the longest of which is 2.5 s. */
const PATIENCE_MS = 8_000;
/** Longer than a member takes to record where its log ends. */
const APART_MS_MAX = 2_500;
/** A member that has changed nothing else by then dies anyway. */
const RETURN_MS = 1_000;

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
      stage.later(between(0, APART_MS_MAX, roll(fault, 3)), () => {
        healAll(world, links);
        world.start(id);
        if (roll(fault, 4) < 0.5) dieAtChange(world, fault, stage, id);
      });
    });
  };
  if (roll(fault, 0) < 0.5) return returnOnceOvertaken();
  stage.later(between(1, 200, roll(fault, 2)), () => {
    world.crash(id, { inFlight: roll(fault, 1) < 0.5 });
    returnOnceOvertaken();
  });
}

/** It dies again while it is brought up to date, such as between a truncation and an append. */
function dieAtChange(world: World, fault: PlannedFault, stage: Stage, id: PeerId): void {
  const when = roll(fault, 5) < 0.5 ? 'before' : 'after';
  world.crashAtChange(id, whole(1, 16, (roll(fault, 5) * 2) % 1), when);
  stage.later(RETURN_MS, () => {
    world.crash(id, { inFlight: false });
    bringBack(world, stage, { ids: [id], rolled: roll(fault, 7) });
  });
}
