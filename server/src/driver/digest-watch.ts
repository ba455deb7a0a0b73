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
import type { PeerPort } from '../net/peer-port.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { majorityOf } from '../zab/quorum.js';
import type { DriverParts } from './parts.js';
import type { ShownRole } from './read-only-mode.js';

const SAMPLE_EVERY = 128;
/** The number of zxids whose reports a leader keeps. */
const KEPT_MAX = 64;
/** The number of digests in one message. */
const TOLD_MAX = 8;

type Shown = Pick<ShownRole, 'role' | 'leader'>;

interface DigestHooks {
  readonly port: () => Pick<PeerPort, 'sendTo'>;
  /** This member's tree differs from that of a quorum. */
  distrust(reason: string): void;
}

export class DigestWatch {
  readonly #parts: DriverParts;
  readonly #hooks: DigestHooks;
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

  constructor(parts: DriverParts, hooks: DigestHooks) {
    this.#parts = parts;
    this.#hooks = hooks;
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

  onMessage(shown: Shown, from: PeerId, message: Digests | Diverged): void {
    if (message.kind === 'digests') {
      if (shown.role === 'leading') this.#onDigests(from, message.digests);
      else if (shown.role === 'following' && from === shown.leader) this.#onAnswer(message);
    } else if (shown.role === 'following' && from === shown.leader) {
      this.#hooks.distrust(reasonAt(message.zxid));
    }
  }

  /** Called with each heartbeat. Reports to the leader, which may be this member. */
  onHeartbeat({ role, leader }: Shown, state: ReplicatedState): void {
    if (role === 'looking') return;
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
    if (digests.length === 0) return;
    if (role === 'leading') this.#onDigests(leader, digests);
    else this.#tell(leader, { kind: 'digests', digests });
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
      if (other !== id) this.#tell(other, { kind: 'digests', digests: [{ zxid, digest }] });
    }
  }

  /** On the leader: takes a report. */
  #onDigests(member: PeerId, digests: readonly DigestAt[]): void {
    for (const { zxid, digest } of digests.slice(0, TOLD_MAX + 1)) {
      const told = this.#told.get(zxid) ?? new Map<PeerId, string>();
      this.#told.set(zxid, told.set(member, digest));
      this.#answer(member, { zxid, digest }, told);
      if (new Set(told.values()).size === 1) continue;
      // If the leader itself is the one that differs, all reports of this term are void.
      if (this.#onMismatch(zxid, told) === 'own') return;
    }
    for (const zxid of this.#told.keys()) {
      if (this.#told.size <= KEPT_MAX) break;
      this.#told.delete(zxid);
    }
  }

  #tell(peer: PeerId, message: Digests | Diverged): void {
    this.#hooks.port().sendTo(peer, message);
  }

  /** Tells who differs from a quorum: this member, another one, or nobody as none agrees. */
  #onMismatch(zxid: Zxid, told: ReadonlyMap<PeerId, string>): 'own' | 'other' | 'nobody' {
    const { counters, logger, options } = this.#parts;
    counters.digestMismatches += 1;
    const majority = majorityDigest([...told.values()], options.members);
    const facts = { zxid: formatZxid(zxid), digests: Object.fromEntries(told), majority };
    logger.error(facts, 'digest.mismatch');
    if (majority === null) return 'nobody';
    for (const [member, digest] of [...told]) {
      if (digest === majority) continue;
      if (member === options.id) {
        this.#hooks.distrust(reasonAt(zxid));
        return 'own';
      }
      this.#tell(member, { kind: 'diverged', zxid });
      this.#forget(member);
    }
    return 'other';
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
