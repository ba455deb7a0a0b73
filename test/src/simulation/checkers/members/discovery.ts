/**
 * Property: a leader enters an epoch with a history as new as that of any voter that accepted it.
 * Source: docs/architecture/core.md, "Step-down" ("when it meets newer history"); Zab's discovery;
 * ZOOKEEPER-3911.
 *
 * Before it enters, each ACKEPOCH that a voter (a member with an ensemble id) sent to it says how
 * new that voter's history is: by its currentEpoch, then its last zxid. Newer history may contain
 * what was committed. That of another leadership of the same epoch is not newer, however long. The
 * leader's own history is in the votes by which it announces that it leads.
 */
import type { AckEpoch, PeerId, VoteMessage } from '@rookery/protocol';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface MemberSeen {
  current: number;
  ensembleId: string;
  /** It has followed another leadership of its newest epoch, and has not synchronized since. */
  isForged: boolean;
  /** Since it leads: its own vote, and what its learners report about their history. */
  vote: VoteMessage | null;
  readonly heard: Map<PeerId, AckEpoch>;
}

class Discovery implements Checker {
  readonly property =
    'a leader enters an epoch with a history as new as that of any voter that accepted it';
  readonly #members: MemberTable<MemberSeen>;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => ({
      current: 0,
      ensembleId: '',
      isForged: false,
      vote: null,
      heard: new Map(),
    }));
  }

  onDiskStruck({ member, how }: DiskStruck): void {
    if (how === 'forged') this.#members.of(member).isForged = true;
  }

  onStarted({ member, recovered }: Started): void {
    const seen = this.#members.of(member);
    seen.current = recovered.currentEpoch;
    seen.ensembleId = recovered.damaged === null ? recovered.ensembleId : '';
    seen.vote = null;
    seen.heard.clear();
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const member = this.#members.of(seen.member);
    if (member.vote !== null && input.kind === 'message' && input.message.kind === 'ackEpoch') {
      // Its word counts by its state when it was given; that of a wiped member never does.
      const { ensembleId, isForged } = this.#members.of(input.peer);
      if (ensembleId !== '' && !isForged) {
        member.heard.set(input.peer, input.message);
      }
    }
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output?.kind === 'note' && output.event.startsWith('role.')) {
        member.vote = null;
        member.heard.clear();
      } else if (output?.kind === 'send' && output.message.kind === 'vote') {
        if (output.message.state === 'leading') member.vote ??= output.message;
      } else if (output?.kind === 'send' && output.message.kind === 'ackNewLeader') {
        member.isForged = false;
      } else if (output?.kind === 'saveEpochs') {
        member.ensembleId = output.ensembleId;
        if (output.current === member.current) continue;
        member.current = output.current;
        if (member.vote !== null) this.#onEnters(seen, member.vote, member.heard);
      }
    }
  }

  #onEnters(seen: Step, own: VoteMessage, heard: ReadonlyMap<PeerId, AckEpoch>): void {
    for (const [peer, { currentEpoch, last }] of heard) {
      const isNewer = currentEpoch === own.epoch ? last > own.zxid : currentEpoch > own.epoch;
      if (!isNewer) continue;
      const theirs = `epoch ${currentEpoch} ${formatZxid(last)} of member ${peer}`;
      const mine = `epoch ${own.epoch} ${formatZxid(own.zxid)}`;
      throw broken(this.property, seen, `enters its epoch with ${mine}, having heard ${theirs}`);
    }
  }
}

export const newDiscovery: NewChecker = ({ members }) => new Discovery(members);
