/**
 * Property: a wiped, damaged or new member does not count before it has durably synchronized.
 * Source: docs/architecture/core.md, invariant 9, Electorate; Zab relies on what a voter once
 * acknowledged.
 *
 * A damaged member gives its ensemble id up, on disk, before a snapshot makes the disk sound. Until
 * its NEWLEADER is durable it takes part in no election with an ensemble id and a sound disk, a
 * wiped one votes for nobody, and its ACKEPOCH does not count for the quorum by which a leader
 * enters an epoch. Only while no member was ever told that the ensemble is founded, a leader may
 * enter with members that have no id yet.
 */
import type { PeerId, VoteMessage } from '@rookery/protocol';
import type { Ticket, ZabOutput } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, Started, Step } from '../../contract/observation.js';
import { broken } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface MemberSeen {
  /** It has an ensemble id, and no fault has struck its disk since that became durable. */
  synced: boolean;
  /** Its disk was wiped after the ensemble was founded, and it has not synchronized since. */
  wiped: boolean;
  /** What its core has saved, durable or not. */
  ensembleId: string;
  current: number;
  /** The epoch that it enters, and the ticket from which on it has entered; 0 for none. */
  entering: number;
  enteringTicket: Ticket;
  foundedTicket: Ticket;
  /** Its newest promise: for which epoch, to whom, and whether it was a voter then. */
  promise: { readonly epoch: number; readonly to: PeerId; readonly synced: boolean } | null;
}

/** The property that is broken if too few have promised at all, with a vote or without. */
const UNPROMISED = 'a leader enters an epoch once a quorum has promised it';

type SaveEpochs = Extract<ZabOutput, { kind: 'saveEpochs' }>;

class Votes implements Checker {
  readonly property =
    'a wiped, damaged or new member does not count before it has durably synchronized';
  readonly #members: MemberTable<MemberSeen>;
  /** Some member durably knows that the ensemble is founded. */
  #founded = false;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => ({
      synced: false,
      wiped: false,
      ensembleId: '',
      current: 0,
      entering: 0,
      enteringTicket: 0,
      foundedTicket: 0,
      promise: null,
    }));
  }

  onDiskStruck({ member, how }: DiskStruck): void {
    if (how === 'wiped') this.#members.of(member).wiped = true;
  }

  onStarted(seen: Started): void {
    const { damaged, ensembleId, currentEpoch, founded } = seen.recovered;
    const member = this.#members.of(seen.member);
    // What was in flight when it died may have been done.
    if (member.entering > 0 && currentEpoch === member.entering) member.synced = true;
    if (damaged !== null || ensembleId === '') member.synced = false;
    if (member.synced) member.wiped = false;
    if (founded && damaged === null) this.#founded = true;
    member.ensembleId = ensembleId;
    member.current = currentEpoch;
    member.entering = 0;
    member.enteringTicket = 0;
    member.foundedTicket = 0;
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    if (input.kind === 'persisted') this.#onPersisted(seen.member, input.ticket);
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'saveEpochs') this.#onSaveEpochs(seen, output);
      else if (output?.kind === 'installSnapshot') this.#onInstall(seen);
      else if (output?.kind !== 'send') continue;
      else if (output.message.kind === 'vote') this.#onVote(seen, output.message);
      else if (output.message.kind === 'ackEpoch') {
        const member = this.#members.of(seen.member);
        const { epoch } = output.message;
        member.promise = { epoch, to: output.peer, synced: member.synced };
      }
    }
  }

  #onPersisted(id: PeerId, ticket: Ticket): void {
    const member = this.#members.of(id);
    if (member.enteringTicket > 0 && ticket >= member.enteringTicket) {
      member.synced = true;
      member.wiped = false;
      member.entering = 0;
      member.enteringTicket = 0;
    }
    if (member.foundedTicket > 0 && ticket >= member.foundedTicket) this.#founded = true;
  }

  #onSaveEpochs(seen: Step, { ticket, current, ensembleId, founded }: SaveEpochs): void {
    const member = this.#members.of(seen.member);
    if (founded && member.foundedTicket === 0) member.foundedTicket = ticket;
    if (ensembleId === '') member.synced = false;
    member.ensembleId = ensembleId;
    const { input } = seen;
    // A member that was damaged enters the epoch in which that happened once more.
    const follows = input.kind === 'message' && input.message.kind === 'newLeader';
    if (current === member.current && !follows) return;
    member.current = current;
    member.entering = current;
    member.enteringTicket = ensembleId === '' ? 0 : ticket;
    if (!follows) this.#onEnters(seen, current);
  }

  /** Checks that a quorum of members that count have promised the epoch to its leader. */
  #onEnters(seen: Step, epoch: number): void {
    let promises = 0;
    const without: PeerId[] = [];
    this.#members.all.forEach(({ synced, promise }, index) => {
      const isSelf = index + 1 === seen.member;
      const isPromised = isSelf || (promise?.epoch === epoch && promise.to === seen.member);
      if (!isPromised) return;
      const counts = isSelf ? synced : (promise?.synced ?? false);
      if (counts || !this.#founded) promises += 1;
      else without.push(index + 1);
    });
    if (promises >= this.#members.quorum) return;
    const what = `enters epoch ${epoch} with ${promises} voters`;
    if (without.length === 0) throw broken(UNPROMISED, seen, what);
    throw broken(this.property, seen, `${what}, and without a vote ${without.join(', ')}`);
  }

  /**
   * Otherwise a crash right after it leaves a sound disk, an id, and a gap in what it vouched for.
   */
  #onInstall(seen: Step): void {
    const { synced, ensembleId } = this.#members.of(seen.member);
    if (synced || ensembleId === '') return;
    const what = `is damaged and installs a snapshot while its disk says "${ensembleId}"`;
    throw broken(this.property, seen, what);
  }

  #onVote(seen: Step, vote: VoteMessage): void {
    if (vote.state !== 'looking' || vote.leader === 0) return;
    const { synced, wiped } = this.#members.of(seen.member);
    if (synced) return;
    if (wiped) throw broken(this.property, seen, `votes for ${vote.leader}, but was wiped`);
    if (vote.ensembleId === '' || !vote.sound) return;
    const what = `votes for ${vote.leader} as a member of "${vote.ensembleId}", but has not synced`;
    throw broken(this.property, seen, what);
  }
}

export const newVotes: NewChecker = ({ members }) => new Votes(members);
