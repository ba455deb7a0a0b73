/**
 * The type of a nemesis, which makes one kind of fault again and again.
 *
 * It strikes, keeps the fault for the time that it is given, and undoes it. The run afterwards
 * heals whatever it leaves. Its choices depend on `random` alone, and on who leads. This file has
 * types only.
 */
import type { Random } from '../../simulation/random.js';
import type { Members } from '../members.js';
import type { Network } from '../network.js';

export interface Nemesis {
  readonly name: string;
  /**
   * Set if it destroys data on a member's disk. It then strikes one member, never together with
   * another nemesis, and only when all others have everything that was acknowledged.
   */
  readonly isAlone?: true;
  /** Set if it needs something that not every kernel can do. */
  readonly needs?: 'weather';
  strike(field: Field, random: Random, holdMs: number): Promise<void>;
}

/** What nemeses have at hand. */
export interface Field {
  readonly members: Members;
  readonly network: Network;
  /** Resolves after this time, or earlier when the run is interrupted. */
  pause(ms: number): Promise<void>;
  /** Reports in one line what was done. */
  note(text: string): void;
  /** Reports why nothing could be done, which does not count as a strike. */
  miss(text: string): void;
}
