/**
 * Tracks a leader's learners, each for as long as its link lasts, and derives what is committed.
 *
 * A proposal is committed once a quorum has logged it. The leader counts as one of the members, but
 * need not be in that quorum. Invariant: an ACK counts only once the learner is `synced`, and only
 * on this link. ACK(NEWLEADER) is the first one and covers everything that synchronization sent.
 */
import type { AckEpoch, PeerId, Zxid } from '@rookery/protocol';
import type { Link, Replica } from './replica.js';
import type { ZabOptions } from './types.js';

/**
 * While more proposals than this are durable here but not committed yet, learners wait for COMMIT.
 * Their number is the difference of two zxids. It is far larger while the last committed one is of
 * an earlier epoch, so learners also wait until the first proposal of an epoch is committed.
 */
const FEW_PROPOSALS = 2;

export class Learner {
  readonly link: Link;
  /** Whether its vote counts in discovery. That of a wiped or new member does not. */
  readonly voter: boolean;
  readonly acceptedEpoch: number;
  epochSent = false;
  ackEpoch: AckEpoch | null = null;
  syncStarted = false;
  /** Everything up to this zxid has been sent or is in the snapshot. */
  sentThrough: Zxid = 0;
  /** NEWLEADER has been sent. From then on the learner gets every proposal as it is made. */
  caughtUp = false;
  /**
   * The learner has acknowledged NEWLEADER. In its own phases it is `acked` then, and `active` once
   * everything that UPTODATE names is delivered there.
   */
  synced = false;
  /** Everything up to this zxid is durable at the learner, as it has acknowledged. */
  match: Zxid = 0;
  /** The learner knows that the leader has this durable, so it needs no COMMIT for it. */
  toldDurable: Zxid = 0;
  /** Since when an acknowledgement has been pending without progress, in ms; null if none is. */
  ackPendingSinceMs: number | null = null;
  confirmedRound = 0;

  constructor(link: Link, voter: boolean, acceptedEpoch: number) {
    this.link = link;
    this.voter = voter;
    this.acceptedEpoch = acceptedEpoch;
  }

  /** Everything up to `zxid` has been sent. */
  onSent(zxid: Zxid, nowMs: number): void {
    this.sentThrough = zxid;
    if (this.caughtUp) this.ackPendingSinceMs ??= nowMs;
  }

  /** Everything up to `zxid` is durable there. */
  onAcknowledged(zxid: Zxid, nowMs: number): void {
    this.match = Math.max(this.match, zxid);
    this.ackPendingSinceMs = this.match >= this.sentThrough ? null : nowMs;
  }
}

export class Learners {
  readonly #byPeer = new Map<PeerId, Learner>();
  readonly #replica: Replica;

  /**
   * `member` is the leader. It is not in the map, and counts as synced: `reached` takes its value
   * as an argument, and for `isQuorum` and `mayElect` it meets every condition.
   */
  constructor(member: Replica) {
    this.#replica = member;
  }

