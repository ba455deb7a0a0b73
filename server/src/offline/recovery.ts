/**
 * What is left of an ensemble that has lost its majority for good, as the state of a new one.
 *
 * Of the members that survive, the one with the newest log has all that any of them has of what was
 * committed: a member logs nothing of an epoch before it has the whole history of the epoch's
 * leader. The end of its log may hold writes that no client was told of.
 */
import { exportedNodes } from './exported-nodes.js';
import { type RestorePlan, RestorePlanner } from './restore-plan.js';
import type { StoppedMember } from './stopped-member.js';

/** Null for none. */
export function newestSurvivor<T extends Pick<StoppedMember, 'state'>>(
  survivors: readonly T[],
): T | null {
  let newest: T | null = null;
  for (const one of survivors) {
    if (newest === null || one.state.lastZxid > newest.state.lastZxid) newest = one;
  }
  return newest;
}

/** Throws OperatorError. */
export function recoveryPlan({ state }: Pick<StoppedMember, 'state'>): RestorePlan {
  const planner = new RestorePlanner();
  for (const node of exportedNodes(state)) planner.add(node);
  return planner.plan(BigInt(state.lastZxid));
}
