/**
 * What a leader knows of its learners, each for as long as its link lasts. Data and its few rules.
 *
 * Invariant: an ACK counts only from `active` on, and on this link only: ACK(NEWLEADER) is the
 * first of them, cumulative for all that synchronization sent.
 */
import type { AckEpoch, PeerId, Zxid } from '@rookery/protocol';
import type { Link } from './member.js';

export class Learner {
  readonly link: Link;
  /** Its vote counts in discovery: it is a member of this ensemble, not a wiped or new one. */
  readonly voter: boolean;
  readonly acceptedEpoch: number;
  epochSent = false;
  ackEpoch: AckEpoch | null = null;
  syncStarted = false;
  /** The driver is sending it a snapshot or old history; the link can serve nothing else then. */
  streaming = false;
  /** Everything up to here has been sent (or is in the snapshot). */
  sentThrough: Zxid = 0;
  /** NEWLEADER has been sent: from now on it gets every proposal as it is made. */
  caughtUp = false;
  /** It acknowledged NEWLEADER. */
  active = false;
  match: Zxid = 0;
  confirmedRound = 0;

  constructor(link: Link, voter: boolean, acceptedEpoch: number) {
    this.link = link;
    this.voter = voter;
    this.acceptedEpoch = acceptedEpoch;
  }
}

export class Learners {
  readonly #byPeer = new Map<PeerId, Learner>();

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
  count(is: (learner: Learner) => boolean): number {
    let found = 0;
    for (const learner of this.#byPeer.values()) if (is(learner)) found += 1;
    return found;
  }
}
