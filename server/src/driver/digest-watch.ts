/**
 * Compares the trees of members: each reports digests of its state to the leader, with their zxids.
 *
 * A digest is taken at every zxid whose counter is a multiple of SAMPLE_EVERY, at the last zxid of
 * a member that has been quiet for a heartbeat, and where a learner is synchronized (by the leader
 * at the zxid of UPTODATE, by the learner at the zxid at which it begins to serve). The leader
 * keeps the reports of some zxids, its own included. Two different digests of one zxid are an
 * error. A member that differs from a quorum gives up its tree, even if it is the leader. If no
 * quorum agrees, that is logged, and the next report decides. Owned by the driver.
 *
 * The leader also answers a report with the digest that a quorum has at its zxid, once it knows it,
 * in the message in which digests are reported. So a follower, too, knows up to which zxid a quorum
 * has confirmed its state.
 */
import {
  counterOf,
  type DigestAt,
  type Digests,
  type Diverged,
  formatZxid,
  type PeerId,
  type PeerMessage,
  type Zxid,
} from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { RoleView } from '../zab/index.js';
import { majorityOf } from '../zab/quorum.js';
import type { DriverParts } from './parts.js';

const SAMPLE_EVERY = 128;
/** The number of zxids whose reports a leader keeps. */
const KEPT_MAX = 64;
/** The number of digests in one message. */
const TOLD_MAX = 8;

export class DigestWatch {
  readonly #parts: DriverParts;
  #untold: DigestAt[] = [];
  #quiet: Zxid = 0;
  #toldQuiet: Zxid = 0;
  /** Zxids of UPTODATE messages that this leader has sent and has not applied itself yet. */
  readonly #wanted = new Set<Zxid>();
  /** The newest digests of this member's own state since its role began, the oldest first. */
  readonly #own = new Map<Zxid, string>();
  #confirmed: DigestAt | null = null;
  /** On a leader: the digest of each member by zxid, the oldest zxid first. */
  readonly #told = new Map<Zxid, Map<PeerId, string>>();

  constructor(parts: DriverParts) {
    this.#parts = parts;
  }

  /** The newest state of this member, since its role began, that a quorum has, too. */
  get confirmed(): DigestAt | null {
    return this.#confirmed;
  }

  /** Called after each transaction. */
  onApplied(zxid: Zxid, state: ReplicatedState): void {
    if (counterOf(zxid) % SAMPLE_EVERY === 0 || this.#wanted.delete(zxid)) this.#sample(state);
  }

  /** Called when this member begins to serve. */
  onServing(state: ReplicatedState): void {
    this.#sample(state);
  }

  /** On the leader: notes the zxid of an UPTODATE, from which on a learner is synchronized. */
  onSend(message: PeerMessage, state: ReplicatedState): void {
    if (message.kind !== 'upToDate') return;
    if (message.committed === state.lastZxid) this.#sample(state);
    else this.#wanted.add(message.committed);
    for (const oldest of this.#wanted) {
      if (this.#wanted.size <= KEPT_MAX) break;
      this.#wanted.delete(oldest);
    }
  }

  /** Called when the role ends. Forgets all reports. */
  onLooking(): void {
    this.#told.clear();
    this.#own.clear();
    this.#confirmed = null;
    this.#wanted.clear();
    this.#untold = [];
    this.#toldQuiet = 0;
  }

  /** Returns why the state of this member must not be trusted, or null. */
  onMessage(shown: RoleView, from: PeerId, message: Digests | Diverged): string | null {
    const isFromLeader = shown.role === 'following' && from === shown.leader;
    if (message.kind === 'diverged') return isFromLeader ? reasonAt(message.zxid) : null;
    if (shown.role === 'leading') return this.#onDigests(from, message.digests);
    if (isFromLeader) this.#onAnswer(message);
    return null;
  }

  /**
   * Called with each heartbeat. Reports to the leader, which may be this member. Returns why the
   * state of this member must not be trusted, or null.
   */
  onHeartbeat({ role, leader }: RoleView, state: ReplicatedState): string | null {
    if (role === 'looking') return null;
    const { lastZxid } = state;
    const isQuiet = lastZxid === this.#quiet && lastZxid !== this.#toldQuiet;
    this.#quiet = lastZxid;
    const digests = this.#untold;
    this.#untold = [];
    if (isQuiet) {
      this.#toldQuiet = lastZxid;
      const digest = state.digest();
      digests.push({ zxid: lastZxid, digest });
      this.#remember(lastZxid, digest);
    }
    if (digests.length === 0) return null;
    if (role === 'leading') return this.#onDigests(leader, digests);
    this.#parts.peerPort.sendTo(leader, { kind: 'digests', digests });
    return null;
  }

  #sample(state: ReplicatedState): void {
    const sample = { zxid: state.lastZxid, digest: state.digest() };
    this.#untold = [...this.#untold.slice(1 - TOLD_MAX), sample];
    this.#remember(sample.zxid, sample.digest);
  }

  #remember(zxid: Zxid, digest: string): void {
    this.#own.set(zxid, digest);
    for (const oldest of this.#own.keys()) {
      if (this.#own.size <= KEPT_MAX) break;
      this.#own.delete(oldest);
    }
  }

  /** On a follower: what a quorum has, by its leader. */
  #onAnswer({ digests }: Digests): void {
    for (const { zxid, digest } of digests.slice(0, TOLD_MAX)) this.#confirm(zxid, digest);
  }