  get(peer: PeerId): Learner | undefined {
    return this.#byPeer.get(peer);
  }
  set(learner: Learner): void {
    this.#byPeer.set(learner.link.peer, learner);
  }
  delete(peer: PeerId): boolean {
    return this.#byPeer.delete(peer);
  }
  all(): Iterable<Learner> {
    return this.#byPeer.values();
  }
  *synced(): Iterable<Learner> {
    for (const learner of this.#byPeer.values()) if (learner.synced) yield learner;
  }
  /** Learners whose acknowledgement is overdue. Joining may take longer than broadcast. */
  overdue(nowMs: number, patience: ZabOptions): readonly Learner[] {
    return [...this.#byPeer.values()].filter(({ ackPendingSinceMs, synced }) => {
      const patienceMs = synced ? patience.syncTimeoutMs : patience.initTimeoutMs;
      return ackPendingSinceMs !== null && nowMs - ackPendingSinceMs > patienceMs;
    });
  }
  /**
   * The highest value that a quorum of synced learners and this leader has reached. This leader has
   * reached `ownValue`.
   */
  reached(ownValue: number, of: (learner: Learner) => number): number {
    return this.#replica.quorums.value((id) => {
      if (id === this.#replica.id) return ownValue;
      const learner = this.#byPeer.get(id);
      return learner?.synced ? of(learner) : null;
    });
  }
  /** Whether the leader and the learners for which `is` holds are a quorum. */
  isQuorum(is: (learner: Learner) => boolean): boolean {
    return this.#replica.quorums.isQuorum((id) => this.#isOwnOr(id, is));
  }
  /** The same, counting only members with a vote. */
  mayElect(is: (learner: Learner) => boolean): boolean {
    return this.#replica.quorums.mayElect(
      (id) => this.#isOwnOr(id, (learner) => learner.voter && is(learner)),
      (id) => this.#isOwnOr(id, is),
    );
  }
  #isOwnOr(id: PeerId, is: (learner: Learner) => boolean): boolean {
    if (id === this.#replica.id) return true;
    const learner = this.#byPeer.get(id);
    return learner !== undefined && is(learner);
  }
  count(is: (learner: Learner) => boolean): number {
    let found = 0;
    for (const learner of this.#byPeer.values()) if (is(learner)) found += 1;
    return found;
  }

  /**
   * Tells learners what is durable here, if this leader and one learner are a quorum. Such a
   * learner commits what is durable at both, one round trip before a COMMIT could arrive. This is
   * done only while at most FEW_PROPOSALS are durable here but not committed yet. With more of them
   * COMMIT is cheaper: it travels with later proposals, and a message of its own for each batch
   * would cost throughput.
   */
  tellDurable(): void {
    const { id, history, committed, quorums } = this.#replica;
    const { durable } = history;
    if (durable <= committed || durable > committed + FEW_PROPOSALS) return;
    const message = { kind: 'leaderDurable', zxid: durable } as const;
    for (const learner of this.synced()) {
      const { link } = learner;
      if (durable <= learner.toldDurable) continue;
      if (!quorums.isQuorum((voter) => voter === id || voter === link.peer)) continue;
      learner.toldDurable = durable;
      this.#replica.send(link, message);
    }
  }

  /**
   * Commits what a quorum has logged, and tells the synced learners that do not count the quorum
   * themselves. Returns the new last committed zxid, or null if none.
   */
  commit(): Zxid | null {
    const { history } = this.#replica;
    const reached = this.reached(history.durable, ({ match }) => match);
    if (reached <= this.#replica.committed) return null;
    this.#replica.commit(reached);
    const message = { kind: 'commit', zxid: reached } as const;
    for (const { link, toldDurable } of this.synced()) {
      if (toldDurable < reached) this.#replica.send(link, message);
    }
    return reached;
  }
}

interface Confirmation {
  readonly id: number;
  /**
   * The last proposal when the question was asked, which the asker must see. The last commit would
   * not be enough: a client whose connection broke asks whether its write was done, which may not
   * be committed yet.
   */
  readonly zxid: Zxid;
}

/**
 * Rounds in which a leader asks its quorum whether it still leads (for sync and linearizable
 * reads).
 *
 * One round is under way at a time. Questions that are asked meanwhile share the next one, because
 * a round that began before a question proves nothing for it (ZOOKEEPER-1675, 2136). Called by
 * Leading while it serves.
 */
export class Confirmations {
  readonly #replica: Replica;
  readonly #learners: Learners;
  #round = 0;
  /** The questions of the round under way; empty if there is none. */
  #asked: Confirmation[] = [];
  #waiting: Confirmation[] = [];

  constructor(member: Replica, learners: Learners) {
    this.#replica = member;
    this.#learners = learners;
  }

  ask(id: number): void {
    this.#waiting.push({ id, zxid: this.#replica.history.last });
    if (this.#asked.length === 0) this.#begin();
  }

  /** Includes a learner that has just become synced in the round under way. */
  onSynced(learner: Learner): void {
    if (this.#asked.length > 0) this.#send(learner);
  }

  /** Returns false for an answer to a round that has not begun, which a peer cannot know. */
  onAnswer(learner: Learner, round: number): boolean {
    if (round > this.#round) return false;
    learner.confirmedRound = Math.max(learner.confirmedRound, round);
    if (this.#asked.length > 0) this.#maybeComplete();
    return true;
  }

  #begin(): void {
    this.#round += 1;
    this.#asked = this.#waiting;
    this.#waiting = [];
    for (const learner of this.#learners.synced()) this.#send(learner);
    this.#maybeComplete();
  }

  #send({ link }: Learner): void {
    this.#replica.send(link, { kind: 'confirm', round: this.#round });
  }

  #maybeComplete(): void {
    const round = this.#round;
    const answered = (learner: Learner) => learner.synced && learner.confirmedRound >= round;
    if (!this.#learners.isQuorum(answered)) return;
    const done = this.#asked;
    this.#asked = [];
    for (const { id, zxid } of done) this.#replica.emit({ kind: 'confirmed', id, zxid });
    if (this.#waiting.length > 0) this.#begin();
  }
}
