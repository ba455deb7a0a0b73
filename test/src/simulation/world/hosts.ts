/** Names of hosts in the simulated network, and of the directions between them. */
import type { PeerId } from '@rookery/protocol';
import type { ClientWay } from '../contract/world.js';

export function hostOf(id: PeerId): string {
  return `member-${id}`;
}

export function hostOfClient(client: number): string {
  return `client-${client}`;
}

export function endsOf(client: number, id: PeerId, way: ClientWay): [from: string, to: string] {
  const ends = [hostOfClient(client), hostOf(id)] as const;
  return way === 'toMember' ? [ends[0], ends[1]] : [ends[1], ends[0]];
}

/** The direction from one member to another. */
export function wayOf(from: PeerId, to: PeerId): string {
  return wayKey(hostOf(from), hostOf(to));
}

export function wayKey(from: string, to: string): string {
  return `${from} ${to}`;
}
