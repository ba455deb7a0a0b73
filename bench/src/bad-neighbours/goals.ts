/**
 * What must hold beside every bad neighbour, as bounds of the report: no election happens, no
 * member ends, no answer to the good client is slower than 250 ms, and no member exceeds the memory
 * bound. Pure.
 *
 * Each goal holds in every round, because a single slow answer is what a client remembers. Each
 * attack is a row of its own, so that the report names the neighbour that was not contained.
 */
import type { BadNeighbour } from './bad-neighbour.js';

export const SLOWEST_ANSWER_MS = 250;

export interface BadNeighbourGoal {
  readonly figure: string;
  readonly most: number;
}

export function goalsOf({ memoryBoundMB }: BadNeighbour): readonly BadNeighbourGoal[] {
  return [
    { figure: 'maxMs', most: SLOWEST_ANSWER_MS },
    { figure: 'elections', most: 0 },
    { figure: 'membersEnded', most: 0 },
    { figure: 'peakMb', most: memoryBoundMB },
  ];
}
