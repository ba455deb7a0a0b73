/**
 * Which strikes at disks the design promises to survive, in one place.
 *
 * A committed write is on a quorum's disks. Wiped or damaged members have no vote until they have
 * synchronized again, and every quorum of the others has the write only while fewer members are
 * struck than a quorum leaves out. So:
 * - The struck members are a minority, at most `members - quorum`: none of one or two members.
 * - They count until they have served again, which they do only when they durably have everything
 *   that was committed. Until then they may be struck again, and so may others together with them,
 *   as long as all of them are a minority.
 * - Nobody is struck before every member has served once: until then the ensemble's id may be on
 *   the disks of less than a quorum, and a member without an id cannot replace a victim.
 *
 * Wipe and flip call it, and so does the run, to record which members have served.
 */
import type { PeerId } from '@rookery/protocol';
import type { PlannedFault } from '../contract/fault.js';
import type { World } from '../contract/world.js';
import { roll, some, whole } from './dice.js';

/** How many members may be struck at one time. */
export function minorityOf(members: number): number {
  return Math.floor((members - 1) / 2);
}

/** Mostly one, sometimes as many as the design survives. Uses random numbers 0 and 1. */
export function victimsOf(world: World, fault: PlannedFault): readonly PeerId[] {
  const most = Math.max(1, minorityOf(world.ids.length));
  const count = roll(fault, 0) < 0.7 ? 1 : whole(1, most, (roll(fault, 0) - 0.7) / 0.3);
  return some(world, count, roll(fault, 1));
}

export class StrikeGuard {
  readonly #world: World;
  readonly #served = new Set<PeerId>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Must be called often: records which members have served. */
  look(): void {
    if (this.#served.size === this.#world.ids.length) return;
    for (const id of this.#world.ids) if (this.#world.serves(id)) this.#served.add(id);
  }

  /** Every member has served once: the ensemble's id is on the disks of all. */
  get isFounded(): boolean {
    this.look();
    return this.#served.size === this.#world.ids.length;
  }

  /** Like Stage.refusesStrike. */
  refuses(victims: readonly PeerId[]): string | null {
    const { ids, struck } = this.#world;
    const most = minorityOf(ids.length);
    if (victims.length > most) return `of ${ids.length} members ${most} may be struck`;
    // Emptied, a member whose file names it alone is a new ensemble.
    const other = victims.find((id) => this.#world.misconfigured.has(id));
    if (other !== undefined) return `member ${other} has a file of its own`;
    const all = new Set([...struck, ...victims]);
    if (all.size > most) return `member ${[...struck].join(', ')} has not served again`;
    return this.isFounded ? null : 'not every member has served yet';
  }
}
