/**
 * Defines a bad neighbour: a client that does its worst, and the bound that it must not break.
 *
 * Each is in a file of its own in this folder and is listed in `all.ts`. `scenario.ts` runs it
 * beside a good client, and `goals.ts` says what must not happen to the good client and the
 * members.
 */
import type { Context } from '../run/context.js';
import type { MemberSettings } from '../systems/plan.js';

export interface BadNeighbour {
  /** The name of the scenario, which begins with `bad-`. */
  readonly name: string;
  /** One line that says what it does. */
  readonly what: string;
  /**
   * Makes what the attack needs, before anything is measured: large trees, many watches. Sizes come
   * from `context.settings.isQuick`. Clients opened by `context.client()` live until the run ends.
   */
  readonly prepare?: (context: Context) => Promise<void>;
  /**
   * Does its worst until the signal is aborted, or ends earlier when it has done everything. It
   * must expect refusals and closed connections; an attack that throws is reported as a trouble. It
   * runs in the process of the bench; the good client has a process of its own.
   */
  readonly attack: (context: Context, signal: AbortSignal) => Promise<void>;
  /**
   * The memory that the largest member may have at any time of the run (resident, in 10^6 bytes).
   */
  readonly memoryBoundMB: number;
  /** False if ZooKeeper lacks what is attacked; the attack is then not run against it. */
  readonly onZooKeeper: boolean;
  /**
   * Settings of the members that the attack is about; the members have the usual ones if absent.
   */
  readonly memberSettings?: Partial<MemberSettings>;
  /** The minimal duration of the attack in seconds: 10 if absent, and always 2 in a quick run. */
  readonly secondsMin?: number;
}
