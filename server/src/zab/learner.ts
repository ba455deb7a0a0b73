/**
 * What a leader knows about its learners, each for as long as its link lasts.
 *
 * Invariant: an ACK counts only once the learner is `synced`, and only on this link. ACK(NEWLEADER)
 * is the first one and covers everything that synchronization sent.
 */
import type { AckEpoch, PeerId, Zxid } from '@rookery/protocol';
import type { Link } from './member.js';
import type { Quorums } from './quorum.js';
import type { ZabOptions } from './types.js';

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
   * it has UPTODATE.
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

type Patience = Pick<ZabOptions, 'syncTimeoutMs' | 'initTimeoutMs'>;

export class Learners {
  readonly #byPeer = new Map<PeerId, Learner>();
  readonly #quorums: Quorums;
  readonly #ownId: PeerId;

  /**
   * `ownId` is the leader's, which counts as synced. `reached` is told its value; `isQuorum` and
   * `mayElect` take every condition as met by it.
   */
  constructor(quorums: Quorums, ownId: PeerId) {
    this.#quorums = quorums;
    this.#ownId = ownId;
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
  overdue(nowMs: number, patience: Patience): readonly Learner[] {
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
    return this.#quorums.value((id) => {
      if (id === this.#ownId) return ownValue;
      const learner = this.#byPeer.get(id);
      return learner?.synced ? of(learner) : null;
    });
  }
  /** Whether the leader and the learners for which `is` holds are a quorum. */
  isQuorum(is: (learner: Learner) => boolean): boolean {
    return this.#quorums.isQuorum((id) => this.#isOwnOr(id, is));
  }
  /** The same, counting only members with a vote. */
  mayElect(is: (learner: Learner) => boolean): boolean {
    return this.#quorums.mayElect(
      (id) => this.#isOwnOr(id, (learner) => learner.voter && is(learner)),
      (id) => this.#isOwnOr(id, is),
    );
  }
  #isOwnOr(id: PeerId, is: (learner: Learner) => boolean): boolean {
    if (id === this.#ownId) return true;
    const learner = this.#byPeer.get(id);
    return learner !== undefined && is(learner);
  }
  count(is: (learner: Learner) => boolean): number {
    let found = 0;
    for (const learner of this.#byPeer.values()) if (is(learner)) found += 1;
    return found;
  }
}
