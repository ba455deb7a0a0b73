/**
 * The core: `step(input)` changes this member's state and returns what the driver must do.
 *
 * Pure and deterministic: the same inputs give the same outputs, always. It owns the links and the
 * change of roles; what a role does is in looking.ts, following.ts and leading.ts. A role asks for
 * its end, which takes effect when the handler is done, so that no handler runs half in a new role.
 */
import {
  type AckEpoch,
  assert,
  type CoreMessage,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  isWellFormed,
  type LeadershipOf,
  lastOfRanges,
  type PeerId,
  unreachable,
  type VoteMessage,
} from '@rookery/protocol';
import { Following } from './following.js';
import { Leading } from './leading.js';
import { LEADERSHIPS_MAX } from './lineage.js';
import { Looking } from './looking.js';
import { type Link, Replica } from './replica.js';
import type { Role, Transitions } from './role.js';
import { isFull } from './room.js';
import type {
  DiskRoom,
  LinkId,
  ReplicaView,
  RoleName,
  Ticket,
  ZabInput,
  ZabOptions,
  ZabOutput,
  ZabStart,
} from './types.js';

type ConnectedInput = Extract<ZabInput, { kind: 'connected' }>;

export class Zab {
  readonly replica: ReplicaView;
  readonly #replica: Replica;
  readonly #transitions: Transitions;
  #role: Role;
  #next: (() => Role) | null = null;
  #started = false;
  #pingedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ZabOptions, start: ZabStart) {
    this.#replica = new Replica(options, start);
    this.replica = this.#replica;
    this.#transitions = {
      look: (reason) => this.#request(() => this.#look(reason)),
      follow: (leader) => this.#request(() => this.#follow(leader)),
      lead: (founding) => this.#request(() => this.#lead(founding)),
    };
    this.#role = new Looking(this.#replica, this.#transitions);
  }

  get role(): RoleName {
    return this.#role.name;
  }
  /**
   * Whether nothing that clients are to hear may leave: the clocks have jumped, and no answer since
   * shows that the lease of this role still holds.
   */
  get isDoubtful(): boolean {
    return this.#role.isDoubtful;
  }
  /** Learners that this leader brings or keeps up to date; 0 in another role. */
  get learnerCount(): number {
    return this.#leading?.learnerCount ?? 0;
  }
  /** Learners that have acknowledged NEWLEADER; 0 in another role. */
  get syncedLearnerCount(): number {
    return this.#leading?.syncedLearnerCount ?? 0;
  }

  /** The peer whose snapshot this member waits for; null if it waits for none. */
  get snapshotFrom(): PeerId | null {
    return this.#role instanceof Following ? this.#role.snapshotFrom : null;
  }

  /** While nobody is elected or followed: why, and which members are waited for; null otherwise. */
  get waitsFor(): string | null {
    return this.#role instanceof Looking ? this.#role.waitsFor : null;
  }

  /** The leader that does without this member, whose disk is full; 0 for none. */
  get sparedBy(): PeerId {
    return this.#role instanceof Looking ? this.#role.sparedBy : 0;
  }
  /** Members with a full disk that this leader does without; none in another role. */
  get spares(): readonly PeerId[] {
    return this.#leading?.spares ?? [];
  }

  step(input: ZabInput): readonly ZabOutput[] {
    this.#dispatch(input);
    while (this.#next !== null) {
      const next = this.#next;
      this.#next = null;
      this.#role = next();
      this.#role.start();
    }
    this.#checkInvariants();
    return this.#replica.takeOutputs();
  }

  #dispatch(input: ZabInput): void {
    switch (input.kind) {
      case 'tick':
        return this.#onTick(input.nowMs);
      case 'clockJumped':
        return this.#onClockJumped(input.nowMs);
      case 'connected':
        return this.#onConnected(input);
      case 'disconnected':
        return this.#onDisconnected(input.peer, input.link);
      case 'message':
        return this.#onMessage(input.peer, input.link, input.message);
      case 'heard':
        return this.#onHeard(input.peer, input.link);
      case 'propose':
        return this.#leadingFor('propose')?.onPropose(input.batch);
      case 'confirm':
        return this.#leadingFor('confirm')?.onConfirm(input.id);
      case 'persisted':
        return this.#onPersisted(input.ticket);
      case 'historySent':
        return this.#leading?.onHistorySent(input.peer, input.link, input.through);
      case 'snapshotSent':
        return this.#leading?.onSnapshotSent(input.peer, input.link, input.zxid);
      case 'distrust':
        return this.#onDistrust(input.reason);
      case 'room':
        return this.#onRoom(input.room);
      case 'pace':
        this.#replica.pace = input.share;
        return;
      case 'purged':
        // After a giveUp the purge concerns a log that is no longer used.
        if (this.#replica.sound) this.#replica.history.onPurged(input.base);
        return;
      case 'deliverMore':
        this.#replica.deliverReady();
        return this.#role.onProgress();
      default:
        unreachable(input);
    }
  }

  /** The role while this member leads. Reports about learners of an ended role are ignored. */
  get #leading(): Leading | null {
    return this.#role instanceof Leading ? this.#role : null;
  }

  /** Like `#leading`, for a request to the leader; notes it if this member does not lead. */
  #leadingFor(request: string): Leading | null {
    if (this.#leading === null) this.#replica.note(`${this.#role.name}.ignored`, { request });
    return this.#leading;
  }

  #onTick(nowMs: number): void {
    const member = this.#replica;
    assert(nowMs >= member.nowMs, () => `the clock fell from ${member.nowMs} to ${nowMs}`);
    member.nowMs = nowMs;
    if (!this.#started) return this.#start();
    this.#dropSilentPeers();
    if (this.#next === null) this.#role.onTick();
    if (nowMs - this.#pingedAtMs < member.options.heartbeatMs) return;
    this.#pingedAtMs = nowMs;
    // A leader in doubt extends no lease of a follower: it does not know whether it still leads.
    const isDoubtful = this.#leading?.isDoubtful ?? false;
    for (const link of member.links.values()) {
      member.send(link, { kind: 'ping', sent: nowMs, echo: isDoubtful ? 0 : link.echo });
    }
  }

  /** Pings at once, for an answer that was not under way before. */
  #onClockJumped(nowMs: number): void {
    this.#replica.doubtedAtMs = this.#replica.nowMs;
    this.#pingedAtMs = Number.NEGATIVE_INFINITY;
    this.#onTick(nowMs);
  }

  #start(): void {
    const member = this.#replica;
    this.#started = true;
    member.startedAtMs = member.nowMs;
    for (const link of member.links.values()) {
      link.heardAtMs = member.nowMs;
      link.contactAtMs = member.nowMs;
    }
    if (!member.sound) member.giveUpMembership();
    this.#role.start();
  }

  #dropSilentPeers(): void {
    const { nowMs, options } = this.#replica;
    for (const link of [...this.#replica.links.values()]) {
      const silentMs = nowMs - link.heardAtMs;
      if (silentMs <= options.peerTimeoutMs) continue;
      this.#replica.drop(link, `silent for ${Math.round(silentMs)} ms`);
      if (this.#next === null) this.#role.onDisconnected(link.peer);
    }
  }

  #onConnected({ peer, link: linkId, version }: ConnectedInput): void {
    const { options, nowMs } = this.#replica;
    assert(options.members.includes(peer), () => `member ${peer} is not in the configuration`);
    const old = this.#replica.linkOf(peer);
    if (old !== undefined) this.#onDisconnected(peer, old.link);
    const link: Link = {
      peer,
      link: linkId,
      version,
      heardAtMs: nowMs,
      contactAtMs: nowMs,
      echo: 0,
      vote: null,
      roomSinceMs: nowMs,
      offeredEpoch: null,
      streaming: false,
    };
    this.#replica.links.set(peer, link);
    if (this.#started && this.#next === null) this.#role.onConnected(link);
  }

  #onDisconnected(peer: PeerId, link: LinkId): void {
    if (this.#replica.linkOf(peer)?.link !== link) return;
    this.#replica.links.delete(peer);
    if (this.#started && this.#next === null) this.#role.onDisconnected(peer);
  }

  #onHeard(peer: PeerId, linkId: LinkId): void {
    const link = this.#replica.linkOf(peer);
    if (link?.link === linkId) link.heardAtMs = this.#replica.nowMs;
  }

  #onMessage(peer: PeerId, linkId: LinkId, message: CoreMessage): void {
    const link = this.#replica.linkOf(peer);
    if (link === undefined || link.link !== linkId) return;
    const problem = implausible(this.#replica, link, message);
    if (problem !== null) return this.#refuse(link, `${message.kind}: ${problem}`);
    link.heardAtMs = this.#replica.nowMs;
    if (message.kind === 'ping') {
      link.echo = message.sent;
      link.contactAtMs = Math.max(link.contactAtMs, Math.min(message.echo, this.#replica.nowMs));
      return;
    }
    if (message.kind === 'vote') {
      this.#noteRoom(link, message);
      link.vote = message;
      if (message.state !== 'leading') this.#replica.givenUp.onNotLeading(peer);
      if (message.state !== 'following' || message.leader !== this.#replica.id) {
        link.offeredEpoch = null;
      }
      if (this.#started) this.#role.onVote(link);
      return;
    }
    if (message.kind === 'followerInfo') link.offeredEpoch = message.acceptedEpoch;
    this.#role.onMessage(link, message);
  }

  #noteRoom(link: Link, vote: VoteMessage): void {
    const wasFull = isFull(link);
    if ((vote.full ?? false) === wasFull) return;
    link.roomSinceMs = this.#replica.nowMs;
    this.#replica.note(wasFull ? 'disk.member_has_room' : 'disk.member_full', {
      member: link.peer,
    });
  }

  #onRoom(room: DiskRoom): void {
    if (room === this.#replica.room) return;
    this.#replica.room = room;
    if (this.#started) this.#role.onRoom();
  }

  /** Drops the link of a peer whose message is not plausible. */
  #refuse(link: Link, problem: string): void {
    this.#replica.note('peer.implausible', { peer: link.peer, sent: problem });
    this.#replica.drop(link, `implausible ${problem}`);
    if (this.#started && this.#next === null) this.#role.onDisconnected(link.peer);
  }

  /** Continues as if the disk had been found damaged at the start. */
  #onDistrust(reason: string): void {
    const member = this.#replica;
    if (!member.sound) return;
    member.giveUp(reason, 0);
    for (const link of [...member.links.values()]) {
      if (link.streaming) member.drop(link, `transfer given up: ${reason}`);
    }
    this.#transitions.look(reason);
  }

  #onPersisted(ticket: Ticket): void {
    this.#replica.onPersisted(ticket);
    this.#replica.tickets.runDue(() => this.#next !== null);
    if (this.#next === null) this.#role.onProgress();
  }

  #request(next: () => Role): void {
    this.#next ??= next;
  }

  #look(reason: string): Role {
    this.#replica.tickets.forget();
    this.#replica.note('role.looking', { reason });
    const epoch = this.#replica.currentEpoch;
    this.#replica.emit({ kind: 'role', role: 'looking', leader: 0, epoch });
    return new Looking(this.#replica, this.#transitions);
  }

  #follow(leader: PeerId): Role {
    this.#replica.tickets.forget();
    this.#replica.note('role.following', { leader });
    this.#replica.followedInVain += 1;
    return new Following(this.#replica, this.#transitions, leader);
  }

  #lead(founding: boolean): Role {
    this.#replica.tickets.forget();
    const reason = founding ? 'to found the ensemble' : 'to discover its epoch';
    this.#replica.note('role.leading', { reason });
    return new Leading(this.#replica, this.#transitions, founding);
  }

  #checkInvariants(): void {
    const { delivered, committed, history, currentEpoch, acceptedEpoch } = this.#replica;
    const { base, durable, last } = history;
    assert(
      base <= delivered,
      () => `purged ${formatZxid(base)} > delivered ${formatZxid(delivered)}`,
    );
    assert(
      delivered <= committed,
      () => `delivered ${formatZxid(delivered)} > committed ${formatZxid(committed)}`,
    );
    assert(
      delivered <= durable,
      () => `delivered ${formatZxid(delivered)} > durable ${formatZxid(durable)}`,
    );
    assert(durable <= last, () => `durable ${formatZxid(durable)} > last ${formatZxid(last)}`);
    assert(
      currentEpoch <= acceptedEpoch,
      () => `currentEpoch ${currentEpoch} > acceptedEpoch ${acceptedEpoch}`,
    );
  }
}

