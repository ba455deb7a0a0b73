/**
 * The role of a learner: discovery, synchronization and broadcast as seen by a follower.
 *
 * One rule prevents ZOOKEEPER-3911, 4394, 4643, 4646, 4685 and 4785: whatever a message promises or
 * acknowledges is durable before the message leaves. Storage works in order, so ACK(NEWLEADER),
 * which waits until currentEpoch is durable, implies that the synchronized history is durable, too.
 */
import {
  type AckEpoch,
  type CoreMessage,
  epochOf,
  formatZxid,
  type LeadershipOf,
  type NewEpoch,
  type NewLeader,
  type PeerId,
  type Propose,
  type SyncStart,
  type UpToDate,
  unreachable,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import type { Transfer } from './given-up.js';
import type { Link, Replica } from './replica.js';
import type { Role, Transitions } from './role.js';

type Phase = 'offering' | 'accepted' | 'snapshot' | 'syncing' | 'entering' | 'acked' | 'active';

export class Following implements Role {
  readonly name = 'following';
  readonly #replica: Replica;
  readonly #transitions: Transitions;
  readonly #leader: PeerId;
  #phase: Phase = 'offering';
  #progressAtMs: number;
  /** The newest zxid acknowledged to this leader. */
  #acked: Zxid = 0;
  /** The newest zxid that the leader has reported to be durable there; 0 before. */
  #leaderDurable: Zxid = 0;
  /** Clients are served once this zxid is applied; null before UPTODATE. */
  #serveFrom: Zxid | null = null;
  /**
   * The H of the leader, in ms: the longest lease of this role that the leader's deadlines for
   * sessions allow for. Infinite if the leader does not say it.
   */
  #leaseMs = Number.POSITIVE_INFINITY;
  /** The lineage of the leader whose snapshot is being received. */
  #snapshotLineage: readonly LeadershipOf[] = [];
  /** Whether the leader has announced that it leads. If it then looks again, its term is over. */
  #sawLeading = false;
  /** Whether the leader had a quorum without this member when it offered its epoch. */
  #isEstablished = false;
  /** Whether the disk was not full when the leader began to bring this member up to date. */
  #hadRoom = false;

  constructor(member: Replica, transitions: Transitions, leader: PeerId) {
    this.#replica = member;
    this.#transitions = transitions;
    this.#leader = leader;
    this.#progressAtMs = member.nowMs;
  }

  /** The only peer from which a snapshot is accepted now; null for none. */
  get snapshotFrom(): PeerId | null {
    return this.#phase === 'snapshot' ? this.#leader : null;
  }

  /** The leader has answered no ping that was sent since the clocks jumped. */
  get isDoubtful(): boolean {
    const link = this.#replica.linkOf(this.#leader);
    return link !== undefined && link.contactAtMs <= this.#replica.doubtedAtMs;
  }

  start(): void {
    const link = this.#replica.linkOf(this.#leader);
    if (link === undefined) {
      this.#transitions.look(`member ${this.#leader} is not reachable`);
      return;
    }
    this.#sawLeading = link.vote?.state === 'leading';
    this.#replica.sendToAll(this.vote());
    this.#replica.tickets.after(this.#replica.tickets.newest, () => {
      const acceptedEpoch = this.#replica.acceptedEpoch;
      this.#replica.send(link, { kind: 'followerInfo', acceptedEpoch });
    });
  }

  vote(): VoteMessage {
    const { currentEpoch: epoch, history } = this.#replica;
    return this.#replica.vote('following', { leader: this.#leader, epoch, zxid: history.last });
  }

  onTick(): void {
    const link = this.#replica.linkOf(this.#leader);
    if (link === undefined) return;
    const { peerTimeoutMs, initTimeoutMs } = this.#replica.options;
    // Only whoever serves needs a lease. Before, pings may wait behind a snapshot on a slow line.
    const heardAtMs = this.#serveFrom === null ? link.heardAtMs : link.contactAtMs;
    const silentMs = this.#replica.nowMs - heardAtMs;
    if (silentMs > Math.min(peerTimeoutMs, this.#leaseMs)) {
      const reason = `leader ${this.#leader} has not answered for ${Math.round(silentMs)} ms`;
      this.#replica.drop(link, reason);
      this.#transitions.look(reason);
      return;
    }
    const patienceMs = this.#patienceMs(peerTimeoutMs, initTimeoutMs);
    if (this.#replica.nowMs - this.#progressAtMs <= patienceMs) return;
    const reason = `nothing from leader ${this.#leader} for ${patienceMs} ms (${this.#phase})`;
    // Nothing that the leader sent in this term may arrive in the next one.
    this.#replica.drop(link, reason);
    this.#transitions.look(reason);
  }

  /**
   * How long the leader may take for its next message, in ms. There is no limit while something
   * else is waited for: a snapshot (the driver watches its chunks), this disk, or other learners.
   */
  #patienceMs(peerTimeoutMs: number, initTimeoutMs: number): number {
    switch (this.#phase) {
      case 'offering':
      case 'accepted':
        return 2 * peerTimeoutMs;
      case 'syncing':
        return initTimeoutMs;
      case 'snapshot':
      case 'entering':
      case 'acked':
      case 'active':
        return Number.POSITIVE_INFINITY;
      default:
        return unreachable(this.#phase);
    }
  }

  onConnected(link: Link): void {
    this.#replica.send(link, this.vote());
  }

  onDisconnected(peer: PeerId): void {
    if (peer === this.#leader) this.#transitions.look(`lost the link to leader ${peer}`);
  }

  onVote(link: Link): void {
    const vote = link.vote;
    if (vote === null) return;
    if (link.peer !== this.#leader) {
      if (vote.state === 'looking') this.#replica.send(link, this.vote());
      return;
    }
    if (vote.state === 'leading') {
      this.#sawLeading = true;
      if (this.#replica.isFull && vote.spares?.includes(this.#replica.id)) this.#stepOut();
      return;
    }
    const electing =
      this.#phase === 'offering' &&
      !this.#sawLeading &&
      vote.state === 'looking' &&
      vote.leader === this.#leader &&
      vote.round === this.#replica.round;
    if (!electing) this.#transitions.look(`member ${this.#leader} does not lead`);
  }

  onMessage(link: Link, message: CoreMessage): void {
    if (link.peer !== this.#leader) {
      this.#replica.note('following.ignored', { peer: link.peer, message: message.kind });
      return;
    }
    this.#progressAtMs = this.#replica.nowMs;
    switch (message.kind) {
      case 'newEpoch':
        return this.#onNewEpoch(link, message);
      case 'syncStart':
        return this.#onSyncStart(message);
      case 'snapshotDone':
        return this.#onSnapshotDone(message.zxid);
      case 'propose':
        return this.#onProposeMessage(message);
      case 'newLeader':
        return this.#onNewLeader(link, message);
      case 'upToDate':
        return this.#onUpToDate(message);
      case 'commit':
        return this.#onCommit(message.zxid);
      case 'leaderDurable':
        return this.#onLeaderDurable(message.zxid);
      case 'confirm':
        return this.#onConfirmMessage(link, message.round);
      default:
        this.#violation(message.kind);
    }
  }

  onRoom(): void {
    this.#replica.sendToAll(this.vote());
    if (this.#phase === 'snapshot' && this.#replica.room === 'scarce') this.#giveUp('snapshot');
  }

  onProgress(): void {
    if (this.#phase !== 'acked' && this.#phase !== 'active') return;
    const link = this.#replica.linkOf(this.#leader);
    const durable = this.#replica.history.durable;
    if (link !== undefined && durable > this.#acked) {
      this.#acked = durable;
      this.#replica.send(link, { kind: 'ack', zxid: durable });
    }
    this.#countQuorum();
    this.#maybeServe();
  }

  /**
   * Promises a higher epoch to this leader. The epoch that is already promised is promised again
   * only to the leader that has the promise, or to one that is established.
   */
  #onNewEpoch(link: Link, message: NewEpoch): void {
    const { acceptedEpoch, acceptedFrom } = this.#replica;
    // The leader got two offers and answers both; the second answer repeats the first.
    if (this.#phase === 'accepted' && message.epoch === acceptedEpoch) return;
    if (this.#phase !== 'offering') return this.#violation('newEpoch');
    const again =
      message.epoch === acceptedEpoch && (message.established || acceptedFrom === this.#leader);
    if (message.epoch <= acceptedEpoch && !again) {
      this.#replica.avoid(this.#leader);
      this.#transitions.look(
        `leader ${this.#leader} offers epoch ${message.epoch}, but ${acceptedEpoch} is promised`,
      );
      return;
    }
    this.#phase = 'accepted';
    this.#isEstablished = message.established;
    const ticket = this.#replica.acceptEpoch(message.epoch, this.#leader);
    this.#replica.tickets.after(ticket, () => this.#replica.send(link, this.#ackEpoch()));
  }

  #ackEpoch(): AckEpoch {
    const { acceptedEpoch, currentEpoch, history, delivered, sound, lineage } = this.#replica;
    return {
      kind: 'ackEpoch',
      epoch: acceptedEpoch,
      currentEpoch,
      last: history.last,
      applied: delivered,
      history: history.summary,
      snapshotOnly: !sound,
      lineage: lineage.from(history.base),
    };
  }

  #onSyncStart(message: SyncStart): void {
    if (this.#phase !== 'accepted') return this.#violation('syncStart');
    const { history, delivered, sound } = this.#replica;
    this.#hadRoom = !this.#replica.isFull;
    if (message.mode === 'snap') {
      if (this.#replica.room === 'scarce') return this.#giveUp('snapshot');
      if (message.diverged && sound) this.#discardHistory(message.after);
      this.#snapshotLineage = message.lineage;
      this.#phase = 'snapshot';
      return;
    }
    // A damaged disk has no log from which anything could continue.
    const legal =
      sound &&
      (message.mode === 'diff'
        ? message.after === history.last
        : history.has(message.after) && message.after >= delivered);
    if (!legal) {
      return this.#violation(`${message.mode} after ${formatZxid(message.after)}`);
    }
    if (message.mode === 'trunc') {
      if (message.diverged) this.#noteDiverged(message.after);
      this.#replica.truncate(message.after, message.diverged);
    }
    // After the truncation and before any append, so the lineage on disk always fits the log.
    this.#replica.followLineage(message.lineage, message.after);
    this.#phase = 'syncing';
  }

  /** The leader's snapshot may be older than what this member has applied. */
  #discardHistory(after: Zxid): void {
    this.#noteDiverged(after);
    this.#replica.giveUp(`what follows ${formatZxid(after)} is not the ensemble's history`, after);
  }

  #noteDiverged(after: Zxid): void {
    const { history, delivered } = this.#replica;
    this.#replica.note('history.diverged', {
      leader: this.#leader,
      after: formatZxid(after),
      last: formatZxid(history.last),
      applied: formatZxid(delivered),
    });
  }

  #onSnapshotDone(zxid: Zxid): void {
    const { delivered, acceptedEpoch } = this.#replica;
    const isOurs = zxid >= delivered && epochOf(zxid) <= acceptedEpoch;
    if (this.#phase !== 'snapshot' || !isOurs) {
      return this.#violation(`snapshot at ${formatZxid(zxid)} (applied ${formatZxid(delivered)})`);
    }
    this.#replica.installSnapshot(zxid, this.#snapshotLineage);
    this.#phase = 'syncing';
  }

  #onProposeMessage({ batch }: Propose): void {
    const open = this.#phase === 'syncing' || this.#phase === 'entering' || this.#broadcasting();
    const { history, acceptedEpoch } = this.#replica;
    if (!open || !history.continues(batch, acceptedEpoch)) {
      const what = `propose of ${formatZxid(batch.first)}`;
      return this.#violation(`${what} after ${formatZxid(history.last)}`);
    }
    // If the leader needs this member for its quorum, keep acknowledging while there is any room,
    // as in broadcast.
    const isSpare = this.#phase === 'syncing' && this.#isEstablished;
    if (isSpare && this.#replica.room === 'scarce') return this.#giveUp('log');
    this.#replica.append(batch);
  }

  #onNewLeader(link: Link, message: NewLeader): void {
    const { history, acceptedEpoch, founded, ensembleId } = this.#replica;
    const legal =
      this.#phase === 'syncing' &&
      message.epoch === acceptedEpoch &&
      message.last === history.last &&
      (!founded || message.ensembleId === ensembleId);
    if (!legal) return this.#violation(`newLeader of epoch ${message.epoch}`);
    this.#phase = 'entering';
    if (message.leaseMs > 0) this.#leaseMs = message.leaseMs;
    const ticket = this.#replica.enterEpoch(message.epoch, message.ensembleId);
    const { epoch, last } = message;
    this.#replica.tickets.after(ticket, () => {
      this.#phase = 'acked';
      this.#acked = last;
      this.#replica.send(link, { kind: 'ackNewLeader', epoch, last });
    });
  }

  #onUpToDate(message: UpToDate): void {
    const isDue = this.#phase === 'acked' && this.#serveFrom === null;
    if (!isDue || !this.#replica.knows(message.committed)) {
      return this.#violation(`upToDate at ${formatZxid(message.committed)}`);
    }
    this.#serveFrom = message.committed;
    this.#replica.settleFounding();
    this.#onCommit(message.committed);
  }

  #onCommit(zxid: Zxid): void {
    if (this.#serveFrom === null || !this.#replica.knows(zxid)) {
      return this.#violation(`commit of ${formatZxid(zxid)}`);
    }
    this.#replica.commit(zxid);
    this.#maybeServe();
  }

  #onLeaderDurable(zxid: Zxid): void {
    if (this.#serveFrom === null || !this.#replica.knows(zxid)) {
      return this.#violation(`leaderDurable of ${formatZxid(zxid)}`);
    }
    this.#leaderDurable = Math.max(this.#leaderDurable, zxid);
    this.#countQuorum();
    this.#maybeServe();
  }

  /**
   * Commits what is durable at both this member and its leader, where two members are a quorum.
   * Both logged it in the same epoch after the same history, so the next leader has it, too. This
   * is the leader's own rule (Zab, phase 3), applied here.
   */
  #countQuorum(): void {
    const { id, history, quorums, committed } = this.#replica;
    if (this.#leaderDurable <= committed) return;
    const reached = quorums.value((voter) => {
      if (voter === this.#leader) return this.#leaderDurable;
      return voter === id ? history.durable : null;
    });
    if (reached > committed) this.#replica.commit(reached);
  }

  /** Answers from ACK(NEWLEADER) on, because no newer leader has this member's promise then. */
  #onConfirmMessage(link: Link, round: number): void {
    if (!this.#broadcasting()) return this.#violation('confirm');
    this.#replica.send(link, { kind: 'confirmAck', round });
  }

  #broadcasting(): boolean {
    return this.#phase === 'acked' || this.#phase === 'active';
  }

  #maybeServe(): void {
    if (this.#phase !== 'acked' || this.#serveFrom === null) return;
    if (this.#replica.delivered < this.#serveFrom) return;
    // What the leader sent may have come so late that there is no lease any more.
    this.onTick();
    if (this.#replica.linkOf(this.#leader) === undefined) return;
    this.#phase = 'active';
    this.#replica.onServing();
    const epoch = this.#replica.currentEpoch;
    this.#replica.emit({ kind: 'role', role: 'following', leader: this.#leader, epoch });
    // The others learn that this member has an ensemble id and counts in elections from now on.
    this.#replica.sendToAll(this.vote());
  }

  /** Others with room are a quorum, so this member logs and acknowledges nothing any more. */
  #stepOut(): void {
    if (this.#phase === 'snapshot') this.#noteGivenUp('snapshot');
    this.#replica.note('disk.stepped_out', { leader: this.#leader });
    this.#transitions.look(`the disk is full, and leader ${this.#leader} does without this member`);
  }

  /** The transfer would use up the disk, and a failed write ends this process. */
  #giveUp(transfer: Transfer): void {
    const link = this.#replica.linkOf(this.#leader);
    const reason = `no room for the ${transfer} of leader ${this.#leader}`;
    this.#noteGivenUp(transfer);
    if (link !== undefined) this.#replica.drop(link, reason);
    this.#transitions.look(reason);
  }

  #noteGivenUp(transfer: Transfer): void {
    const attempt = { transfer, atMs: this.#replica.nowMs, hadRoom: this.#hadRoom };
    this.#replica.givenUp.onGivenUp(this.#leader, attempt);
  }

  /** Drops the link after a message that the protocol does not allow now, and looks again. */
  #violation(what: string): void {
    const link = this.#replica.linkOf(this.#leader);
    const reason = `unexpected ${what} from leader ${this.#leader} while ${this.#phase}`;
    this.#replica.avoid(this.#leader);
    if (link !== undefined) this.#replica.drop(link, reason);
    this.#transitions.look(reason);
  }
}
