/**
 * What a leader knows of its learners, each for as long as its link lasts. Data and its few rules.
 *
 * Invariant: an ACK counts only from `active` on, and on this link only: ACK(NEWLEADER) is the
 * first of them, cumulative for all that synchronization sent.
 */
import type { AckEpoch, PeerId, Zxid } from '@rookery/protocol';
import type { Link } from './member.js';
import { quorumValue } from './quorum.js';
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
  readonly #voters: number;

  /** `voters`: how many there are, this member included. */
  constructor(voters: number) {
    this.#voters = voters;
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
    const values = [own];
    for (const learner of this.active()) values.push(of(learner));
    return quorumValue(values, this.#voters);
  }
  count(is: (learner: Learner) => boolean): number {
    let found = 0;
    for (const learner of this.#byPeer.values()) if (is(learner)) found += 1;
    return found;
  }
}
