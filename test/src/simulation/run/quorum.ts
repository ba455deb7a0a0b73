/**
 * A quorum that is to be healed while the rest stays faulty: which members, and the faults of the
 * others.
 *
 * The design promises that any majority whose disks are sound, and whose members reach each other,
 * elects and serves, whatever the rest do: be down, be stalled, receive and not be received, or
 * reach only one of them. It is drawn from the seed; the run calls it between its phases.
 */
import type { PeerId } from '@rookery/protocol';
import type { World } from '../contract/world.js';
import { bothWays, cutAll } from '../faults/index.js';
import type { Random } from '../random.js';

/** Null where every quorum is all of the members. */
export function drawQuorum(world: World, random: Random): readonly PeerId[] | null {
  const { ids, struck, leader } = world;
  // Losing its leader is the harder half of it.
  const isLeaderLast = random.chance(0.5);
  const majority = Math.floor(ids.length / 2) + 1;
  // A wiped or damaged member has no vote before it has synchronized.
  const drawn = shuffled(ids, random).filter((id) => !struck.has(id));
  const others = drawn.filter((id) => id !== leader);
  const sound = isLeaderLast && drawn.includes(leader) ? [...others, leader] : drawn;
  if (majority === ids.length || sound.length < majority) return null;
  const rest = ids.filter((id) => !sound.slice(0, majority).includes(id));
  const more = rest.slice(1).filter(() => random.chance(0.2));
  return [...sound.slice(0, majority), ...more].sort((one, other) => one - other);
}

const AILMENTS = ['as it is', 'down', 'cut off', 'mute', 'deaf', 'bridged', 'frozen'] as const;

/**
 * Each member outside the quorum keeps its faults and gets one more, for this time. Returns which.
 */
export function ailTheRest(
  world: World,
  quorum: readonly PeerId[],
  { random, forMs }: { readonly random: Random; readonly forMs: number },
): string {
  const rest = world.ids.filter((id) => !quorum.includes(id));
  const said = rest.map((id) => {
    const ailment = random.pick(AILMENTS);
    const others = world.ids.filter((other) => other !== id);
    switch (ailment) {
      case 'as it is':
        break;
      case 'down':
        world.crash(id, { inFlight: random.chance(0.5) });
        break;
      case 'cut off':
        cutAll(world, bothWays([id], others));
        break;
      case 'mute':
        for (const other of others) world.cut(id, other);
        break;
      case 'deaf':
        for (const other of others) world.cut(other, id);
        break;
      case 'bridged': {
        const bridge = random.pick(quorum);
        const apart = others.filter((other) => other !== bridge);
        cutAll(world, bothWays([id], apart));
        break;
      }
      case 'frozen':
        world.stall(id, forMs);
        break;
    }
    return `${id} ${ailment}`;
  });
  return said.join(', ');
}

function shuffled<T>(items: readonly T[], random: Random): readonly T[] {
  const left = [...items];
  return items.flatMap(() => left.splice(random.below(left.length), 1));
}
