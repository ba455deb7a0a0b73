/**
 * What a nemesis is: somebody who makes one kind of trouble, again and again.
 *
 * It strikes, holds for the time it is given, and undoes what it did. Whatever it leaves is healed
 * by the run afterwards. Its choices come from `random` alone, but for who leads. Types only.
 */
import type { Random } from '../../simulation/random.js';
import type { Members } from '../members.js';
import type { Network } from '../network.js';

export interface Nemesis {
  readonly name: string;
  /**
   * It destroys what a member has on its disk: it strikes one member, never together with another
   * nemesis, and only when all others have everything that was acknowledged.
   */
  readonly isAlone?: true;
  /** It needs what not every kernel can do. */
  readonly needs?: 'weather';
  strike(field: Field, random: Random, holdMs: number): Promise<void>;
}

/** What nemeses work on. */
export interface Field {
  readonly members: Members;
  readonly network: Network;
  /** Resolves after this time, sooner when the run is broken off. */
  pause(ms: number): Promise<void>;
  /** What was done, for the report: one line. */
  note(text: string): void;
  /** Why nothing could be done: in the report like a note, and it does not count as a strike. */
  miss(text: string): void;
}
