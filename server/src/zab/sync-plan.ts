/**
 * How a learner is brought to the leader's history: DIFF, TRUNC or SNAP. A pure decision.
 *
 * Both sides say exactly which zxids they hold, so the common point is exact and never guessed
 * from the newest zxid alone (ZOOKEEPER-1154, 2418, 2846, 4352).
 */
import type { AckEpoch, Zxid } from '@rookery/protocol';
import type { History } from './history.js';

export type SyncPlan =
  | { readonly mode: 'diff'; readonly after: Zxid }
  | { readonly mode: 'trunc'; readonly after: Zxid }
  | { readonly mode: 'snap'; readonly reason: string };

export function planSync(leader: History, learner: AckEpoch): SyncPlan {
  if (learner.snapshotOnly) return { mode: 'snap', reason: 'its disk is damaged' };
  if (learner.last === 0 && leader.last !== 0) return { mode: 'snap', reason: 'it is empty' };
  const common = leader.commonPoint(learner.history);
  if (common < 0) return { mode: 'snap', reason: 'the log no longer reaches back to it' };
  if (common < learner.applied)
    return { mode: 'snap', reason: 'it applied what was never committed' };
  if (common === learner.last) return { mode: 'diff', after: common };
  return { mode: 'trunc', after: common };
}
