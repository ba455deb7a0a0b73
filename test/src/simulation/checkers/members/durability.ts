/**
 * Property: what a message announces is durable before it is sent, and what is committed is on a
 * quorum. Source: docs/architecture/core.md, invariants 3 and 4; ZOOKEEPER-3911, 4643, 4646, 4685,
 * 4785, 3023.
 *
 * Durable is what storage reported to the core (`persisted`), whatever messages say. Acks, promises
 * and votes are compared with it; a commit, an upToDate or a delivery beyond all earlier ones must
 * be on the disks of a quorum that has entered the sender's epoch, now or at some earlier time: a
 * leader delivers in parts, and may have entered the next epoch before it delivers the last part. A
 * member whose disk was struck counts for what it had before, and for nothing since, until it
 * acknowledged a NEWLEADER again.
 */
import {
  type AckEpoch,
  type CoreMessage,
  epochOf,
  type PeerId,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import type { ZabOutput } from '../../../simulated.js';
import type { Checker, NewChecker } from '../../contract/checker.js';
import type { DiskStruck, Started, Step } from '../../contract/observation.js';
import { DiskModel } from './model/disk-model.js';
import { broken, formatZxid } from './model/failure.js';
import { MemberTable } from './model/member-table.js';
import { ZxidRanges } from './model/zxid-ranges.js';

/** What a member had when its disk was struck, until it has synchronized again. */
interface Lost {
  readonly log: ZxidRanges;
  readonly current: number;
  /** It has been without an ensemble id since: the next one is a new beginning. */
  isBare: boolean;
}

interface MemberSeen {
  readonly disk: DiskModel;
  lost: Lost | null;
  /** Its disk was damaged under its process. */
  mayBeDamaged: boolean;
  /**
   * The epoch that it promised to another member in this incarnation: it enters that epoch only by
   * NEWLEADER.
   */
  promised: number;
}

type SaveEpochs = Extract<ZabOutput, { kind: 'saveEpochs' }>;

class Durability implements Checker {
  readonly property =
    'what a member announces is durable before, and what is committed is on a quorum';
  readonly #members: MemberTable<MemberSeen>;
  /** Everything up to here has been found on a quorum. */
  #committed: Zxid = 0;

  constructor(members: number) {
    this.#members = new MemberTable(members, () => {
      return { disk: new DiskModel(), lost: null, mayBeDamaged: false, promised: 0 };
    });
  }

  onDiskStruck(seen: DiskStruck): void {
    const member = this.#members.of(seen.member);
    if (seen.how === 'decayed') {
      // It has in memory what it has lost, until it ends.
      member.mayBeDamaged = true;
      return;
    }
    lose(member);
    member.disk.wipe();
  }

  onStarted(seen: Started): void {
    const member = this.#members.of(seen.member);
    if (member.mayBeDamaged && seen.recovered.damaged !== null) lose(member);
    member.mayBeDamaged = false;
    const { disk, lost } = member;
    disk.start(seen.recovered);
    member.promised = 0;
    const isWhole =
      lost !== null &&
      disk.durable.covers(lost.log.last) &&
      disk.durableEpochs.current >= lost.current;
    if (isWhole && seen.recovered.damaged === null) member.lost = null;
    maybeFound(member);
  }

  onStep(seen: Step): void {
    const { input, outputs } = seen;
    const member = this.#members.of(seen.member);
    member.disk.onInput(input);
    maybeFound(member);
    if (input.kind === 'persisted') this.#noteQuorum(member);
    for (let at = 0; at < outputs.length; at++) {
      const output = outputs[at];
      if (output === undefined) continue;
      switch (output.kind) {
        case 'send':
          this.#onSend(seen, member, output.peer, output.message);
          break;
        case 'deliver':
          this.#onDeliver(seen, member, output.batch.last);
          break;
        case 'role':
          if (output.role === 'leading') this.#onLeading(seen, output.epoch);
          break;
        case 'saveEpochs':
          this.#onSaveEpochs(seen, member, output);
          member.disk.take(output);
          break;
        default:
          member.disk.take(output);
      }
    }
  }

  #onSend(seen: Step, member: MemberSeen, peer: PeerId, message: CoreMessage): void {
    const { durable, durableEpochs } = member.disk;
    switch (message.kind) {
      case 'ack':
        this.#mustHold(seen, durable, message.zxid, 'acknowledges');
        break;
      case 'commit':
        this.#onTold(seen, message.zxid, 'tells the commit of');
        break;
      case 'leaderDurable':
        this.#mustHold(seen, durable, message.zxid, 'tells, as the leader, that it holds');
        break;
      case 'upToDate':
        this.#onTold(seen, message.committed, 'tells a learner to serve from');
        break;
      case 'ackNewLeader':
        this.#mustHold(seen, durable, message.last, 'acknowledges NEWLEADER with');
        this.#mustBe(seen, durableEpochs.current === message.epoch, 'entered', message.epoch);
        member.lost = null;
        break;
      case 'newEpoch':
        this.#mustBe(seen, durableEpochs.accepted >= message.epoch, 'offers', message.epoch);
        break;
      case 'newLeader':
        this.#mustBe(seen, durableEpochs.current >= message.epoch, 'leads', message.epoch);
        break;
      case 'followerInfo': {
        const { acceptedEpoch } = message;
        this.#mustBe(seen, durableEpochs.accepted >= acceptedEpoch, 'has promised', acceptedEpoch);
        break;
      }
      case 'ackEpoch':
        member.promised = message.epoch;
        this.#onAckEpoch(seen, member, message);
        break;
      case 'vote':
        this.#onVote(seen, member, message);
        break;
      case 'ping':
      case 'syncStart':
      case 'snapshotDone':
      case 'propose':
      case 'confirm':
      case 'confirmAck':
        break;
      default:
        throw broken(this.property, seen, `sends an unknown message to ${peer}`);
    }
  }

  #onAckEpoch(seen: Step, { disk }: MemberSeen, message: AckEpoch): void {
    const { durable, durableEpochs } = disk;
    this.#mustBe(seen, durableEpochs.accepted >= message.epoch, 'promises', message.epoch);
    const isCurrent = durableEpochs.current === message.currentEpoch;
    this.#mustBe(seen, isCurrent, 'tells of', message.currentEpoch);
    const told = ZxidRanges.of(message.history);
    if (message.last === durable.last && told.agreesWith(durable)) return;
    const what = `tells of the history ${told.text()}, durable is ${durable.text()}`;
    throw broken(this.property, seen, what);
  }

  /** Only a candidate's own vote is believed; it announces what discovery would find. */
  #onVote(seen: Step, { disk }: MemberSeen, vote: VoteMessage): void {
    if (vote.state !== 'looking' || vote.leader !== seen.member) return;
    const { durable, durableEpochs } = disk;
    const isTrue =
      disk.isIdle &&
      vote.zxid === durable.last &&
      vote.epoch === durableEpochs.current &&
      vote.ensembleId === durableEpochs.ensembleId;
    if (isTrue) return;
    throw broken(
      this.property,
      seen,
      `stands with epoch ${vote.epoch} and ${formatZxid(vote.zxid)}, durable are ` +
        `epoch ${durableEpochs.current} and ${formatZxid(durable.last)}`,
    );
  }

  /** NEWLEADER says what the history is; it is in the log before currentEpoch is saved. */
  #onSaveEpochs(seen: Step, member: MemberSeen, { accepted, current }: SaveEpochs): void {
    const { epochs, log } = member.disk;
    const { input } = seen;
    const isOffered = input.kind === 'message' && input.message.kind === 'newEpoch';
    if (isOffered && accepted > epochs.accepted) member.promised = accepted;
    if (current === epochs.current) return;
    if (input.kind === 'message' && input.message.kind === 'newLeader') {
      const { epoch, last } = input.message;
      if (epoch === current && log.last === last) return;
      const has = `its log ends at ${formatZxid(log.last)}, NEWLEADER's at ${formatZxid(last)}`;
      throw broken(this.property, seen, `enters epoch ${current} of ${epoch}, but ${has}`);
    }
    if (member.promised !== current) return;
    const what = `enters epoch ${current} before NEWLEADER said what its history is`;
    throw broken(this.property, seen, what);
  }

  #onLeading(seen: Step, epoch: number): void {
    const holders = this.#count(null, epoch);
    if (holders >= this.#members.quorum) return;
    throw broken(this.property, seen, `leads epoch ${epoch}, entered on ${holders} disks`);
  }

  #onDeliver(seen: Step, { disk }: MemberSeen, zxid: Zxid): void {
    this.#mustHold(seen, disk.durable, zxid, 'delivers');
    this.#onTold(seen, zxid, 'delivers');
  }

  #onTold(seen: Step, zxid: Zxid, does: string): void {
    if (zxid <= this.#committed) return;
    const { current } = this.#members.of(seen.member).disk.durableEpochs;
    const holders = this.#count(zxid, Math.max(current, epochOf(zxid)));
    if (holders < this.#members.quorum) {
      throw broken(this.property, seen, `${does} ${formatZxid(zxid)}, which ${holders} disks hold`);
    }
    this.#committed = zxid;
  }

  /** What a quorum that has entered this member's epoch has now is committed from now on. */
  #noteQuorum({ disk }: MemberSeen): void {
    const zxid = disk.durable.last;
    if (zxid <= this.#committed) return;
    const epoch = Math.max(disk.durableEpochs.current, epochOf(zxid));
    if (this.#count(zxid, epoch) >= this.#members.quorum) this.#committed = zxid;
  }

  /** The members that have `zxid` (null: any) and have entered `epoch`. */
  #count(zxid: Zxid | null, epoch: number): number {
    let holders = 0;
    const { all } = this.#members;
    for (let at = 0; at < all.length; at++) {
      const member = all[at];
      if (member === undefined) continue;
      const { disk, lost } = member;
      const log = lost?.log ?? disk.durable;
      const current = lost?.current ?? disk.durableEpochs.current;
      if (current >= epoch && (zxid === null || log.covers(zxid))) holders += 1;
    }
    return holders;
  }

  #mustHold(seen: Step, durable: ZxidRanges, zxid: Zxid, does: string): void {
    if (durable.covers(zxid)) return;
    throw broken(this.property, seen, `${does} ${formatZxid(zxid)}, durable is ${durable.text()}`);
  }

  #mustBe(seen: Step, isDurable: boolean, does: string, epoch: number): void {
    if (isDurable) return;
    const { accepted, current } = this.#members.of(seen.member).disk.durableEpochs;
    const what = `${does} epoch ${epoch}; durable are ${accepted} accepted, ${current} current`;
    throw broken(this.property, seen, what);
  }
}

function lose(member: MemberSeen): void {
  const { durable, durableEpochs } = member.disk;
  member.lost ??= { log: durable.clone(), current: durableEpochs.current, isBare: false };
}

/** What a struck member lost is restored once it has an ensemble id again. */
function maybeFound(member: MemberSeen): void {
  const { lost, disk } = member;
  if (lost === null) return;
  if (disk.durableEpochs.ensembleId === '') lost.isBare = true;
  else if (lost.isBare) member.lost = null;
}

export const newDurability: NewChecker = ({ members }) => new Durability(members);
