/**
 * What a leader knows of its learners, each for as long as its link lasts. Data and its few rules.
 *
 * Invariant: an ACK counts only from `active` on, and on this link only: ACK(NEWLEADER) is the
 * first of them, cumulative for all that synchronization sent.
 */
import type { AckEpoch, PeerId, Zxid } from '@rookery/protocol';
import type { Link } from './member.js';
import type { Quorums } from './quorum.js';
import type { ZabOptions } from './types.js';

export class Learner {
  readonly link: Link;
  /** Its vote counts in discovery: it is a member of this ensemble, not a wiped or new one. */
  readonly voter: boolean;
  readonly acceptedEpoch: number;
  epochSent = false;
  ackEpoch: AckEpoch | null = null;
  syncStarted = false;
  /** Everything up to here has been sent (or is in the snapshot). */
  sentThrough: Zxid = 0;
  /** NEWLEADER has been sent: from now on it gets every proposal as it is made. */
  caughtUp = false;
  /** It acknowledged NEWLEADER. */
  active = false;
  match: Zxid = 0;
  /** It knows that everything up to here is durable at the leader, and needs no COMMIT for it. */
  toldDurable: Zxid = 0;
  /** Since when it has owed an acknowledgement without giving any; null while it owes none. */
  owesSinceMs: number | null = null;
  confirmedRound = 0;

  constructor(link: Link, voter: boolean, acceptedEpoch: number) {
    this.link = link;
    this.voter = voter;
    this.acceptedEpoch = acceptedEpoch;
  }

  /** Everything up to `zxid` has been sent. */
  onSent(zxid: Zxid, nowMs: number): void {
    this.sentThrough = zxid;
    if (this.caughtUp) this.owesSinceMs ??= nowMs;
  }

  /** Everything up to `zxid` is durable there. */
  onAcknowledged(zxid: Zxid, nowMs: number): void {
    this.match = Math.max(this.match, zxid);
    this.owesSinceMs = this.match >= this.sentThrough ? null : nowMs;
  }
}

type Patience = Pick<ZabOptions, 'syncTimeoutMs' | 'initTimeoutMs'>;

export class Learners {
  readonly #byPeer = new Map<PeerId, Learner>();
  readonly #quorums: Quorums;
  readonly #own: PeerId;

  /** `own`: the leader, which counts as one that is active and has done everything. */
  constructor(quorums: Quorums, own: PeerId) {
    this.#quorums = quorums;
    this.#own = own;
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
  *active(): Iterable<Learner> {
    for (const learner of this.#byPeer.values()) if (learner.active) yield learner;
  }
  /** Those that have owed an acknowledgement for too long; joining may take longer. */
  overdue(nowMs: number, patience: Patience): readonly Learner[] {
    return [...this.#byPeer.values()].filter(({ owesSinceMs, active }) => {
      const patienceMs = active ? patience.syncTimeoutMs : patience.initTimeoutMs;
      return owesSinceMs !== null && nowMs - owesSinceMs > patienceMs;
    });
  }
  /** What a quorum has reached, by the value of each active learner and this member's `own`. */
  reached(own: number, of: (learner: Learner) => number): number {
    return this.#quorums.value((id) => {
      if (id === this.#own) return own;
      const learner = this.#byPeer.get(id);
      return learner?.active ? of(learner) : null;
    });
  }
  /** Are the leader and the learners of which this is true a quorum? */
  isQuorum(is: (learner: Learner) => boolean): boolean {
    return this.#quorums.isQuorum((id) => this.#isOwnOr(id, is));
  }
  /** The same among those with a vote; `is` says of each learner whether it has got so far. */
  mayElect(is: (learner: Learner) => boolean): boolean {
    return this.#quorums.mayElect(
      (id) => this.#isOwnOr(id, (learner) => learner.voter && is(learner)),
      (id) => this.#isOwnOr(id, is),
    );
  }
  #isOwnOr(id: PeerId, is: (learner: Learner) => boolean): boolean {
    if (id === this.#own) return true;
    const learner = this.#byPeer.get(id);
    return learner !== undefined && is(learner);
  }
  count(is: (learner: Learner) => boolean): number {
    let found = 0;
    for (const learner of this.#byPeer.values()) if (is(learner)) found += 1;
    return found;
  }
}
