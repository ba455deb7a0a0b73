/**
 * The leader's part of synchronization: brings each learner from its history to the leader's.
 *
 * DIFF and TRUNC continue from the exact common point. What memory still holds is sent from there;
 * older history, and the snapshot of SNAP, are read from disk by the driver. NEWLEADER ends the
 * transfer, and afterwards the learner gets every proposal as it is made. A link carries at most
 * one transfer: when one is abandoned its link is dropped, so nothing of it can arrive later.
 */
import { type AckEpoch, epochOf, formatZxid, ProposalBatch, type Zxid } from '@rookery/protocol';
import type { History } from './history.js';
import type { Learner } from './learner.js';
import type { Lineage } from './lineage.js';
import type { Replica } from './replica.js';
import type { NoteFacts } from './types.js';

export class CatchUp {
  readonly #replica: Replica;
  readonly #epoch: number;

  constructor(member: Replica, epoch: number) {
    this.#replica = member;
    this.#epoch = epoch;
  }

  start(learner: Learner): void {
    if (learner.ackEpoch === null || learner.syncStarted) return;
    learner.syncStarted = true;
    const member = this.#replica;
    const plan = planSync(member.history, member.lineage, learner.ackEpoch);
    const { peer, link } = learner.link;
    const about = { peer, peerLast: formatZxid(learner.ackEpoch.last) };
    this.#noteDivergence(plan, about);
    if (plan.mode === 'snap') {
      member.note('sync.snap', { ...about, reason: plan.reason });
      this.#sendStart(learner, plan);
      learner.link.streaming = true;
      member.emit({ kind: 'sendSnapshot', peer, link });
      return;
    }
    const { last } = member.history;
    const range = { after: formatZxid(plan.after), through: formatZxid(last) };
    member.note(`sync.${plan.mode}`, { ...about, ...range });
    this.#sendStart(learner, plan);
    learner.sentThrough = plan.after;
    this.#continue(learner);
  }

  #noteDivergence(plan: SyncPlan, about: NoteFacts): void {
    if (plan.mode === 'diff' || plan.divergence === null) return;
    const { divergence: reason } = plan;
    this.#replica.note('sync.diverged', { ...about, after: formatZxid(plan.after), reason });
  }

  #sendStart(learner: Learner, plan: SyncPlan): void {
    const { history, lineage } = this.#replica;
    const diverged = plan.mode !== 'diff' && plan.divergence !== null;
    const { mode, after } = plan;
    const what = { mode, after, lineage: lineage.from(history.base), diverged };
    this.#replica.send(learner.link, { kind: 'syncStart', ...what });
  }

  onHistorySent(learner: Learner, through: Zxid): void {
    learner.link.streaming = false;
    learner.sentThrough = through;
    this.#continue(learner);
  }

  /**
   * Ends the snapshot; `onHistorySent` continues once the learner has verified it. Returns false if
   * the log does not continue from this snapshot, which is then useless.
   */
  onSnapshotSent(learner: Learner, zxid: Zxid): boolean {
    if (!this.#replica.history.has(zxid)) return false;
    this.#replica.send(learner.link, { kind: 'snapshotDone', zxid });
    return true;
  }

  /**
   * Sends the next part. The driver reads from disk what is no longer in memory and reports back.
   * What is in memory is also sent in parts, each when the link has room: it may be hundreds of
   * thousands of proposals, and a leader that sent them all at once would miss its heartbeats.
   */
  #continue(learner: Learner): void {
    const { history, options, ensembleId } = this.#replica;
    if (learner.sentThrough < history.windowBase) {
      this.#stream(learner, history.windowBase);
      return;
    }
    const { last } = history;
    if (learner.sentThrough < last) {
      const parts = history.slice(learner.sentThrough, last, options.chunkBytesMax);
      const batch = ProposalBatch.join(parts);
      this.#replica.send(learner.link, { kind: 'propose', batch });
      learner.sentThrough = batch.last;
      if (learner.sentThrough < last) {
        this.#stream(learner, learner.sentThrough);
        return;
      }
    }
    learner.caughtUp = true;
    learner.onSent(last, this.#replica.nowMs);
    const leaseMs = options.peerTimeoutMs;
    const facts = { epoch: this.#epoch, last, ensembleId, leaseMs };
    this.#replica.send(learner.link, { kind: 'newLeader', ...facts });
  }

  /** Asks for history up to `through` from disk, maybe none; `onHistorySent` continues. */
  #stream(learner: Learner, through: Zxid): void {
    const { peer, link } = learner.link;
    learner.link.streaming = true;
    const after = learner.sentThrough;
    this.#replica.emit({ kind: 'sendHistory', peer, link, after, through });
  }
}

type SyncPlan =
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

/**
 * Decides how a learner is brought to the leader's history: by DIFF, TRUNC or SNAP. Pure.
 *
 * Both sides report exactly which zxids they have, so the common point is exact and not guessed
 * from the newest zxid alone (ZOOKEEPER-1154, 2418, 2846, 4352).
 */
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