/**
 * The largest plausible jump of an epoch. An epoch grows by one in each election, and even days of
 * failing elections need fewer. Epochs have 21 bits, and a member that adopted the last one could
 * never follow a leader again.
 */
export const EPOCH_JUMP_MAX = 1 << 16;
/** Former lists in one vote. A member keeps fewer (`last-configuration.ts`). */
const FORMER_LISTS_MAX = 16;
const MEMBERS_MAX = 255;
/** The largest plausible jump of a round. Each search for a leader begins a new round. */
export const ROUND_JUMP_MAX = 0x1_0000_0000;

/**
 * Judges whether a peer's message is plausible, before any role acts on it; returns why it is not.
 *
 * The codec has checked the types and ranges of single fields. Here they are compared with each
 * other and with what this member knows; whether a message fits the sender's phase is judged by the
 * role. A message that fails is never acted on: its link is dropped, and no part of it reaches an
 * assertion or the disk.
 */
export function implausible(member: Replica, link: Link, message: CoreMessage): string | null {
  switch (message.kind) {
    case 'vote':
      return implausibleVote(member, link, message);
    case 'followerInfo':
      return implausibleEpoch(member, link, message.acceptedEpoch);
    case 'newEpoch':
      return implausibleEpoch(member, link, message.epoch);
    case 'ackEpoch':
      return implausibleHistory(message) ?? implausibleLineage(message.lineage, message.epoch);
    case 'syncStart':
      return implausibleLineage(message.lineage, member.acceptedEpoch);
    case 'newLeader':
      return message.ensembleId === '' ? 'it names no ensemble' : null;
    default:
      return null;
  }
}

