/**
 * The role of a leader: discovery, synchronization, broadcast, confirmation.
 *
 * It steps down without a quorum, at a newer epoch or history, with a disk that hangs, when its
 * epoch is used up, and to hand over while its disk is full. Its parts: `discovery.ts` (which
 * answers count), `disputes.ts`, `learner.ts`, `catch-up.ts`, `room.ts`.
 */
import {
  type AckEpoch,
  type AckNewLeader,
  assert,
  COUNTER_MAX,
  type CoreMessage,
  counterOf,
  epochOf,
  formatZxid,
  type PeerId,
  type ProposalBatch,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import { CatchUp } from './catch-up.js';
import {
  chooseEpoch,
  counts,
  disputes,
  type Electorate,
  hasEpochQuorum,
  hasPromisedElsewhere,
  isNewer,
} from './discovery.js';
import { OUTVOTED, onDisputed } from './disputes.js';
import { Confirmations, Learner, Learners } from './learner.js';
import type { Link, Replica } from './replica.js';
import type { Role, Transitions } from './role.js';
import { LeadersRoom } from './room.js';
import type { LinkId } from './types.js';

type Phase = 'discovery' | 'epochAcks' | 'synchronization' | 'delivery' | 'broadcast';

export class Leading implements Role {
  readonly name = 'leading';
  readonly #replica: Replica;
  readonly #transitions: Transitions;
  readonly #electorate: Electorate;
  readonly #learners: Learners;
  readonly #confirmations: Confirmations;
  readonly #room: LeadersRoom;
  #phase: Phase = 'discovery';
  /** When this phase began or synchronization last made progress, in ms. */
  #progressAtMs: number;
  /** 0 until discovery has chosen it. */
  #epoch = 0;
  #epochDurable = false;
  /** The members that have promised `#epoch` to this leader, on any link, and still remember it. */
  readonly #promisedHere = new Set<PeerId>();
  /** Null until this member's own currentEpoch is durable: its own ACK(NEWLEADER). */
  #catchUp: CatchUp | null = null;
  #established = false;
  #ended = false;

  constructor(member: Replica, transitions: Transitions, founding: boolean) {
    this.#replica = member;
    this.#transitions = transitions;
    this.#learners = new Learners(member);
    this.#confirmations = new Confirmations(member, this.#learners);
    this.#room = new LeadersRoom(member, this.#learners);
    this.#electorate = { kind: founding ? 'founding' : 'members' };
    this.#progressAtMs = member.nowMs;
  }

  get learnerCount(): number {
    return this.#learners.count(() => true);
  }

  get syncedLearnerCount(): number {
    return this.#learners.count((learner) => learner.synced);
  }

  get spares(): readonly PeerId[] {
    return this.#room.spares;
  }

  /** No quorum has answered a ping that was sent since the clocks jumped. */
  get isDoubtful(): boolean {
    const { doubtedAtMs } = this.#replica;
    const isProven = (learner: Learner) => learner.synced && learner.link.contactAtMs > doubtedAtMs;
    return doubtedAtMs > Number.NEGATIVE_INFINITY && !this.#learners.isQuorum(isProven);
  }

  start(): void {
    this.#replica.sendToAll(this.vote());
    for (const link of this.#replica.links.values()) this.#adoptOffer(link);
    this.#maybeChooseEpoch();
  }

  vote(): VoteMessage {
    const { id, currentEpoch, history } = this.#replica;
    const named = { leader: id, epoch: this.#epoch || currentEpoch, zxid: history.last };
    const vote = this.#replica.vote('leading', named);
    const { spares } = this.#room;
    return spares.length === 0 ? vote : { ...vote, spares };
  }

  onTick(): void {
    const { nowMs, options } = this.#replica;
    this.#dropLaggards();
    if (this.#ended) return;
    if (this.#established) {
      const silentMs = nowMs - this.#learners.reached(nowMs, ({ link }) => link.contactAtMs);
      if (silentMs > options.peerTimeoutMs) {
        this.#stepDown(`no quorum has answered for ${Math.round(silentMs)} ms`);
      }
      this.#judgeRoom();
      return;
    }
    // A long transfer counts as progress: the driver drops its link when the transfer stalls.
    if (this.#learners.count((learner) => learner.link.streaming) > 0) return;
    const early = this.#phase === 'discovery' || this.#phase === 'epochAcks';
    const patienceMs = early ? 2 * options.peerTimeoutMs : options.initTimeoutMs;
    if (nowMs - this.#progressAtMs > patienceMs) {
      this.#stepDown(`no quorum of learners for ${patienceMs} ms (${this.#phase})`);
    }
  }

  /** A disk that hangs, the learner's or the leader's own, must not keep clients waiting. */
  #dropLaggards(): void {
    const { nowMs, options, writingSinceMs } = this.#replica;
    for (const { link } of this.#learners.overdue(nowMs, options)) {
      const reason = `member ${link.peer} acknowledges nothing any more`;
      this.#replica.drop(link, reason);
      this.#dropLearner(link.peer, reason);
    }
    const writingMs = writingSinceMs === null ? 0 : nowMs - writingSinceMs;
    if (writingMs > options.syncTimeoutMs) {
      this.#stepDown(`the disk here has written nothing for ${Math.round(writingMs)} ms`);
    }
  }

  onConnected(link: Link): void {
    this.#replica.send(link, this.vote());
  }

  onDisconnected(peer: PeerId): void {
    if (!this.#established) this.#replica.countByAll();
    this.#dropLearner(peer, `lost the link to member ${peer}`);
  }

  onVote(link: Link): void {
    const vote = link.vote;
    if (vote === null) return;
    if (!this.#established) this.#replica.countByAll();
    if (vote.state === 'looking') {
      // After a restart the learner does not know to whom it promised the epoch: its next offer is
      // judged accordingly.
      if (this.#learners.get(link.peer)?.ackEpoch === null) this.#promisedHere.delete(link.peer);
      this.#dropLearner(link.peer, `member ${link.peer} looks for a leader`);
      if (!this.#ended) this.#replica.send(link, this.vote());
    } else if (vote.state === 'following' && vote.leader !== this.#replica.id) {
      this.#dropLearner(link.peer, `member ${link.peer} follows ${vote.leader}`);
    } else if (vote.state === 'leading') {
      this.#dropLearner(link.peer, `member ${link.peer} leads`);
      if (this.#phase === 'discovery') this.#stepDown(`member ${link.peer} leads`);
    }
    this.#judgeRoom();
  }

  onRoom(): void {
    this.#replica.sendToAll(this.vote());
    this.#judgeRoom();
  }

  onMessage(link: Link, message: CoreMessage): void {
    if (message.kind === 'followerInfo') {
      this.#adoptOffer(link);
      this.#maybeChooseEpoch();
      return;
    }
    const learner = this.#learners.get(link.peer);
    if (learner === undefined) {
      this.#replica.note('leading.ignored', { peer: link.peer, message: message.kind });
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
        if (this.#confirmations.onAnswer(learner, message.round)) return;
        return this.#violation(learner, `confirmAck of round ${message.round}`);
      default:
        this.#violation(learner, message.kind);
    }
  }

  onProgress(): void {
    if (this.#phase !== 'broadcast') return this.#maybeBroadcast();
    this.#learners.tellDurable();
    this.#maybeCommit();
  }

  onPropose(batch: ProposalBatch): void {
    assert(this.#phase === 'broadcast', () => `propose in phase ${this.#phase}`);
    const isOwn = epochOf(batch.first) === this.#epoch;
    assert(isOwn, () => `a proposal that is not of epoch ${this.#epoch}`);
    this.#replica.append(batch);
    const message = { kind: 'propose', batch } as const;
    for (const learner of this.#learners.all()) {
      if (!learner.caughtUp) continue;
      learner.onSent(this.#replica.history.last, this.#replica.nowMs);
      this.#replica.send(learner.link, message);
    }
  }

  onConfirm(id: number): void {
    assert(this.#phase === 'broadcast', () => `confirm in phase ${this.#phase}`);
    this.#confirmations.ask(id);
  }

  onHistorySent(peer: PeerId, link: LinkId, through: Zxid): void {
    const learner = this.#streamingLearner(peer, link);
    if (learner !== null) this.#catchUp?.onHistorySent(learner, through);
  }

  onSnapshotSent(peer: PeerId, link: LinkId, zxid: Zxid): void {
    const learner = this.#streamingLearner(peer, link);
    if (learner === null || this.#catchUp?.onSnapshotSent(learner, zxid)) return;
    this.#violation(learner, `snapshot at ${formatZxid(zxid)}, older than the log,`);
  }

  // Discovery

  #adoptOffer(link: Link): void {
    const acceptedEpoch = link.offeredEpoch;
    if (acceptedEpoch === null) return;
    link.offeredEpoch = null;
    const learner = new Learner(link, counts(this.#replica, link, this.#electorate), acceptedEpoch);
    this.#learners.set(learner);
    if (this.#phase === 'discovery') return;
    const acked = this.#promisedHere.has(link.peer);
    const leader = { epoch: this.#epoch, established: this.#established, acked };
    if (hasPromisedElsewhere(learner, leader)) {
      return this.#stepDown(`member ${link.peer} has already promised epoch ${acceptedEpoch}`);
    }
    if (this.#epochDurable) this.#sendNewEpoch(learner);
  }

  #maybeChooseEpoch(): void {
    if (this.#phase !== 'discovery') return;
    const epoch = chooseEpoch(this.#replica, this.#learners);
    if (epoch === null) return;
    this.#epoch = epoch;
    this.#enterPhase('epochAcks');
    const ticket = this.#replica.acceptEpoch(epoch, this.#replica.id);
    this.#replica.tickets.after(ticket, () => {
      this.#epochDurable = true;
      for (const learner of this.#learners.all()) this.#sendNewEpoch(learner);
      this.#maybeSynchronize();
    });
  }

  #sendNewEpoch(learner: Learner): void {
    learner.epochSent = true;
    const established = this.#established;
    this.#replica.send(learner.link, { kind: 'newEpoch', epoch: this.#epoch, established });
  }

  #onAckEpoch(learner: Learner, message: AckEpoch): void {
    if (!learner.epochSent || learner.ackEpoch !== null || message.epoch !== this.#epoch) {
      return this.#violation(learner, `ackEpoch of ${message.epoch}`);
    }
    learner.ackEpoch = message;
    this.#promisedHere.add(learner.link.peer);
    if (this.#phase !== 'epochAcks') {
      this.#catchUp?.start(learner);
      return;
    }
    if (learner.voter && disputes(message, this.#replica)) {
      if (onDisputed(this.#replica, this.#learners, learner)) this.#stepDown(OUTVOTED);
      return;
    }
    if (learner.voter && isNewer(message, this.#replica)) {
      const theirs = `epoch=${message.currentEpoch} zxid=${formatZxid(message.last)}`;
      return this.#stepDown(`member ${learner.link.peer} has newer history (${theirs})`);
    }
    this.#maybeSynchronize();
  }

  // Synchronization

  #maybeSynchronize(): void {
    if (this.#phase !== 'epochAcks' || !this.#epochDurable) return;
    if (!hasEpochQuorum(this.#replica, this.#learners)) return;
    this.#enterPhase('synchronization');
    const ensembleId = this.#replica.ensembleId || this.#replica.options.newEnsembleId;
    const { newIdentity } = this.#replica.options;
    const ticket = this.#replica.enterEpoch(this.#epoch, ensembleId, newIdentity);
    this.#replica.tickets.after(ticket, () => {
      this.#catchUp = new CatchUp(this.#replica, this.#epoch);
      for (const learner of this.#learners.all()) this.#catchUp.start(learner);
      this.#maybeEstablish();
    });
  }

  #onAckNewLeader(learner: Learner, message: AckNewLeader): void {
    const legal =
      learner.caughtUp &&
      !learner.synced &&
      message.epoch === this.#epoch &&
      message.last <= learner.sentThrough &&
      this.#replica.knows(message.last);
    if (!legal) return this.#violation(learner, 'ackNewLeader');
    learner.synced = true;
    learner.onAcknowledged(message.last, this.#replica.nowMs);
    this.#progressAtMs = this.#replica.nowMs;
    if (this.#phase !== 'broadcast') return this.#maybeEstablish();
    // UPTODATE must come first: a COMMIT before it would reach a learner that may not deliver
    // (ZOOKEEPER-4394).
    this.#sendUpToDate(learner);
    this.#maybeCommit();
    this.#confirmations.onSynced(learner);
  }

  #maybeEstablish(): void {
    if (this.#phase !== 'synchronization' || this.#catchUp === null || this.#established) return;
    if (!this.#learners.isQuorum(({ synced }) => synced)) return;
    this.#established = true;
    this.#replica.tickets.after(this.#replica.settleFounding(), () => this.#establish());
  }

  /** The whole initial history is on a quorum: it is committed before the first new proposal. */
  #establish(): void {
    this.#enterPhase('delivery');
    this.#replica.commit(this.#replica.history.last);
    this.#maybeBroadcast();
  }

  /** New proposals are decided on a tree that contains all of it; no member serves before. */
  #maybeBroadcast(): void {
    const { id, history, delivered } = this.#replica;
    if (this.#phase !== 'delivery' || delivered < history.last) return;
    this.#enterPhase('broadcast');
    this.#replica.onServing();
    this.#replica.emit({ kind: 'role', role: 'leading', leader: id, epoch: this.#epoch });
    for (const learner of this.#learners.synced()) this.#sendUpToDate(learner);
    this.#replica.sendToAll(this.vote());
  }

  #sendUpToDate(learner: Learner): void {
    this.#replica.send(learner.link, { kind: 'upToDate', committed: this.#replica.committed });
  }

  // Broadcast

  #onAck(learner: Learner, zxid: Zxid): void {
    if (!learner.synced || zxid > learner.sentThrough || !this.#replica.knows(zxid)) {
      return this.#violation(learner, `ack of ${formatZxid(zxid)}`);
    }
    learner.onAcknowledged(zxid, this.#replica.nowMs);
    if (this.#phase === 'broadcast') this.#maybeCommit();
  }

  #maybeCommit(): void {
    const reached = this.#learners.commit();
    if (reached !== null && counterOf(reached) === COUNTER_MAX) {
      this.#stepDown(`the counter of epoch ${this.#epoch} is used up; a new epoch begins`);
    }
  }

  // Learners without room, and the end

  /** Tells everybody whom this leader does without, and its driver whether data is refused. */
  #judgeRoom(): void {
    if (this.#phase !== 'broadcast' || this.#ended) return;
    const { spares, refuses, full } = this.#room;
    this.#room.judge();
    if (this.#room.mayHandOver) return this.#handOver();
    if (!sameIds(spares, this.#room.spares)) {
      const members = this.#room.spares;
      if (members.length > 0) this.#replica.note('disk.spared', { members });
      else this.#replica.note('disk.spared_none', { epoch: this.#epoch });
      this.#replica.sendToAll(this.vote());
    }
    if (refuses === this.#room.refuses && sameIds(full, this.#room.full)) return;
    this.#replica.emit({ kind: 'refusal', isOn: this.#room.refuses, full: this.#room.full });
  }

  /** Looks, and stands for no election as long as members with room may win it. */
  #handOver(): void {
    this.#replica.handedOverAtMs = this.#replica.nowMs;
    this.#replica.note('disk.hands_over', { epoch: this.#epoch });
    this.#stepDown('the disk is full, and others with room are a majority');
  }

  /** A learner whose transfer has advanced: that is progress of synchronization. */
  #streamingLearner(peer: PeerId, link: LinkId): Learner | null {
    const learner = this.#learners.get(peer);
    if (learner?.link.link !== link || !learner.link.streaming) return null;
    this.#progressAtMs = this.#replica.nowMs;
    return learner;
  }

  /**
   * Steps down when the remaining learners are no longer a quorum. Before there was a quorum, any
   * reachable member may still offer to follow: stepping down for one that changed its mind could
   * repeat without end.
   */
  #dropLearner(peer: PeerId, reason: string): void {
    const learner = this.#learners.get(peer);
    if (learner === undefined) return;
    this.#learners.delete(peer);
    if (learner.link.streaming) this.#replica.drop(learner.link, `transfer given up: ${reason}`);
    const hasQuorum = this.#established
      ? this.#learners.isQuorum(({ synced }) => synced)
      : this.#replica.reachesQuorum;
    if (!hasQuorum) this.#stepDown(`no quorum: ${reason}`);
  }

  #violation(learner: Learner, what: string): void {
    const { peer } = learner.link;
    const reason = `unexpected ${what} from learner ${peer} while ${this.#phase}`;
    this.#replica.note('leading.violation', { peer, reason });
    learner.link.streaming = false;
    this.#replica.drop(learner.link, reason);
    this.#dropLearner(peer, reason);
  }

  #stepDown(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const learner of this.#learners.all()) {
      if (learner.link.streaming) this.#replica.drop(learner.link, 'transfer given up: step-down');
    }
    this.#transitions.look(reason);
  }

  #enterPhase(phase: Phase): void {
    this.#phase = phase;
    this.#progressAtMs = this.#replica.nowMs;
  }
}

function sameIds(some: readonly PeerId[], others: readonly PeerId[]): boolean {
  return some.length === others.length && some.every((id, index) => id === others[index]);
}
