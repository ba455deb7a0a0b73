/**
 * A member's directories go back in time: an earlier copy replaces them, and the member may be
 * started alone some times before it meets the others.
 *
 * This happens only where all others durably know of a start that the copy does not know; where
 * some do not, the design only promises that both sides report it once they meet.
 */
import type { PeerId } from '@rookery/protocol';
import type { FaultKind } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { pick, roll, whole } from './dice.js';
import { bothWays, cutAll } from './links.js';
import { awaitMoment } from './patience.js';

const ALONE_MAX = 3;
const ALONE_MS = 300;
const APART_MS = 100;
/** For all members to serve, and to know of a start durably. */
const PATIENCE_MS = 5_000;

export const wentBack: FaultKind = {
  name: 'went-back',
  begin: (world, fault, stage) => {
    const id = pick(world.ids, roll(fault, 0));
    if (world.ids.length === 1) return 'not all others would know';
    const alone = whole(0, ALONE_MAX, roll(fault, 1));
    const allServe = () => stage.refusesStrike([id]) === null && world.ids.every(serves);
    awaitMoment(world, stage, { isTime: allServe, withinMs: PATIENCE_MS }, (isTime) => {
      if (!isTime) return;
      world.crash(id, { inFlight: false });
      world.keepCopy(id);
      world.start(id);
      stage.later(fault.forMs, goBackOnceKnown);
    });
    return () => undefined;

    function serves(one: PeerId): boolean {
      return world.serves(one);
    }

    function goBackOnceKnown(): void {
      const isKnown = () => stage.refusesStrike([id]) === null && world.isLastStartKnown(id);
      awaitMoment(world, stage, { isTime: isKnown, withinMs: PATIENCE_MS }, (isTime) => {
        if (isTime) goBack();
      });
    }

    function goBack(): void {
      world.crash(id, { inFlight: false });
      world.restoreCopy(id);
      const others = world.ids.filter((other) => other !== id);
      const links = bothWays([id], others);
      cutAll(world, links);
      for (let time = 0; time < alone; time++) {
        const atMs = time * (ALONE_MS + APART_MS);
        stage.later(atMs, () => void world.start(id));
        stage.later(atMs + ALONE_MS, () => void world.crash(id, { inFlight: false }));
      }
      stage.later(alone * (ALONE_MS + APART_MS), () => meet(world, id, links));
    }
  },
};

function meet(world: World, id: number, links: ReturnType<typeof bothWays>): void {
  for (const [from, to] of links) world.heal(from, to);
  world.start(id);
}
