/**
 * Property: what was delivered anywhere stays in every log that has it, and every later leader and
 * serving follower has it. Source: Zab's commit guarantee; docs/architecture/core.md, invariant 5;
 * ZOOKEEPER-1154, 2678, 2845, 3642.
 *
 * No truncation or snapshot removes any of it, and no truncation goes below what its member has
 * delivered. A new leader has all of it, a follower that serves has everything that was delivered
 * when its epoch began, and a quorum of disks has it at any time: a member without an ensemble id,
 * which has lost its disk, is assumed to have had it. At the end every member has it.
 */
import type { PeerId, Zxid } from '@rookery/protocol';
import type { ZabOutput } from '../../../simulated.js';
import { type Checker, type NewChecker, PropertyBroken } from '../../contract/checker.js';
import type { DiskStruck, End, OfMember, Started, Step } from '../../contract/observation.js';
import { DiskModel } from './model/disk-model.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';
import { ZxidRanges } from './model/zxid-ranges.js';

interface MemberSeen {
  readonly disk: DiskModel;
  delivered: Zxid;
  /** Struck, or found damaged: no quorum counts on it until it has synchronized. */
  struck: boolean;
  /** An older or a foreign copy replaced its directories, and it has not synchronized since. */
  isRestored: boolean;
  /** What it has under the zxids of its newest epoch is that of another leadership, as long. */
  isForged: boolean;
}

type Role = Extract<ZabOutput, { kind: 'role' }>;

class CommittedStays implements Checker {
  readonly property =
    'what was delivered anywhere stays in every log that has it, and every member that serves later has it';
  readonly #members: MemberTable<MemberSeen>;
  /** Everything that was delivered by any member. */
  readonly #committed = new ZxidRanges();
  /** The newest delivered zxid when the epoch's leader was established. */
  readonly #atStart = new Map<number, Zxid>();

  constructor(members: number) {
    this.#members = new MemberTable(members, () => {
      return {
        disk: new DiskModel(),
        delivered: 0,
        struck: false,
        isRestored: false,
        isForged: false,
      };
    });
  }

  onDiskStruck(seen: DiskStruck): void {
    // It has all of it in memory, and a start that finds the damage says so.
    if (seen.how === 'decayed') return;
    const member = this.#members.of(seen.member);
    member.struck = true;
    member.isForged = seen.how === 'forged';
    member.isRestored = seen.how === 'restored' || member.isForged;
    member.disk.wipe();
  }

  onStarted(seen: Started): void {
    const member = this.#members.of(seen.member);
    member.disk.start(seen.recovered);
    member.delivered = seen.recovered.checkpointZxid;
    if (seen.recovered.damaged !== null) member.struck = true;
    else if (member.disk.durableEpochs.ensembleId !== '') member.struck = member.isRestored;
    this.#checkQuorum(seen);
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const member = this.#members.of(seen.member);
    const { disk } = member;
    const before = disk.durable.last;
    disk.onInput(input);
    if (disk.durable.last < before) this.#checkQuorum(seen);
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output === undefined) continue;
      switch (output.kind) {
        case 'deliver':
          this.#onDeliver(member, output.batch.last, output);
          break;
        case 'truncate':
          this.#onTruncate(seen, member, output.after);
          break;
        case 'installSnapshot':
          this.#mustKeep(seen, member, output.zxid, 'installs a snapshot at');
          member.delivered = output.zxid;
          break;
        case 'role':
          this.#onRole(seen, member, output);
          break;
        case 'send':
          if (output.message.kind === 'ackNewLeader') {
            member.struck = false;
            member.isRestored = false;
            member.isForged = false;
          }
          break;
      }
      disk.take(output);
    }
  }

  onEnd({ members, order }: End): void {
    const newest = this.#committed.last;
    for (const { member, applied } of members) {
      if (applied >= newest) continue;
      const what = `member ${member} has applied ${formatZxid(applied)} of ${formatZxid(newest)}`;
      throw new PropertyBroken(this.property, `at the end ${what} [order ${order}]`);
    }
  }

  #onDeliver(
    member: MemberSeen,
    last: Zxid,
    { batch }: Extract<ZabOutput, { kind: 'deliver' }>,
  ): void {
    member.delivered = last;
    const newest = this.#committed.last;
    if (last <= newest) return;
    this.#committed.append([...batch].filter(({ zxid }) => zxid > newest));
  }

  #onTruncate(seen: Step, member: MemberSeen, after: Zxid): void {
    if (after < member.delivered) {
      const delivered = formatZxid(member.delivered);
      const what = `truncates behind ${formatZxid(after)}, but has delivered ${delivered}`;
      throw broken(this.property, seen, what);
    }
    this.#mustKeep(seen, member, after, 'truncates behind');
  }

  /** Its log is about to lose everything after `after`. */
  #mustKeep(seen: Step, { disk, isForged }: MemberSeen, after: Zxid, does: string): void {
    const first = this.#committed.firstAfter(after);
    if (isForged || first === 0 || !disk.log.covers(first)) return;
    throw broken(
      this.property,
      seen,
      `${does} ${formatZxid(after)} and loses ${formatZxid(first)}, which was delivered`,
    );
  }

  #onRole(seen: Step, member: MemberSeen, { role, epoch }: Role): void {
    if (role === 'looking') return;
    if (role === 'leading') this.#atStart.set(epoch, this.#committed.last);
    const needed = this.#atStart.get(epoch) ?? 0;
    const has = role === 'leading' ? member.disk.log.covers(needed) : member.delivered >= needed;
    if (has) return;
    const log = `delivered ${formatZxid(member.delivered)}, its log ${member.disk.log.text()}`;
    throw broken(
      this.property,
      seen,
      `is ${role} in epoch ${epoch}, which began at ${formatZxid(needed)}: ${log}`,
    );
  }

  #checkQuorum(seen: OfMember): void {
    const newest = this.#committed.last;
    const holders: PeerId[] = [];
    this.#members.all.forEach(({ disk, struck }, index) => {
      const isBare = disk.durableEpochs.ensembleId === '';
      if (struck || isBare || disk.durable.covers(newest)) holders.push(index + 1);
    });
    if (holders.length >= this.#members.quorum) return;
    const who = holders.join(', ') || 'nobody';
    throw broken(this.property, seen, `leaves ${formatZxid(newest)}, delivered, with ${who} alone`);
  }
}

export const newCommittedStays: NewChecker = ({ members }) => new CommittedStays(members);