function implausibleVote(member: Replica, link: Link, vote: VoteMessage): string | null {
  const { leader, state, round, former = [], spares = [] } = vote;
  if (state === 'leading' && leader !== link.peer) return `it leads and calls ${leader} the leader`;
  if (state === 'following' && leader === link.peer) return 'it follows itself';
  if (leader === 0 && state !== 'looking') return 'it follows nobody';
  if (leader !== 0 && !member.options.members.includes(leader))
    return `there is no member ${leader}`;
  if (round > member.round + ROUND_JUMP_MAX) return `round ${round}, here it is ${member.round}`;
  if (former.length > FORMER_LISTS_MAX) return `it names ${former.length} former lists of members`;
  if (!former.every(isList)) return 'it names a former list that is none';
  if (spares.length > 0 && state !== 'leading') return 'it does not lead and spares members';
  if (spares.includes(link.peer)) return 'it spares itself';
  const isSpareable = spares.length === 0 || (isList(spares) && !spares.includes(0));
  if (!isSpareable) return 'it spares members that are none';
  if (vote.founded && vote.ensembleId === '') return 'it has founded an ensemble without an id';
  return null;
}

function isList(ids: readonly number[]): boolean {
  return ids.length > 0 && ids.length <= MEMBERS_MAX && new Set(ids).size === ids.length;
}