  #confirm(zxid: Zxid, digest: string): void {
    if (this.#own.get(zxid) !== digest) return;
    if (zxid >= (this.#confirmed?.zxid ?? 0)) this.#confirmed = { zxid, digest };
  }

  /** On the leader, after `member` has reported: answers those whose state a quorum has. */
  #answer(member: PeerId, { zxid, digest }: DigestAt, told: ReadonlyMap<PeerId, string>): void {
    const { members, id } = this.#parts.options;
    const others = [...told].filter(([, other]) => other === digest).map(([other]) => other);
    if (others.length < majorityOf(members)) return;
    this.#confirm(zxid, digest);
    // With this report there is a quorum; those before it could not be answered.
    const asked = others.length === majorityOf(members) ? others : [member];
    for (const other of asked) {
      if (other === id) continue;
      this.#parts.peerPort.sendTo(other, { kind: 'digests', digests: [{ zxid, digest }] });
    }
  }

  /** On the leader: takes a report. Returns why its own state must not be trusted, or null. */
  #onDigests(member: PeerId, digests: readonly DigestAt[]): string | null {
    for (const { zxid, digest } of digests.slice(0, TOLD_MAX + 1)) {
      const told = this.#told.get(zxid) ?? new Map<PeerId, string>();
      this.#told.set(zxid, told.set(member, digest));
      this.#answer(member, { zxid, digest }, told);
      if (new Set(told.values()).size === 1) continue;
      // If the leader itself is the one that differs, all reports of this term are void.
      if (this.#onMismatch(zxid, told)) return reasonAt(zxid);
    }
    for (const zxid of this.#told.keys()) {
      if (this.#told.size <= KEPT_MAX) break;
      this.#told.delete(zxid);
    }
    return null;
  }

  /** Sends `diverged` to each member that differs from a quorum. True if this member does. */
  #onMismatch(zxid: Zxid, told: ReadonlyMap<PeerId, string>): boolean {
    const { counters, logger, options } = this.#parts;
    counters.digestMismatches += 1;
    const majority = majorityDigest([...told.values()], options.members);
    const facts = { zxid: formatZxid(zxid), digests: Object.fromEntries(told), majority };
    logger.error(facts, 'digest.mismatch');
    if (majority === null) return false;
    for (const [member, digest] of [...told]) {
      if (digest === majority) continue;
      if (member === options.id) return true;
      this.#parts.peerPort.sendTo(member, { kind: 'diverged', zxid });
      this.#forget(member);
    }
    return false;
  }

  /** Forgets the reports of a member that was told to heal, so it does not heal twice. */
  #forget(member: PeerId): void {
    for (const told of this.#told.values()) told.delete(member);
  }
}

function reasonAt(zxid: Zxid): string {
  return `a quorum of members has another state at ${formatZxid(zxid)}`;
}

function majorityDigest(digests: readonly string[], members: number): string | null {
  for (const digest of new Set(digests)) {
    const count = digests.filter((other) => other === digest).length;
    if (count >= majorityOf(members)) return digest;
  }
  return null;
}
