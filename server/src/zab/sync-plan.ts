/**
 * Decides how a learner is brought to the leader's history: by DIFF, TRUNC or SNAP. Pure.
 *
 * Both sides report exactly which zxids they have, so the common point is exact and not guessed
 * from the newest zxid alone (ZOOKEEPER-1154, 2418, 2846, 4352).
 */
import { type AckEpoch, epochOf, type Zxid } from '@rookery/protocol';
import type { History } from './history.js';
import type { Lineage } from './lineage.js';

export type SyncPlan =
  | { readonly mode: 'diff'; readonly after: Zxid }
  | { readonly mode: 'trunc'; readonly after: Zxid; readonly divergence: string | null }
  | {
      readonly mode: 'snap';
      readonly reason: string;
      /** The newest zxid that both have; 0 if none is known. */
      readonly after: Zxid;
      /**
       * The reason if the histories diverged: lost acknowledged writes or two leaders; else null.
       */
      readonly divergence: string | null;
    };

export function planSync(leader: History, lineage: Lineage, learner: AckEpoch): SyncPlan {
  if (learner.snapshotOnly) return snap('its disk is damaged');
  if (learner.last === 0 && leader.last !== 0) return snap('it is empty');
  const conflict = lineage.firstConflict(learner.lineage);
  const common = leader.commonPoint(learner.history, conflict);
  const foreign = epochOf(learner.last) >= conflict ? foreignText(conflict) : null;
  if (common < 0) {
    // The leader's log reaches back far enough to contain it if it had ever been committed.
    const isForeign = learner.applied > leader.base;
    const divergence = foreign ?? (isForeign ? 'it applied what was never committed' : null);
    return snap(divergence ?? 'the log no longer reaches back to it', 0, divergence);
  }
  if (common < learner.applied) {
    const divergence = foreign ?? 'it applied what was never committed';
    return snap(divergence, common, divergence);
  }
  if (common === learner.last) return { mode: 'diff', after: common };
  return { mode: 'trunc', after: common, divergence: foreign };
}

function snap(reason: string, after: Zxid = 0, divergence: string | null = null): SyncPlan {
  return { mode: 'snap', reason, after, divergence };
}

function foreignText(epoch: number): string {
  return `another leadership of epoch ${epoch} proposed what it holds`;
}
