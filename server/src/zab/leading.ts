/**
 * The role of a leader: discovery, synchronization, broadcast, confirmation.
 *
 * It steps down as soon as it has no quorum, meets a newer epoch or newer history, or has used up
 * its epoch's counter. Pieces: `learner.ts` (one learner), `sync-plan.ts` (how it catches up),
 * `confirmations.ts` (does this leader still lead?).
 */
import {
  type AckEpoch,
  type AckNewLeader,
  assert,
  COUNTER_MAX,
  type CoreMessage,
  counterOf,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  type PeerId,
  type Proposal,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import { Confirmations } from './confirmations.js';
import { counts, type Electorate } from './electorate.js';
import { Learner } from './learner.js';
import type { Link, Member } from './member.js';
import { quorumValue } from './quorum.js';
import type { Role, Transitions } from './role.js';
import { planSync } from './sync-plan.js';
import type { LinkId } from './types.js';

type Phase = 'discovery' | 'epochAcks' | 'synchronization' | 'broadcast';

export class Leading implements Role {
  readonly name = 'leading';
  readonly #member: Member;
  readonly #transitions: Transitions;
  readonly #electorate: Electorate;
  readonly #learners = new Map<PeerId, Learner>();
  readonly #confirmations = new Confirmations();
  readonly #startedAtMs: number;
  #phase: Phase = 'discovery';
  /** 0 until discovery has chosen it. */
  #epoch = 0;
  #epochDurable = false;
  /** This member's own ACK(NEWLEADER). */
  #entered = false;
  #establishing = false;

  constructor(member: Member, transitions: Transitions, founding: boolean) {
    this.#member = member;
    this.#transitions = transitions;
    this.#electorate = { kind: founding ? 'founding' : 'members' };
    this.#startedAtMs = member.nowMs;
  }

  get activeLearners(): number {
    return [...this.#active()].length;
  }

  start(): void {
    for (const link of this.#member.links.values()) this.#member.send(link, this.vote());
    for (const link of this.#member.links.values()) this.#adoptOffer(link);
    this.#maybeChooseEpoch();
  }

  vote(): VoteMessage {
    const { ensembleId, founded, sound, round, id, currentEpoch, history } = this.#member;
    const view = { leader: id, epoch: this.#epoch || currentEpoch, zxid: history.last };
    return { kind: 'vote', state: 'leading', round, ...view, ensembleId, founded, sound };
  }

  onTick(): void {
    const { nowMs, options } = this.#member;
    if (this.#phase === 'broadcast') {
      const contacts = [...this.#active()].map((learner) => learner.link.contactAtMs);
      const silentMs = nowMs - quorumValue([nowMs, ...contacts], options.voters.length);
      if (silentMs > options.timeoutMs) {
        this.#transitions.look(`no quorum has answered for ${silentMs} ms`);
      }
      return;
    }
    const early = this.#phase === 'discovery' || this.#phase === 'epochAcks';
    const patienceMs = early ? 2 * options.timeoutMs : options.initTimeoutMs;
    if (nowMs - this.#startedAtMs > patienceMs) {
      this.#transitions.look(`no quorum of learners (${this.#phase})`);
    }
  }

  onConnected(link: Link): void {
    this.#member.send(link, this.vote());
  }

  onDisconnected(peer: PeerId): void {
    this.#dropLearner(peer, `lost the link to member ${peer}`);
  }

  onVote(link: Link): void {
    const vote = link.vote;
    if (vote === null) return;
    if (vote.state === 'looking') {
      this.#dropLearner(link.peer, `member ${link.peer} looks for a leader`);
      this.#member.send(link, this.vote());
    } else if (vote.state === 'following' && vote.leader !== this.#member.id) {
      this.#dropLearner(link.peer, `member ${link.peer} follows ${vote.leader}`);
    } else if (vote.state === 'leading' && this.#phase === 'discovery') {
      this.#transitions.look(`member ${link.peer} leads`);
    }
  }

  onMessage(link: Link, message: CoreMessage): void {
    if (message.kind === 'followerInfo') {
      this.#adoptOffer(link);
      this.#maybeChooseEpoch();
      return;
    }
    const learner = this.#learners.get(link.peer);
    if (learner === undefined) {
      this.#member.note('leading.ignored', `${message.kind} from ${link.peer}: no learner`);
      return;
    }
    switch (message.kind) {
      case 'ackEpoch':
        return this.#onAckEpoch(learner, message);
      case 'ackNewLeader':
        return this.#onAckNewLeader(learner, message);
      case 'ack':
        return this.#onAck(learner, message.zxid);
      case 'confirmAck':
        learner.confirmedRound = Math.max(learner.confirmedRound, message.round);
        return this.#maybeConfirm();
      default:
        this.#violation(learner, message.kind);
    }
  }

  onPersisted(): void {
    if (this.#phase === 'broadcast') this.#maybeCommit();
  }

  onPropose(proposals: readonly Proposal[]): void {
    assert(this.#phase === 'broadcast', `propose in phase ${this.#phase}`);
    const first = proposals[0];
    assert(
      first !== undefined && epochOf(first.zxid) === this.#epoch,
      `a proposal that is not of epoch ${this.#epoch}`,
    );
    this.#member.append(proposals);
    const message = { kind: 'propose', proposals } as const;
    for (const learner of this.#learners.values()) {
      if (!learner.caughtUp) continue;
      learner.sentThrough = this.#member.history.last;
      this.#member.send(learner.link, message);
    }
  }

  onConfirm(id: number): void {
    assert(this.#phase === 'broadcast', `confirm in phase ${this.#phase}`);
    const round = this.#confirmations.ask({ id, zxid: this.#member.committed });
    if (round !== null) this.#sendConfirm(round);
  }

  onHistorySent(peer: PeerId, link: LinkId, through: Zxid): void {
    const learner = this.#learners.get(peer);
    if (learner === undefined || learner.link.link !== link) return;
    learner.sentThrough = through;
    this.#catchUp(learner);
  }

  onSnapshotSent(peer: PeerId, link: LinkId, zxid: Zxid): void {
    const learner = this.#learners.get(peer);
    if (learner === undefined || learner.link.link !== link) return;
    if (!this.#member.history.has(zxid)) {
      this.#violation(learner, `snapshot at ${formatZxid(zxid)}, older than the log`);
      return;
    }
    this.#member.send(learner.link, { kind: 'snapshotDone', zxid });
    learner.sentThrough = zxid;
    this.#catchUp(learner);
  }

  // Discovery

  #adoptOffer(link: Link): void {
    const acceptedEpoch = link.offeredEpoch;
    if (acceptedEpoch === null) return;
    link.offeredEpoch = null;
    const voter = counts(this.#member, link, this.#electorate);
    const learner = new Learner(link, voter, acceptedEpoch);
    this.#learners.set(link.peer, learner);
    if (this.#phase === 'discovery') return;
    const established = this.#phase === 'broadcast';
    const promised = established ? acceptedEpoch > this.#epoch : acceptedEpoch >= this.#epoch;
    if (voter && promised) {
      this.#transitions.look(`member ${link.peer} has already promised epoch ${acceptedEpoch}`);
      return;
    }
    if (this.#epochDurable) this.#sendNewEpoch(learner);
  }

  #maybeChooseEpoch(): void {
    if (this.#phase !== 'discovery') return;
    const offers = [...this.#learners.values()].filter((learner) => learner.voter);
    if (offers.length + 1 < this.#member.quorum) return;
    const promised = offers.map((learner) => learner.acceptedEpoch);
    this.#epoch = Math.max(this.#member.acceptedEpoch, ...promised) + 1;
    assert(this.#epoch <= EPOCH_MAX, `epoch ${this.#epoch} is beyond ${EPOCH_MAX}`);
    this.#phase = 'epochAcks';
    const ticket = this.#member.acceptEpoch(this.#epoch, this.#member.id);
    this.#member.tickets.after(ticket, () => {
      this.#epochDurable = true;
      for (const learner of this.#learners.values()) this.#sendNewEpoch(learner);
      this.#maybeSynchronize();
    });
  }

  #sendNewEpoch(learner: Learner): void {
    learner.epochSent = true;
    const established = this.#phase === 'broadcast';
    this.#member.send(learner.link, { kind: 'newEpoch', epoch: this.#epoch, established });
  }

  #onAckEpoch(learner: Learner, message: AckEpoch): void {
    if (!learner.epochSent || learner.ackEpoch !== null || message.epoch !== this.#epoch) {
      return this.#violation(learner, `ackEpoch of ${message.epoch}`);
    }
    learner.ackEpoch = message;
    if (this.#phase === 'epochAcks') {
      if (learner.voter && this.#isNewer(message)) {
        const last = formatZxid(message.last);
        this.#transitions.look(`member ${learner.link.peer} has newer history (${last})`);
        return;
      }
      this.#maybeSynchronize();
    } else if (this.#entered) {
      this.#startSync(learner);
    }
  }

  #isNewer(message: AckEpoch): boolean {
    const { currentEpoch, history } = this.#member;
    if (message.currentEpoch !== currentEpoch) return message.currentEpoch > currentEpoch;
    return message.last > history.last;
  }

  // Synchronization

  #maybeSynchronize(): void {
    if (this.#phase !== 'epochAcks' || !this.#epochDurable) return;
    const acks = [...this.#learners.values()].filter(
      (learner) => learner.voter && learner.ackEpoch !== null,
    );
    if (acks.length + 1 < this.#member.quorum) return;
    this.#phase = 'synchronization';
    const ensembleId = this.#member.ensembleId || this.#member.options.newEnsembleId;
    const ticket = this.#member.enterEpoch(this.#epoch, ensembleId);
    this.#member.tickets.after(ticket, () => {
      this.#entered = true;
      for (const learner of this.#learners.values()) {
        if (learner.ackEpoch !== null) this.#startSync(learner);
      }
      this.#maybeEstablish();
    });
  }

  #startSync(learner: Learner): void {
    if (learner.ackEpoch === null || learner.syncStarted) return;
    learner.syncStarted = true;
    const plan = planSync(this.#member.history, learner.ackEpoch);
    const { peer, link } = learner.link;
    if (plan.mode === 'snap') {
      this.#member.note('sync.snap', `peer=${peer} because ${plan.reason}`);
      this.#member.send(learner.link, { kind: 'syncStart', mode: 'snap', after: 0 });
      this.#member.emit({ kind: 'sendSnapshot', peer, link });
      return;
    }
    this.#member.note(`sync.${plan.mode}`, `peer=${peer} after=${formatZxid(plan.after)}`);
    this.#member.send(learner.link, { kind: 'syncStart', mode: plan.mode, after: plan.after });
    learner.sentThrough = plan.after;
    this.#catchUp(learner);
  }

  /** What memory does not reach is read from disk by the driver, which then reports back. */
  #catchUp(learner: Learner): void {
    const { history, options, ensembleId } = this.#member;
    const { peer, link } = learner.link;
    if (learner.sentThrough < history.windowBase) {
      const after = learner.sentThrough;
      this.#member.emit({ kind: 'sendHistory', peer, link, after, through: history.windowBase });
      return;
    }
    const missing = history.slice(learner.sentThrough, history.last);
    for (const proposals of chunksOf(missing, options.chunkBytesMax)) {
      this.#member.send(learner.link, { kind: 'propose', proposals });
    }
    learner.sentThrough = history.last;
    learner.caughtUp = true;
    const last = history.last;
    this.#member.send(learner.link, { kind: 'newLeader', epoch: this.#epoch, last, ensembleId });
  }

  #onAckNewLeader(learner: Learner, message: AckNewLeader): void {
    const legal =
      learner.caughtUp &&
      !learner.active &&
      message.epoch === this.#epoch &&
      message.last <= learner.sentThrough;
    if (!legal) return this.#violation(learner, 'ackNewLeader');
    learner.active = true;
    learner.match = message.last;
    if (this.#phase === 'broadcast') {
      this.#maybeCommit();
      this.#sendUpToDate(learner);
    } else {
      this.#maybeEstablish();
    }
  }

  #maybeEstablish(): void {
    if (this.#phase !== 'synchronization' || !this.#entered || this.#establishing) return;
    if ([...this.#active()].length + 1 < this.#member.quorum) return;
    this.#establishing = true;
    this.#member.tickets.after(this.#member.found(), () => this.#establish());
  }

  /** The whole initial history is on a quorum: it is committed before the first new proposal. */
  #establish(): void {
    this.#phase = 'broadcast';
    this.#member.commit(this.#member.history.last);
    const { id } = this.#member;
    this.#member.emit({ kind: 'role', role: 'leading', leader: id, epoch: this.#epoch });
    for (const learner of this.#active()) this.#sendUpToDate(learner);
  }

  #sendUpToDate(learner: Learner): void {
    this.#member.send(learner.link, { kind: 'upToDate', committed: this.#member.committed });
  }

  // Broadcast

  #onAck(learner: Learner, zxid: Zxid): void {
    if (!learner.active || zxid > learner.sentThrough) {
      return this.#violation(learner, `ack of ${formatZxid(zxid)}`);
    }
    learner.match = Math.max(learner.match, zxid);
    if (this.#phase === 'broadcast') this.#maybeCommit();
  }

  #maybeCommit(): void {
    const { history, options } = this.#member;
    const matches = [history.durable];
    for (const learner of this.#active()) matches.push(learner.match);
    const reached = quorumValue(matches, options.voters.length);
    if (reached <= this.#member.committed) return;
    this.#member.commit(reached);
    const message = { kind: 'commit', zxid: reached } as const;
    for (const learner of this.#active()) this.#member.send(learner.link, message);
    if (counterOf(reached) === COUNTER_MAX) {
      this.#transitions.look(`the counter of epoch ${this.#epoch} is used up`);
    }
  }

  #sendConfirm(round: number): void {
    for (const learner of this.#active()) {
      this.#member.send(learner.link, { kind: 'confirm', round });
    }
    this.#maybeConfirm();
  }

  #maybeConfirm(): void {
    const round = this.#confirmations.round;
    if (round === null) return;
    let answers = 1;
    for (const learner of this.#active()) if (learner.confirmedRound >= round) answers += 1;
    if (answers < this.#member.quorum) return;
    const { done, next } = this.#confirmations.complete();
    for (const { id, zxid } of done) this.#member.emit({ kind: 'confirmed', id, zxid });
    if (next !== null) this.#sendConfirm(next);
  }

  // Learners

  *#active(): Iterable<Learner> {
    for (const learner of this.#learners.values()) if (learner.active) yield learner;
  }

  /** Steps down when those left are no quorum any more. */
  #dropLearner(peer: PeerId, reason: string): void {
    if (!this.#learners.delete(peer) || this.#phase === 'discovery') return;
    const left = [...this.#learners.values()].filter((learner) =>
      this.#phase === 'broadcast' ? learner.active : learner.voter || learner.caughtUp,
    );
    if (left.length + 1 < this.#member.quorum) this.#transitions.look(`no quorum: ${reason}`);
  }

  #violation(learner: Learner, what: string): void {
    const reason = `unexpected ${what} from a learner while ${this.#phase}`;
    this.#member.drop(learner.link, reason);
    this.#dropLearner(learner.link.peer, reason);
  }
}

function* chunksOf(proposals: readonly Proposal[], bytesMax: number): Iterable<Proposal[]> {
  let chunk: Proposal[] = [];
  let bytes = 0;
  for (const proposal of proposals) {
    chunk.push(proposal);
    bytes += proposal.body.length;
    if (bytes < bytesMax) continue;
    yield chunk;
    chunk = [];
    bytes = 0;
  }
  if (chunk.length > 0) yield chunk;
}
