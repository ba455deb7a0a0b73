/**
 * What faults have in common: their random numbers, their victims, and the return of members.
 *
 * A fault has DICE_COUNT random numbers of its own, so what it does affects no other fault of the
 * plan. By convention the last one determines how long a member stays down after the fault's end,
 * and the one before it belongs to the course, which decides by it between which two actions the
 * fault begins.
 */
import type { PeerId } from '@rookery/protocol';
import type { PlannedFault, Stage } from '../contract/fault.js';
import type { World } from '../contract/world.js';

export const DICE_COUNT = 8;
/** A member that a fault brought down is started within this time after the fault's end, in ms. */
const RETURN_MS_MAX = 1500;

export function roll(fault: PlannedFault, die: number): number {
  const rolled = fault.dice[die];
  if (rolled === undefined) throw new Error(`a fault has ${DICE_COUNT} dice, not ${die + 1}`);
  return rolled;
}

export function between(low: number, high: number, rolled: number): number {
  return low + (high - low) * rolled;
}

/** From `low` to `high`, both included. */
export function whole(low: number, high: number, rolled: number): number {
  return low + Math.floor((high - low + 1) * rolled);
}

export function pick<T>(items: readonly T[], rolled: number): T {
  const item = items[Math.floor(items.length * rolled)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** `count` of the members, in an order that only `rolled` determines. */
export function some(world: World, count: number, rolled: number): readonly PeerId[] {
  const left = [...world.ids];
  const chosen: PeerId[] = [];
  let die = rolled;
  while (chosen.length < count && left.length > 0) {
    const place = die * left.length;
    chosen.push(...left.splice(Math.floor(place), 1));
    die = place - Math.floor(place);
  }
  return chosen;
}

/** Starts those that are down then, each after a delay of its own. */
export function bringBack(
  world: World,
  stage: Stage,
  { ids, rolled }: { readonly ids: readonly PeerId[]; readonly rolled: number },
): void {
  let die = rolled;
  for (const id of ids) {
    stage.later(die * RETURN_MS_MAX, () => void world.start(id));
    die = (die * 7.31) % 1;
  }
}
