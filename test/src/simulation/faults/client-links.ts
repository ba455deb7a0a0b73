/**
 * Cuts between clients and members, made and healed together: it chooses the links and the
 * direction.
 *
 * One client, some or all; one member, the leader or all. It uses random numbers 0 to 4.
 */
import type { PeerId } from '@rookery/protocol';
import type { PlannedFault } from '../contract/fault.js';
import type { ClientWay, World } from '../contract/world.js';
import { pick, roll } from './dice.js';

export interface ClientLinks {
  cut(): void;
  heal(): void;
}

export function clientLinksOf(world: World, fault: PlannedFault): ClientLinks {
  const clients = clientsOf(world, fault);
  const members = membersOf(world, fault);
  const ways = waysOf(roll(fault, 4));
  const each = (act: (client: number, id: PeerId, way: ClientWay) => void) => {
    for (const client of clients) {
      for (const id of members) for (const way of ways) act(client, id, way);
    }
  };
  return {
    cut: () => each((client, id, way) => world.cutClient(client, id, way)),
    heal: () => each((client, id, way) => world.healClient(client, id, way)),
  };
}

function clientsOf(world: World, fault: PlannedFault): readonly number[] {
  const all = Array.from({ length: world.clients }, (_, at) => at + 1);
  const how = roll(fault, 0);
  if (how < 0.4) return [pick(all, roll(fault, 1))];
  if (how < 0.7) return all;
  return all.filter((client) => (client * 0.618 + roll(fault, 1)) % 1 < 0.5);
}

function membersOf(world: World, fault: PlannedFault): readonly PeerId[] {
  const how = roll(fault, 2);
  if (how < 0.4) return world.ids;
  if (how < 0.6 && world.leader !== 0) return [world.leader];
  return [pick(world.ids, roll(fault, 3))];
}

function waysOf(rolled: number): readonly ClientWay[] {
  if (rolled < 0.4) return ['toMember', 'toClient'];
  return rolled < 0.7 ? ['toMember'] : ['toClient'];
}
