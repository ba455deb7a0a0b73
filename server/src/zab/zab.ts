/**
 * The core: `step(input)` changes this member's state and returns what the driver must do.
 *
 * Pure and deterministic: the same inputs give the same outputs, always. It owns the links and the
 * change of roles; what a role does is in looking.ts, following.ts and leading.ts. A role asks for
 * its end, which takes effect when the handler is done, so that no handler runs half in a new role.
 */
import {
  assert,
  type CoreMessage,
  formatZxid,
  type PeerId,
  unreachable,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import { Following } from './following.js';
import { implausible } from './judge.js';
import { Leading } from './leading.js';
import { Looking } from './looking.js';
import { type Link, Member } from './member.js';
import type { Role, Transitions } from './role.js';
import { isFull } from './room.js';
import type {
  DiskRoom,
  LinkId,
  RoleName,
  Ticket,
  ZabInput,
  ZabOptions,
  ZabOutput,
  ZabStart,
} from './types.js';

type ConnectedInput = Extract<ZabInput, { kind: 'connected' }>;

export class Zab {
  readonly #member: Member;
  readonly #transitions: Transitions;
  #role: Role;
  #next: (() => Role) | null = null;
  #started = false;
  #pingedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: ZabOptions, start: ZabStart) {
    this.#member = new Member(options, start);
    this.#transitions = {
      look: (reason) => this.#request(() => this.#look(reason)),
      follow: (leader) => this.#request(() => this.#follow(leader)),
      lead: (founding) => this.#request(() => this.#lead(founding)),
    };
    this.#role = new Looking(this.#member, this.#transitions);
  }

  get role(): RoleName {
    return this.#role.name;
  }
  get round(): number {
    return this.#member.round;
  }
  get acceptedEpoch(): number {
    return this.#member.acceptedEpoch;
  }
  get currentEpoch(): number {
    return this.#member.currentEpoch;
  }
  get ensembleId(): string {
    return this.#member.ensembleId;
  }
  get founded(): boolean {
    return this.#member.founded;
  }
  /** False if the disk is damaged and no snapshot has replaced its content yet. */
  get sound(): boolean {
    return this.#member.sound;
  }
  /** The newest zxid in the log, durable or not. */
  get last(): Zxid {
    return this.#member.history.last;
  }
  /** The newest zxid up to which the log is durable. */
  get durable(): Zxid {
    return this.#member.history.durable;
  }
  get committed(): Zxid {
    return this.#member.committed;
  }
  get delivered(): Zxid {
    return this.#member.delivered;
  }
  /**
   * Whether nothing that clients are to hear may leave: the clocks have jumped, and no answer since
   * shows that the lease of this role still holds.
   */
  get isDoubtful(): boolean {
    return this.#role.isDoubtful;
  }
  /** Whether something is committed and durable here and not delivered: see `deliverMore`. */
  get hasMore(): boolean {
    return this.#member.hasMore;
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
    return this.#member.takeOutputs();
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
        this.#member.pace = input.share;
        return;
      case 'purged':
        // After a giveUp the purge concerns a log that is no longer used.
        if (this.#member.sound) this.#member.history.onPurged(input.base);
        return;
      case 'deliverMore':
        this.#member.deliverReady();
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
    if (this.#leading === null) this.#member.note(`${this.#role.name}.ignored`, { request });
    return this.#leading;
  }

  #onTick(nowMs: number): void {
    const member = this.#member;
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
    this.#member.doubtedAtMs = this.#member.nowMs;
    this.#pingedAtMs = Number.NEGATIVE_INFINITY;
    this.#onTick(nowMs);
  }

  #start(): void {
    const member = this.#member;
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
    const { nowMs, options } = this.#member;
    for (const link of [...this.#member.links.values()]) {
      const silentMs = nowMs - link.heardAtMs;
      if (silentMs <= options.peerTimeoutMs) continue;
      this.#member.drop(link, `silent for ${Math.round(silentMs)} ms`);
      if (this.#next === null) this.#role.onDisconnected(link.peer);
    }
  }

  #onConnected({ peer, link: linkId, version }: ConnectedInput): void {
    const { options, nowMs } = this.#member;
    assert(options.members.includes(peer), () => `member ${peer} is not in the configuration`);
    const old = this.#member.linkOf(peer);
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
    this.#member.links.set(peer, link);
    if (this.#started && this.#next === null) this.#role.onConnected(link);
  }

  #onDisconnected(peer: PeerId, link: LinkId): void {
    if (this.#member.linkOf(peer)?.link !== link) return;
    this.#member.links.delete(peer);
    if (this.#started && this.#next === null) this.#role.onDisconnected(peer);
  }

  #onHeard(peer: PeerId, linkId: LinkId): void {
    const link = this.#member.linkOf(peer);
    if (link?.link === linkId) link.heardAtMs = this.#member.nowMs;
  }

  #onMessage(peer: PeerId, linkId: LinkId, message: CoreMessage): void {
    const link = this.#member.linkOf(peer);
    if (link === undefined || link.link !== linkId) return;
    const problem = implausible(this.#member, link, message);
    if (problem !== null) return this.#refuse(link, `${message.kind}: ${problem}`);
    link.heardAtMs = this.#member.nowMs;
    if (message.kind === 'ping') {
      link.echo = message.sent;
      link.contactAtMs = Math.max(link.contactAtMs, Math.min(message.echo, this.#member.nowMs));
      return;
    }
    if (message.kind === 'vote') {
      this.#noteRoom(link, message);
      link.vote = message;
      if (message.state !== 'leading') this.#member.givenUp.onNotLeading(peer);
      if (message.state !== 'following' || message.leader !== this.#member.id) {
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
    link.roomSinceMs = this.#member.nowMs;
    this.#member.note(wasFull ? 'disk.member_has_room' : 'disk.member_full', { member: link.peer });
  }

  #onRoom(room: DiskRoom): void {
    if (room === this.#member.room) return;
    this.#member.room = room;
    if (this.#started) this.#role.onRoom();
  }

  /** Drops the link of a peer whose message is not plausible. */
  #refuse(link: Link, problem: string): void {
    this.#member.note('peer.implausible', { peer: link.peer, sent: problem });
    this.#member.drop(link, `implausible ${problem}`);
    if (this.#started && this.#next === null) this.#role.onDisconnected(link.peer);
  }

  /** Continues as if the disk had been found damaged at the start. */
  #onDistrust(reason: string): void {
    const member = this.#member;
    if (!member.sound) return;
    member.giveUp(reason, 0);
    for (const link of [...member.links.values()]) {
      if (link.streaming) member.drop(link, `transfer given up: ${reason}`);
    }
    this.#transitions.look(reason);
  }

  #onPersisted(ticket: Ticket): void {
    this.#member.onPersisted(ticket);
    this.#member.tickets.runDue(() => this.#next !== null);
    if (this.#next === null) this.#role.onProgress();
  }

  #request(next: () => Role): void {
    this.#next ??= next;
  }

  #look(reason: string): Role {
    this.#member.tickets.forget();
    this.#member.note('role.looking', { reason });
    const epoch = this.#member.currentEpoch;
    this.#member.emit({ kind: 'role', role: 'looking', leader: 0, epoch });
    return new Looking(this.#member, this.#transitions);
  }

  #follow(leader: PeerId): Role {
    this.#member.tickets.forget();
    this.#member.note('role.following', { leader });
    this.#member.followedInVain += 1;
    return new Following(this.#member, this.#transitions, leader);
  }

  #lead(founding: boolean): Role {
    this.#member.tickets.forget();
    const reason = founding ? 'to found the ensemble' : 'to discover its epoch';
    this.#member.note('role.leading', { reason });
    return new Leading(this.#member, this.#transitions, founding);
  }

  #checkInvariants(): void {
    const { delivered, committed, history, currentEpoch, acceptedEpoch } = this.#member;
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
