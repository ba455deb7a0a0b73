/**
 * The leader's part of synchronization: brings each learner from its history to the leader's.
 *
 * DIFF and TRUNC continue from the exact common point. What memory still holds is sent from there;
 * older history, and the snapshot of SNAP, are read from disk by the driver. NEWLEADER ends the
 * transfer, and afterwards the learner gets every proposal as it is made. A link carries at most
 * one transfer: when one is abandoned its link is dropped, so nothing of it can arrive later.
 */
import { formatZxid, ProposalBatch, type Zxid } from '@rookery/protocol';
import type { Learner } from './learner.js';
import type { Member } from './member.js';
import { planSync, type SyncPlan } from './sync-plan.js';
import type { NoteFacts } from './types.js';

export class CatchUp {
  readonly #member: Member;
  readonly #epoch: number;

  constructor(member: Member, epoch: number) {
    this.#member = member;
    this.#epoch = epoch;
  }

  start(learner: Learner): void {
    if (learner.ackEpoch === null || learner.syncStarted) return;
    learner.syncStarted = true;
    const member = this.#member;
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
    this.#member.note('sync.diverged', { ...about, after: formatZxid(plan.after), reason });
  }

  #sendStart(learner: Learner, plan: SyncPlan): void {
    const { history, lineage } = this.#member;
    const diverged = plan.mode !== 'diff' && plan.divergence !== null;
    const { mode, after } = plan;
    const what = { mode, after, lineage: lineage.from(history.base), diverged };
    this.#member.send(learner.link, { kind: 'syncStart', ...what });
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
    if (!this.#member.history.has(zxid)) return false;
    this.#member.send(learner.link, { kind: 'snapshotDone', zxid });
    return true;
  }

  /**
   * Sends the next part. The driver reads from disk what is no longer in memory and reports back.
   * What is in memory is also sent in parts, each when the link has room: it may be hundreds of
   * thousands of proposals, and a leader that sent them all at once would miss its heartbeats.
   */
  #continue(learner: Learner): void {
    const { history, options, ensembleId } = this.#member;
    if (learner.sentThrough < history.windowBase) {
      this.#stream(learner, history.windowBase);
      return;
    }
    const { last } = history;
    if (learner.sentThrough < last) {
      const parts = history.slice(learner.sentThrough, last, options.chunkBytesMax);
      const batch = ProposalBatch.join(parts);
      this.#member.send(learner.link, { kind: 'propose', batch });
      learner.sentThrough = batch.last;
      if (learner.sentThrough < last) {
        this.#stream(learner, learner.sentThrough);
        return;
      }
    }
    learner.caughtUp = true;
    learner.onSent(last, this.#member.nowMs);
    const leaseMs = options.peerTimeoutMs;
    const facts = { epoch: this.#epoch, last, ensembleId, leaseMs };
    this.#member.send(learner.link, { kind: 'newLeader', ...facts });
  }

  /** Asks for history up to `through` from disk, maybe none; `onHistorySent` continues. */
  #stream(learner: Learner, through: Zxid): void {
    const { peer, link } = learner.link;
    learner.link.streaming = true;
    const after = learner.sentThrough;
    this.#member.emit({ kind: 'sendHistory', peer, link, after, through });
  }
}
