/**
 * Synchronization as the leader does it: brings each learner from its history to the leader's.
 *
 * DIFF and TRUNC go on from the exact common point, out of memory where it reaches back far enough,
 * else by the driver from disk; SNAP by the driver too. Ends with NEWLEADER, after which the
 * learner gets every proposal as it is made. A link carries at most one such transfer ever: when
 * one is given up half way, so is its link, and nothing of it can turn up in the next.
 */
import { formatZxid, ProposalBatch, type Zxid } from '@rookery/protocol';
import type { Learner } from './learner.js';
import type { Member } from './member.js';
import { planSync, type SyncPlan } from './sync-plan.js';

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
    const about = `peer=${peer} peerLast=${formatZxid(learner.ackEpoch.last)}`;
    this.#noteDivergence(plan, about);
    if (plan.mode === 'snap') {
      member.note('sync.snap', `${about} reason="${plan.reason}"`);
      this.#sendStart(learner, plan);
      learner.link.streaming = true;
      member.emit({ kind: 'sendSnapshot', peer, link });
      return;
    }
    const { last } = member.history;
    member.note(
      `sync.${plan.mode}`,
      `${about} after=${formatZxid(plan.after)} through=${formatZxid(last)}`,
    );
    this.#sendStart(learner, plan);
    learner.sentThrough = plan.after;
    this.#continue(learner);
  }

  #noteDivergence(plan: SyncPlan, about: string): void {
    if (plan.mode === 'diff' || plan.divergence === null) return;
    const detail = `${about} after=${formatZxid(plan.after)} reason="${plan.divergence}"`;
    this.#member.note('sync.diverged', detail);
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

  /** False: the log does not go on from this snapshot, nothing can be built on it. */
  onSnapshotSent(learner: Learner, zxid: Zxid): boolean {
    learner.link.streaming = false;
    if (!this.#member.history.has(zxid)) return false;
    this.#member.send(learner.link, { kind: 'snapshotDone', zxid });
    learner.sentThrough = zxid;
    this.#continue(learner);
    return true;
  }

  /**
   * What memory does not reach is read from disk by the driver, which then reports back. What it
   * does reach goes in parts, too, each when the link has room for it: all of it at once are
   * hundreds of thousands of proposals, and nobody hears from a leader that is busy with them.
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
    const leaseMs = options.timeoutMs;
    const facts = { epoch: this.#epoch, last, ensembleId, leaseMs };
    this.#member.send(learner.link, { kind: 'newLeader', ...facts });
  }

  /** Up to `through` from disk, maybe nothing; `onHistorySent` goes on from there. */
  #stream(learner: Learner, through: Zxid): void {
    const { peer, link } = learner.link;
    learner.link.streaming = true;
    const after = learner.sentThrough;
    this.#member.emit({ kind: 'sendHistory', peer, link, after, through });
  }
}