/**
 * Compares an epoch with the newest one that this member knows or that any other peer reports of
 * itself. So a single peer cannot exhaust the epochs, and a member that was away for long, or was
 * wiped, can still take part.
 */
function implausibleEpoch(member: Replica, link: Link, epoch: number): string | null {
  let known = member.acceptedEpoch;
  for (const { peer, vote } of member.links.values()) {
    if (peer === link.peer || vote === null) continue;
    if (vote.state !== 'looking' || vote.leader === peer) known = Math.max(known, vote.epoch);
  }
  const epochMax = Math.min(known + EPOCH_JUMP_MAX, EPOCH_MAX - 1);
  return epoch <= epochMax ? null : `epoch ${epoch} is beyond ${epochMax}`;
}

function implausibleLineage(lineage: readonly LeadershipOf[], epochMax: number): string | null {
  if (lineage.length > LEADERSHIPS_MAX) return `it names ${lineage.length} leaderships`;
  const beyond = lineage.find(({ epoch }) => epoch > epochMax);
  return beyond === undefined ? null : `it names a leadership of epoch ${beyond.epoch}`;
}

function implausibleHistory(message: AckEpoch): string | null {
  const { epoch, currentEpoch, last, applied, history } = message;
  if (currentEpoch > epoch) return `its currentEpoch ${currentEpoch} is beyond ${epoch}`;
  if (epochOf(last) > epoch) return `its log ends with ${formatZxid(last)}, beyond epoch ${epoch}`;
  if (applied > last) return `it applied ${formatZxid(applied)}, beyond ${formatZxid(last)}`;
  if (!isWellFormed(history)) return 'the ranges of its log are in no order';
  const end = lastOfRanges(history);
  return end === last ? null : `its log ends with ${formatZxid(end)}, not ${formatZxid(last)}`;
}
