/**
 * Chooses which members a nemesis strikes and which connections it cuts. It is pure, except that it
 * asks who leads.
 */
import type { Random } from '../../simulation/random.js';
import type { Host } from '../namespaces.js';
import type { Cut } from '../network.js';
import type { Field } from './nemesis.js';

export type Choice = 'one' | 'leader' | 'some' | 'all';

/**
 * Chooses victims. `leader` is any member where nobody leads; `some` are at least one, never all.
 */
export async function victims(field: Field, random: Random, choice: Choice): Promise<number[]> {
  const { ids } = field.members;
  switch (choice) {
    case 'one':
      return [random.pick(ids)];
    case 'leader':
      return [await leaderOrAny(field, random)];
    case 'some':
      return some(ids, random);
    case 'all':
      return [...ids];
  }
}

export async function leaderOrAny(field: Field, random: Random): Promise<number> {
  // Drawn in any case, because later choices must not depend on who leads.
  const any = random.pick(field.members.ids);
  return (await field.members.leader()) ?? any;
}

export function some(ids: readonly number[], random: Random): number[] {
  const count = 1 + random.below(Math.max(1, ids.length - 1));
  return shuffled(ids, random).slice(0, count);
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  const result: T[] = [];
  while (left.length > 0) result.push(...left.splice(random.below(left.length), 1));
  return result;
}

/** Returns the cuts of both directions between each of these and each of those. */
export function between(these: readonly Host[], those: readonly Host[]): Cut[] {
  return these.flatMap((a) => those.flatMap((b) => [oneWay(a, b), oneWay(b, a)]));
}

export function oneWay(from: Host, to: Host): Cut {
  return { from, to };
}

export interface Halves {
  /** The members of the larger side. */
  readonly majority: readonly number[];
  readonly minority: readonly number[];
}

export function halves(ids: readonly number[], random: Random): Halves {
  const order = shuffled(ids, random);
  const size = Math.floor(order.length / 2) + 1;
  return { majority: order.slice(0, size), minority: order.slice(size) };
}

/**
 * Each member reaches only its two neighbours in a circle; of three, two do not reach each other.
 */
export function ring(ids: readonly number[], random: Random): Cut[] {
  const order = shuffled(ids, random);
  if (order.length <= 3) return between(order.slice(0, 1), order.slice(1, 2));
  return order.flatMap((a, i) =>
    order.flatMap((b, j) => {
      const isNeighbour = j - i === 1 || (i === 0 && j === order.length - 1);
      return j > i && !isNeighbour ? between([a], [b]) : [];
    }),
  );
}

/** Makes two sides that reach only the one member in the middle. */
export function bridge(ids: readonly number[], random: Random): { middle: number; cuts: Cut[] } {
  const [middle = 0, ...rest] = shuffled(ids, random);
  const half = Math.ceil(rest.length / 2);
  return { middle, cuts: between(rest.slice(0, half), rest.slice(half)) };
}
