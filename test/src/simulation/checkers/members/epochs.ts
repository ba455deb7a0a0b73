/**
 * Property: epochs never decrease, and each has one leader. Source: docs/architecture/core.md,
 * invariant 3 and "one epoch, one leader"; ZOOKEEPER-335, 1653, 2354, 3608.
 *
 * A member's accepted and current epoch never decrease, also across restarts, unless its disk was
 * struck; current is at most accepted. Only one incarnation of one member establishes an epoch,
 * once; it alone proposes in it and tells learners to serve, and no log contains a proposal of it
 * that was not proposed.
 */
import { epochOf, type PeerId, type ProposalBatch, type Zxid } from '@rookery/protocol';
import type { Ticket, ZabOutput } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, OfMember, Started, Step } from '../../contract/observation.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';

interface Leader {
  readonly member: PeerId;
  readonly incarnation: number;
  /** The newest zxid that it has proposed. */
  proposed: Zxid;
}

interface Saved {
  readonly ticket: Ticket;
  readonly accepted: number;
  readonly current: number;
}

interface MemberEpochs {
  accepted: number;
  current: number;
  durableAccepted: number;
  durableCurrent: number;
  saving: Saved[];
  struck: boolean;
}

type SaveEpochs = Extract<ZabOutput, { kind: 'saveEpochs' }>;
type Role = Extract<ZabOutput, { kind: 'role' }>;

class EpochsChecker implements Checker {
  readonly property = 'epochs never decrease, and each has one leader';
  readonly #members: MemberTable<MemberEpochs>;
  readonly #leaders = new Map<number, Leader>();
  /** The newest of `#leaders`, which is queried most. */
  #newestEpoch = 0;
  #newest: Leader | undefined;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => ({
      accepted: 0,
      current: 0,
      durableAccepted: 0,
      durableCurrent: 0,
      saving: [],
      struck: false,
    }));
  }

  onDiskStruck(seen: DiskStruck): void {
    this.#members.of(seen.member).struck = true;
  }

  onStarted(seen: Started): void {
    const { acceptedEpoch, currentEpoch } = seen.recovered;
    const member = this.#members.of(seen.member);
    const fell = acceptedEpoch < member.durableAccepted || currentEpoch < member.durableCurrent;
    if (fell && !member.struck) {
      const had = `${member.durableAccepted}/${member.durableCurrent}`;
      const what = `starts with epochs ${acceptedEpoch}/${currentEpoch}, had ${had} durably`;
      throw broken(this.property, seen, what);
    }
    if (currentEpoch > acceptedEpoch) {
      const what = `starts with current epoch ${currentEpoch} above accepted ${acceptedEpoch}`;
      throw broken(this.property, seen, what);
    }
    member.accepted = acceptedEpoch;
    member.current = currentEpoch;
    member.durableAccepted = acceptedEpoch;
    member.durableCurrent = currentEpoch;
    member.saving = [];
    member.struck = false;
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    if (input.kind === 'persisted') this.#onPersisted(seen.member, input.ticket);
    else if (input.kind === 'propose') this.#onPropose(seen, input.batch);
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      switch (output?.kind) {
        case 'append':
          this.#onAppend(seen, output.batch);
          break;
        case 'saveEpochs':
          this.#onSaveEpochs(seen, output);
          break;
        case 'role':
          this.#onRole(seen, output);
          break;
        case 'send':
          if (output.message.kind === 'upToDate') this.#onUpToDate(seen);
          break;
      }
    }
  }

  #onPersisted(id: PeerId, ticket: Ticket): void {
    const member = this.#members.of(id);
    for (let saved = member.saving[0]; saved !== undefined; saved = member.saving[0]) {
      if (saved.ticket > ticket) return;
      member.durableAccepted = saved.accepted;
      member.durableCurrent = saved.current;
      member.saving.shift();
    }
  }

  #onSaveEpochs(seen: Step, { ticket, accepted, current }: SaveEpochs): void {
    const member = this.#members.of(seen.member);
    if (accepted < member.accepted || current < member.current || current > accepted) {
      const had = `${member.accepted}/${member.current}`;
      throw broken(this.property, seen, `saves epochs ${accepted}/${current} after ${had}`);
    }
    member.accepted = accepted;
    member.current = current;
    member.saving.push({ ticket, accepted, current });
  }

  #onRole(seen: Step, { role, leader, epoch }: Role): void {
    if (role === 'looking') return;
    const known = this.#leaders.get(epoch);
    if (role === 'following') {
      if (known?.member === leader) return;
      const whose = known === undefined ? 'nobody' : `member ${known.member}`;
      const what = `follows ${leader} in epoch ${epoch}, which ${whose} leads`;
      throw broken(this.property, seen, what);
    }
    if (known !== undefined || leader !== seen.member) {
      const before = `member ${known?.member} (life ${known?.incarnation})`;
      throw broken(this.property, seen, `leads epoch ${epoch}, which ${before} has led`);
    }
    const { member, incarnation } = seen;
    this.#newestEpoch = epoch;
    this.#newest = { member, incarnation, proposed: 0 };
    this.#leaders.set(epoch, this.#newest);
  }

  #onUpToDate(seen: Step): void {
    const { current } = this.#members.of(seen.member);
    if (isSame(this.#leaderOf(current), seen)) return;
    throw broken(this.property, seen, `tells a learner to serve in epoch ${current}, not its own`);
  }

  #onPropose(seen: Step, batch: ProposalBatch): void {
    for (const { zxid } of batch) {
      const leader = this.#leaderOf(epochOf(zxid));
      if (leader === undefined || !isSame(leader, seen) || zxid <= leader.proposed) {
        const whose = leader === undefined ? 'nobody' : `member ${leader.member}`;
        throw broken(
          this.property,
          seen,
          `proposes ${formatZxid(zxid)} in an epoch that ${whose} leads`,
        );
      }
      leader.proposed = zxid;
    }
  }

  #onAppend(seen: Step, batch: ProposalBatch): void {
    for (const { zxid } of batch) {
      const epoch = epochOf(zxid);
      const proposed = this.#leaderOf(epoch)?.proposed ?? 0;
      const { accepted } = this.#members.of(seen.member);
      if (zxid <= proposed && epoch <= accepted) continue;
      const limits = `proposed to ${formatZxid(proposed)}, epoch ${accepted} accepted`;
      throw broken(this.property, seen, `logs ${formatZxid(zxid)}: ${limits}`);
    }
  }

  #leaderOf(epoch: number): Leader | undefined {
    return epoch === this.#newestEpoch ? this.#newest : this.#leaders.get(epoch);
  }
}

function isSame(leader: Leader | undefined, seen: OfMember): boolean {
  return leader?.member === seen.member && leader.incarnation === seen.incarnation;
}

export const newEpochs: NewChecker = ({ members }) => new EpochsChecker(members);
