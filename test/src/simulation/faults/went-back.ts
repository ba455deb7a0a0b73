/**
 * A member's directories go back in time: an earlier copy replaces them, and the member may be
 * started alone some times before it meets the others.
 *
 * This happens only where all others durably know of a start that the copy does not know; where
 * some do not, the design only promises that both sides report it once they meet.
 */
import type { FaultKind } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { roll, some, whole } from './dice.js';
import { bothWays, cutAll } from './links.js';

const ALONE_MAX = 3;
const ALONE_MS = 300;
const APART_MS = 100;

export const wentBack: FaultKind = {
  name: 'went-back',
  begin: (world, fault, stage) => {
    const [id] = some(world, 1, roll(fault, 0));
    if (id === undefined || world.ids.length === 1) return 'not all others would know';
    const refusal = stage.refusesStrike([id]);
    if (refusal !== null) return refusal;
    if (world.ids.some((one) => !world.serves(one))) return 'not all members serve';
    world.crash(id, { inFlight: false });
    world.keepCopy(id);
    world.start(id);
    const alone = whole(0, ALONE_MAX, roll(fault, 1));
    return () => {
      if (stage.refusesStrike([id]) !== null || !world.isLastStartKnown(id)) return;
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
    };
  },
};

function meet(world: World, id: number, links: ReturnType<typeof bothWays>): void {
  for (const [from, to] of links) world.heal(from, to);
  world.start(id);
}
