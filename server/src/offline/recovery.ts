/**
 * Recovers the state of an ensemble that has permanently lost its majority, for a new ensemble.
 *
 * The survivor with the newest log has every committed write that any survivor has: a member logs
 * nothing of an epoch before it has the whole history of the epoch's leader. The end of its log may
 * contain writes that were never acknowledged to a client.
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
