/**
 * Partitions as lists of one-way cuts, made and healed together.
 *
 * A partition that overlaps another may heal some of its links early, which only weakens both. The
 * faults of the network use it.
 */
import type { PeerId } from '@rookery/protocol';
import type { World } from '../contract/world.js';

export type OneWay = readonly [from: PeerId, to: PeerId];

export function cutAll(world: World, links: readonly OneWay[]): void {
  for (const [from, to] of links) world.cut(from, to);
}

export function healAll(world: World, links: readonly OneWay[]): void {
  for (const [from, to] of links) world.heal(from, to);
}

export function bothWays(left: readonly PeerId[], right: readonly PeerId[]): readonly OneWay[] {
  return left.flatMap((a) =>
    right.flatMap((b): OneWay[] =>
      a === b
        ? []
        : [
            [a, b],
            [b, a],
          ],
    ),
  );
}

/** All links of one member. */
export function around(world: World, id: PeerId): readonly OneWay[] {
  return bothWays([id], others(world, id));
}

export function others(world: World, id: PeerId): readonly PeerId[] {
  return world.ids.filter((other) => other !== id);
}
