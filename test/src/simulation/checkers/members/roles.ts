/**
 * Property: messages of a role end with the role. Source: docs/architecture/core.md: "a role change
 * forgets what is held"; ZOOKEEPER-3642, 4685.
 *
 * A learner's messages go to the leader that the member follows, and a leader's messages come from
 * the member that leads; any member may send votes and pings. Roles are announced by the notes
 * `role.following` and similar ones. Once an epoch was offered to it, a learner accepts it again
 * from another member only if that one is established.
 */
import type { CoreMessage, PeerId } from '@rookery/protocol';
import type { NoteFacts } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, Started, Step } from '../../contract/observation.js';
import { broken } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

const SPEAKS = {
  ping: 'anybody',
  vote: 'anybody',
  followerInfo: 'learner',
  ackEpoch: 'learner',
  ackNewLeader: 'learner',
  ack: 'learner',
  confirmAck: 'learner',
  newEpoch: 'leader',
  syncStart: 'leader',
  snapshotDone: 'leader',
  propose: 'leader',
  newLeader: 'leader',
  upToDate: 'leader',
  commit: 'leader',
  confirm: 'leader',
  leaderDurable: 'leader',
} as const satisfies Record<CoreMessage['kind'], 'anybody' | 'learner' | 'leader'>;

interface MemberSeen {
  role: 'looking' | 'following' | 'leading';
  /** 0 unless it follows. */
  leader: PeerId;
  /** Its newest promise, and to whom; it outlives the process, but not the disk. */
  promised: number;
  promisedTo: PeerId;
  /** The newest epoch that the leader has offered, and whether it was established. */
  offered: number;
  isOfferEstablished: boolean;
}

class Roles implements Checker {
  readonly property = 'messages of a role end with the role, and an epoch is promised once';
  readonly #members: MemberTable<MemberSeen>;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => ({
      role: 'looking',
      leader: 0,
      promised: 0,
      promisedTo: 0,
      offered: 0,
      isOfferEstablished: false,
    }));
  }

  onDiskStruck({ member, how }: DiskStruck): void {
    // A process keeps its promise in memory.
    if (how !== 'decayed') this.#members.of(member).promised = 0;
  }

  onStarted({ member }: Started): void {
    const seen = this.#members.of(member);
    seen.role = 'looking';
    seen.leader = 0;
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const member = this.#members.of(seen.member);
    if (input.kind === 'message' && input.message.kind === 'newEpoch') {
      member.offered = input.message.epoch;
      member.isOfferEstablished = input.message.established;
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'send') this.#onSend(seen, member, output.peer, output.message);
      else if (output?.kind === 'note') onNote(member, output.event, output.facts);
    }
  }

  #onSend(seen: Step, member: MemberSeen, peer: PeerId, message: CoreMessage): void {
    const speaks = SPEAKS[message.kind];
    if (speaks === 'anybody') return;
    const isRight = speaks === 'leader' ? member.role === 'leading' : member.leader === peer;
    if (!isRight) {
      const role = `${member.role}${member.leader === 0 ? '' : ` ${member.leader}`}`;
      throw broken(this.property, seen, `says ${message.kind} to ${peer}, being ${role}`);
    }
    if (message.kind === 'ackEpoch') this.#onPromise(seen, member, peer, message.epoch);
  }

  #onPromise(seen: Step, member: MemberSeen, peer: PeerId, epoch: number): void {
    const { promised, promisedTo, offered, isOfferEstablished } = member;
    const isAgain = epoch === promised && peer !== promisedTo;
    if (isAgain && !(offered === epoch && isOfferEstablished)) {
      const what = `promises epoch ${epoch} to ${peer}, having promised it to ${promisedTo}`;
      throw broken(this.property, seen, what);
    }
    member.promised = epoch;
    member.promisedTo = peer;
  }
}

function onNote(member: MemberSeen, event: string, facts: NoteFacts): void {
  if (event === 'role.following') {
    member.role = 'following';
    member.leader = Number(facts['leader']);
  } else if (event === 'role.looking' || event === 'role.leading') {
    member.role = event === 'role.leading' ? 'leading' : 'looking';
    member.leader = 0;
  }
}

export const newRoles: NewChecker = ({ members }) => new Roles(members);
