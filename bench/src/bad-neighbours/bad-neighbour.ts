/**
 * What a bad neighbour is: a client that does its worst, and the bound that it must not break.
 *
 * Each lives in a file of its own beside this one and is listed in `all.ts`. `scenario.ts` runs it
 * beside a good client, and `goals.ts` says what the good client and the members must be spared.
 */
import type { Context } from '../run/context.js';
import type { MemberSettings } from '../systems/plan.js';

export interface BadNeighbour {
  /** Of the scenario; begins with `bad-`. */
  readonly name: string;
  /** One line: what it does. */
  readonly what: string;
  /**
   * Makes what the attack needs, before anything is measured: large trees, many watches. Sizes come
   * from `context.settings.isQuick`. What is opened by `context.client()` lives until the run ends.
   */
  readonly prepare?: (context: Context) => Promise<void>;
  /**
   * Does its worst until the signal is aborted, or ends earlier when it has done it all. Refusals
   * and closed connections are what it must expect; an attack that throws is reported as a trouble.
   * It runs in the process of the bench; the good client has a process of its own.
   */
  readonly attack: (context: Context, signal: AbortSignal) => Promise<void>;
  /** What the largest member may take at any time of the run (resident, in 10^6 bytes). */
  readonly memoryBoundMB: number;
  /** False where ZooKeeper lacks what is attacked: it is not run there. */
  readonly onZooKeeper: boolean;
  /** Settings of the members that the attack is about; the usual ones when absent. */
  readonly memberSettings?: Partial<MemberSettings>;
  /** Of the attack, at least; 10 when absent, and 2 of a quick run whatever is said here. */
  readonly secondsMin?: number;
}
