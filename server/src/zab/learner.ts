/**
 * What a leader knows of one learner, for as long as its link lasts. Data and its few rules.
 *
 * Invariant: an ACK counts only from `active` on, and on this link only: ACK(NEWLEADER) is the
 * first of them, cumulative for all that synchronization sent.
 */
import type { AckEpoch, Zxid } from '@rookery/protocol';
import type { Link } from './member.js';

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
  confirmedRound = 0;

  constructor(link: Link, voter: boolean, acceptedEpoch: number) {
    this.link = link;
    this.voter = voter;
    this.acceptedEpoch = acceptedEpoch;
  }
}
