/**
 * A fault: planned from the seed before the run, carried out while it runs.
 *
 * The plan is a list, so a failing run shrinks by leaving entries out; what a fault does depends on
 * its own dice and on the world at its moment, on nothing else.
 */
import type { PeerId } from '@rookery/protocol';
import type { World } from './world.js';

export interface PlannedFault {
  /** Its place in the plan: the name by which a replay keeps or drops it. */
  readonly index: number;
  /** FaultKind.name. */
  readonly kind: string;
  readonly atMs: number;
  /** When it ends, for kinds that last. */
  readonly forMs: number;
  /** In [0, 1): targets and amounts. */
  readonly dice: readonly number[];
}

/** What a fault may use besides the world. */
export interface Stage {
  /** Runs the action after so much of the run's time; never, once everything is being healed. */
  later(delayMs: number, action: () => void): void;
  /**
   * Null if the design promises to survive that all these disks are struck (wiped, flipped) now;
   * else why it does not.
   */
  refusesStrike(victims: readonly PeerId[]): string | null;
}

export interface FaultKind {
  readonly name: string;
  /**
   * Begins it. Returns what ends it, or a text that says why it was left out (the design does not
   * promise to survive it now). Called at `atMs`, its end at `atMs + forMs` or when all is healed.
   */
  begin(world: World, fault: PlannedFault, stage: Stage): (() => void) | string;
}
