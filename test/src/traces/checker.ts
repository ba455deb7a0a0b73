/**
 * The invariants that hold over all members at once, checked on every output and after every step.
 *
 * There is one committed history: whatever is delivered anywhere continues one chain, and is on the
 * disks of a quorum. Each epoch has one leader. No message announces what is not durable. A
 * confirmation covers every write that was delivered anywhere, or proposed by the member that was
 * asked, when it was requested. The numbers are those of the list in docs/architecture/core.md.
 */
import {
  assert,
  type CoreMessage,
  type PeerId,
  type Proposal,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import type { Disk } from './disk.js';
import type { SimulatedMember } from './member.js';
import type { Tree } from './tree.js';

/** The core relies on these from the moment at which it requests them. */
const REPLACES_TREE: ReadonlySet<string> = new Set(['installSnapshot', 'giveUp']);

export class Checker {
  readonly quorum: number;
  /** The digest of the tree at each zxid that was ever delivered anywhere. */
  readonly #delivered = new Map<Zxid, number>();
  readonly #leaders = new Map<number, PeerId>();
  readonly #asked = new Map<string, Zxid>();
  /**
   * Members that were wiped or damaged since their ensemble was founded, and are not members again
   * yet.
   */
  readonly #barred = new Set<PeerId>();
  #newest: Zxid = 0;
  #founded = false;

  constructor(members: number) {
    this.quorum = Math.floor(members / 2) + 1;
  }

  /** The newest zxid that any member ever delivered. */
  get newest(): Zxid {
    return this.#newest;
  }

  onDelivered(id: PeerId, tree: Tree, proposal: Proposal, disks: readonly Disk[]): void {
    const known = this.#delivered.get(tree.zxid);
    if (known !== undefined) {
      assert(known === tree.digest, () => `invariant 8: member ${id} differs at ${tree.zxid}`);
      return;
    }
    assert(
      proposal.previous === this.#newest,
      () => `member ${id} delivers ${tree.zxid} after ${proposal.previous}, not ${this.#newest}`,
    );
    this.#delivered.set(tree.zxid, tree.digest);
    this.#newest = tree.zxid;
    const holders = disks.filter((disk) => vouches(disk, tree.zxid)).length;
    assert(
      holders >= this.quorum,
      () => `member ${id} delivers ${tree.zxid}, which is on ${holders} disks`,
    );
  }

  /** A trace begins with these proposals as committed earlier. */
  onGiven(tree: Tree): void {
    for (let at: Tree | null = tree; at !== null && at.zxid > 0; at = at.before) {
      this.#delivered.set(at.zxid, at.digest);
    }
    this.#newest = Math.max(this.#newest, tree.zxid);
    this.#founded = true;
  }

  onInstalled(id: PeerId, tree: Tree): void {
    if (tree.zxid === 0) return;
    const known = this.#delivered.get(tree.zxid);
    assert(known === tree.digest, () => `member ${id} installs a snapshot of nothing committed`);
  }

  onLost(id: PeerId): void {
    if (this.#founded) this.#barred.add(id);
  }

  onLeads(id: PeerId, epoch: number): void {
    const leader = this.#leaders.get(epoch) ?? id;
    assert(leader === id, () => `epoch ${epoch} has two leaders, ${leader} and ${id}`);
    this.#leaders.set(epoch, id);
  }

  /** `proposed` is the last proposal of the member that is asked. */
  onAsked(id: PeerId, question: number, proposed: Zxid): void {
    this.#asked.set(`${id}/${question}`, Math.max(this.#newest, proposed));
  }

  onConfirmed(id: PeerId, question: number, zxid: Zxid): void {
    const must = this.#asked.get(`${id}/${question}`);
    assert(must !== undefined, () => `member ${id} confirms ${question}, which nobody requested`);
    assert(zxid >= must, () => `confirmed at ${zxid}, but ${must} had been proposed when asked`);
  }

  /** Invariants 3, 4 and 9: what a message reveals is durable before it leaves. */
  onSend(member: SimulatedMember, message: CoreMessage): void {
    const { disk, id } = member;
    switch (message.kind) {
      case 'vote':
        return this.#onVote(member, message);
      case 'newEpoch':
        assert(disk.accepted >= message.epoch, `${id} offers an epoch that is not durable`);
        return;
      case 'ackEpoch':
        assert(disk.accepted >= message.epoch, `${id} promises what is not durable`);
        assert(
          disk.current === message.currentEpoch,
          `${id} announces a currentEpoch that is not durable`,
        );
        assert(
          disk.damaged || disk.last === message.last,
          `${id} announces history that is not durable`,
        );
        return;
      case 'newLeader':
        assert(disk.current >= message.epoch, `${id} leads an epoch that is not durable`);
        return;
      case 'ackNewLeader':
        assert(disk.holds(message.last), `${id} acknowledges history that is not durable`);
        assert(disk.current >= message.epoch, `${id} acknowledges an epoch that is not durable`);
        return;
      case 'ack':
        assert(
          disk.holds(message.zxid),
          `${id} acknowledges ${message.zxid}, which is not durable`,
        );
        return;
      default:
    }
  }

  #onVote(member: SimulatedMember, vote: VoteMessage): void {
    if (member.disk.ensembleId !== '' && !member.disk.damaged) this.#barred.delete(member.id);
    const votes = vote.state === 'leading' || (vote.state === 'looking' && vote.leader !== 0);
    if (!votes) return;
    assert(!this.#barred.has(member.id), `invariant 9: ${member.id} votes without a membership`);
    if (vote.leader !== member.id || vote.state !== 'looking') return;
    assert(member.disk.holds(vote.zxid), `${member.id} votes with history that is not durable`);
    assert(
      member.disk.current === vote.epoch,
      `${member.id} votes with an epoch that is not durable`,
    );
  }

  /** After every step: invariant 1, and nothing that was delivered is lost. */
  check(members: Iterable<SimulatedMember>): void {
    let holders = 0;
    let founders = 0;
    for (const member of members) {
      const { disk, tree, zab } = member;
      if (vouches(disk, this.#newest)) holders += 1;
      if (disk.founded) founders += 1;
      assert(disk.current <= disk.accepted, `invariant 3 on the disk of ${member.id}`);
      assert(disk.base <= disk.checkpoint.zxid, `invariant 1 on the disk of ${member.id}`);
      if (zab === null || disk.damaged) continue;
      if (disk.queue.some(({ kind }) => REPLACES_TREE.has(kind))) continue;
      assert(disk.checkpoint.zxid <= tree.zxid, `invariant 1: ${member.id} checkpoints the future`);
      assert(
        tree.zxid === zab.replica.delivered,
        () => `${member.id} applied ${tree.zxid}, not ${zab.replica.delivered}`,
      );
      assert(
        tree.zxid <= zab.replica.committed &&
          zab.replica.history.durable <= zab.replica.history.last,
        `invariant 1 in ${member.id}`,
      );
      assert(disk.holds(zab.replica.history.durable), `${member.id}: durable is not on its disk`);
    }
    // Every delivered proposal is still on the disks of a quorum.
    if (founders >= this.quorum) this.#founded = true;
    assert(holders >= this.quorum, `${this.#newest} was delivered and is on ${holders} disks now`);
  }
}

/**
 * A member without an ensemble id has lost its disk (or is new); it is assumed to have had the
 * proposal.
 */
function vouches(disk: Disk, zxid: Zxid): boolean {
  return disk.damaged || disk.ensembleId === '' || disk.holds(zxid);
}
