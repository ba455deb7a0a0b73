/**
 * A fault: planned from the seed before the run, carried out while it runs.
 *
 * The plan is a list, so a failing run is shrunk by omitting entries; what a fault does depends on
 * its own random numbers and on the world at its moment, on nothing else.
 */
import type { PeerId } from '@rookery/protocol';
import type { World } from './world.js';

export interface PlannedFault {
  /** Its index in the plan, by which a replay keeps or drops it. */
  readonly index: number;
  /** FaultKind.name. */
  readonly kind: string;
  readonly atMs: number;
  /** When it ends, for kinds that last. */
  readonly forMs: number;
  /** Random numbers in [0, 1) for targets and amounts. */
  readonly dice: readonly number[];
}

/** What a fault may use besides the world. */
export interface Stage {
  /** Runs the action after this much of the run's time; never, once everything is being healed. */
  later(delayMs: number, action: () => void): void;
  /**
   * Null if the design promises to survive that all these disks are struck (wiped, flipped) now;
   * otherwise the reason why not.
   */
  refusesStrike(victims: readonly PeerId[]): string | null;
}

export interface FaultKind {
  readonly name: string;
  /**
   * Begins it. Returns the function that ends it, or a text that says why it was omitted (the
   * design does not promise to survive it now). Called at `atMs`; its end comes at `atMs + forMs`
   * or when everything is healed.
   */
  begin(world: World, fault: PlannedFault, stage: Stage): (() => void) | string;
}
