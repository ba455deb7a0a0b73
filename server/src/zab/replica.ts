/**
 * Holds the core's state that outlives a role: identity, epochs, history, links and outputs.
 *
 * The roles (looking, following, leading) act through it. It owns the two rules that no role may
 * bend: deliver only what is committed and durable here, and never let an epoch fall.
 */
import {
  assert,
  type CoreMessage,
  epochOf,
  formatZxid,
  type LeadershipOf,
  type PeerId,
  type ProposalBatch,
  type VoteMessage,
  type Zxid,
} from '@rookery/protocol';
import { GivenUp } from './given-up.js';
import { History, Tickets } from './history.js';
import { Lineage } from './lineage.js';
import { majorityOf, Quorums } from './quorum.js';
import type {
  DiskRoom,
  LinkId,
  NoteFacts,
  ReplicaView,
  Ticket,
  ZabOptions,
  ZabOutput,
  ZabStart,
} from './types.js';

/**
 * While a learner is brought up, up to this many times the usual bytes of proposals are kept in
 * memory: more than is written, even of large values, while the missing log is read from disk.
 */
const STREAMING_WINDOWS = 128;

/** One live connection to a peer. */
export interface Link {
  readonly peer: PeerId;
  readonly link: LinkId;
  /** The wire version of the link. Nothing that later versions added is sent or accepted. */
  readonly version: number;
  /** When anything was last received, in ms. */
  heardAtMs: number;
  /** When the last answered ping was sent, in ms. It proves contact, however late it is read. */
  contactAtMs: number;
  /** The time in the peer's last ping, which is to be echoed. */
  echo: number;
  /** The peer's newest view of the election. */
  vote: VoteMessage | null;
  /** Since when its votes say that its disk is full, or that it is not, in ms. */
  roomSinceMs: number;
  /** The peer's offer to follow this member, kept until this member leads. */
  offeredEpoch: number | null;
  /** The driver sends a snapshot or history, or waits until the link has room, and then reports. */
  streaming: boolean;
}

/** The leader that a vote names, with its newest epoch and zxid. */
interface NamedLeader {
  readonly leader: PeerId;
  readonly epoch: number;
  readonly zxid: Zxid;
}

export class Replica implements ReplicaView {
  readonly options: ZabOptions;
  readonly history: History;
  readonly lineage: Lineage;
  readonly tickets = new Tickets();
  readonly quorums: Quorums;
  readonly links = new Map<PeerId, Link>();
  nowMs = 0;
  /** Contact that is not newer than this proves nothing, because the clocks have jumped, in ms. */
  doubtedAtMs = Number.NEGATIVE_INFINITY;
  #room: DiskRoom = 'enough';
  /** Since when the disk here is full, or has room, in ms. */
  roomSinceMs = Number.NEGATIVE_INFINITY;
  /** When this member last ended its own leadership for want of room, in ms. */
  handedOverAtMs = Number.NEGATIVE_INFINITY;
  readonly givenUp = new GivenUp();
  /** How often it has begun to follow since it last served, or was spared for want of room. */
  followedInVain = 0;
  /** Since when storage has had work without completing any, in ms; otherwise null. */
  writingSinceMs: number | null = null;
  /** The share of `deliveryBytesMax` that one step delivers. */
  pace = 1;
  round = 0;
  ensembleId: string;
  founded: boolean;
  #sound: boolean;
  #acceptedEpoch: number;
  #currentEpoch: number;
  /** Whether this member already serves with its configured list of members. */
  #isSettled: boolean;
  /** The time of the first tick, in ms. */
  startedAtMs = 0;
  /** The leader to whom the accepted epoch was promised; unknown after a restart. */
  acceptedFrom: PeerId = 0;
  #committed: Zxid;
  #delivered: Zxid;
  /**
   * From this epoch on, the lineage in memory is newer than the one on disk. It is saved before the
   * first proposal of such an epoch is appended.
   */
  #unsavedEpoch = Number.POSITIVE_INFINITY;
  /** Once this ticket is durable, a damaged disk is sound again, whatever the role is then. */
  #soundFrom: Ticket = Number.POSITIVE_INFINITY;
  readonly #avoided = new Map<PeerId, number>();
  #outputs: ZabOutput[] = [];

  constructor(options: ZabOptions, start: ZabStart) {
    assert(options.members.includes(options.id), `member ${options.id} is not among the members`);
    assert(
      start.currentEpoch <= start.acceptedEpoch,
      `currentEpoch ${start.currentEpoch} above acceptedEpoch ${start.acceptedEpoch}`,
    );
    this.options = options;
    this.quorums = new Quorums(options.members, options.formerMembers);
    this.#isSettled = !this.quorums.isChanging && (options.abstainMs ?? 0) === 0;
    this.history = new History(start.history, start.applied, start.suffix);
    this.lineage = new Lineage(start.lineage);
    this.ensembleId = start.ensembleId;
    this.founded = start.founded;
    this.#sound = start.sound;
    this.#acceptedEpoch = start.acceptedEpoch;
    this.#currentEpoch = start.currentEpoch;
    this.#committed = start.applied;
    this.#delivered = start.applied;
  }

  get id(): PeerId {
    return this.options.id;
  }
  get room(): DiskRoom {
    return this.#room;
  }
  set room(room: DiskRoom) {
    const wasFull = this.isFull;
    this.#room = room;
    if (this.isFull !== wasFull) this.roomSinceMs = this.nowMs;
  }
  get isFull(): boolean {
    return this.#room !== 'enough';
  }
  get quorum(): number {
    return majorityOf(this.options.members.length);
  }
  /** False if the disk is damaged and no snapshot has replaced its content yet. */
  get sound(): boolean {
    return this.#sound;
  }
  get acceptedEpoch(): number {
    return this.#acceptedEpoch;
  }
  get currentEpoch(): number {
    return this.#currentEpoch;
  }
  get committed(): Zxid {
    return this.#committed;
  }
  get delivered(): Zxid {
    return this.#delivered;
  }

  /** This member begins to serve clients, as a leader or a follower. */
  onServing(): void {
    this.followedInVain = 0;
    this.givenUp.onServing();
  }

  /** Whether a zxid that a peer names is part of this history. */
  knows(zxid: Zxid): boolean {
    return zxid <= this.#committed || this.history.has(zxid);
  }

  takeOutputs(): readonly ZabOutput[] {
    const outputs = this.#outputs;
    this.#outputs = [];
    return outputs;
  }

  emit(output: ZabOutput): void {
    this.#outputs.push(output);
  }

  note(event: string, facts: NoteFacts): void {
    this.emit({ kind: 'note', event, facts });
  }

  /** Sends the message unless the link has been dropped. */
  send(link: Link, message: CoreMessage): void {
    if (this.links.get(link.peer) !== link) return;
    this.emit({ kind: 'send', peer: link.peer, link: link.link, message });
  }

  sendToAll(message: CoreMessage): void {
    for (const link of this.links.values()) this.send(link, message);
  }

  #issue(): Ticket {
    this.writingSinceMs ??= this.nowMs;
    return this.tickets.issue();
  }

  append(batch: ProposalBatch): Ticket {
    if (epochOf(batch.last) >= this.#unsavedEpoch) this.#saveEpochs();
    const ticket = this.#issue();
    this.history.append(batch, ticket);
    this.emit({ kind: 'append', ticket, batch });
    return ticket;
  }

  truncate(after: Zxid, diverged = false): void {
    assert(
      after >= this.#delivered,
      () => `truncation after ${formatZxid(after)}, but ${formatZxid(this.#delivered)} is applied`,
    );
    const ticket = this.#issue();
    this.history.truncate(after);
    this.emit({ kind: 'truncate', ticket, after, diverged });
  }

  installSnapshot(zxid: Zxid, lineage: readonly LeadershipOf[]): void {
    assert(
      zxid >= this.#delivered,
      () => `a snapshot at ${formatZxid(zxid)} goes back from ${formatZxid(this.#delivered)}`,
    );
    const ticket = this.#issue();
    this.#soundFrom = ticket;
    this.history.reset(zxid);
    this.#committed = zxid;
    this.#delivered = zxid;
    this.lineage.replace(lineage);
    this.#unsavedEpoch = Number.POSITIVE_INFINITY;
    this.emit({ kind: 'installSnapshot', ticket, zxid, lineage: this.lineage.from(zxid) });
  }

  acceptEpoch(epoch: number, from: PeerId): Ticket {
    assert(epoch >= this.#acceptedEpoch, `accepting ${epoch} after ${this.#acceptedEpoch}`);
    if (epoch === this.#acceptedEpoch) return this.tickets.newest;
    this.acceptedFrom = from;
    this.#acceptedEpoch = epoch;
    return this.#saveEpochs();
  }

  /**
   * Enters `epoch`, whose initial history has been appended and therefore becomes durable first. A
   * leader's `identity` is durable before its first proposal.
   */
  enterEpoch(epoch: number, ensembleId: string, identity = 0): Ticket {
    assert(epoch === this.#acceptedEpoch, `entering ${epoch}, accepted ${this.#acceptedEpoch}`);
    assert(epoch >= this.#currentEpoch, `entering ${epoch} after ${this.#currentEpoch}`);
    this.#currentEpoch = epoch;
    if (identity !== 0) this.lineage.set(epoch, identity);
    if (this.ensembleId !== ensembleId) this.founded = false;
    this.ensembleId = ensembleId;
    return this.#saveEpochs();
  }

  /**
   * A damaged disk may have lost what this member acknowledged, so the member becomes like a wiped
   * one and has no vote until a leader has brought it up to date. This is saved, too: otherwise a
   * crash right after the snapshot would leave a sound disk with an ensemble id and a gap in what
   * was acknowledged.
   */
  giveUpMembership(): void {
    assert(!this.sound, 'a sound member keeps its ensemble id');
    if (this.ensembleId === '') return;
    this.ensembleId = '';
    this.founded = false;
    this.#saveEpochs();
  }

  /**
   * A leader has its quorum. The ensemble id is kept from now on, except after damage, and only the
   * configured list of members counts. Every former list had its majority in this quorum, so no
   * other leader can be elected by one of them.
   */
  settleFounding(): Ticket {
    if (this.founded && this.#isSettled) return this.tickets.newest;
    if (!this.#isSettled) this.note('list.settled', { members: this.options.members });
    this.founded = true;
    this.#isSettled = true;
    this.quorums.settle();
    return this.#saveEpochs();
  }

  /** What this member tells others of itself, and of the leader that it names. */
  vote(state: VoteMessage['state'], named: NamedLeader): VoteMessage {
    const { round, ensembleId, founded, sound } = this;
    const { own: former } = this.quorums;
    const identity = { ensembleId, founded, sound, ...(former.length > 0 && { former }) };
    const room = this.isFull && ({ full: true } as const);
    return { kind: 'vote', state, round, ...named, ...identity, ...room };
  }

  /** Counts quorums by the former lists of all reachable members, until a leader is established. */
  countByAll(): void {
    const others: (readonly PeerId[])[] = [];
    for (const { vote } of this.links.values()) others.push(...(vote?.former ?? []));
    this.quorums.include(others);
  }

  get reachesQuorum(): boolean {
    return this.quorums.isQuorum((id) => id === this.id || this.links.has(id));
  }

  /** Whether this member takes no part in elections yet. */
  get abstains(): boolean {
    const { abstainMs = 0 } = this.options;
    return !this.#isSettled && this.nowMs - this.startedAtMs < abstainMs;
  }

  #saveEpochs(): Ticket {
    this.#unsavedEpoch = Number.POSITIVE_INFINITY;
    const ticket = this.#issue();
    this.emit({
      kind: 'saveEpochs',
      ticket,
      accepted: this.#acceptedEpoch,
      current: this.#currentEpoch,
      ensembleId: this.ensembleId,
      founded: this.founded,
      lineage: this.lineage.from(this.history.base),
      settled: this.#isSettled,
    });
    return ticket;
  }

  /**
   * From `after` on, the history is that of a leader with this lineage. The lineage is saved with
   * the next epochs or before the first append, so it is durable before the history is.
   */
  followLineage(leaderships: readonly LeadershipOf[], after: Zxid): void {
    this.#unsavedEpoch = Math.min(this.#unsavedEpoch, this.lineage.follow(leaderships, after));
  }

  /**
   * This member's history is not the ensemble's: acknowledged writes are lost, or two leaders were
   * followed. It becomes a member with a damaged disk, and that is saved before anything else.
   */
  giveUp(reason: string, after: Zxid): void {
    const ticket = this.#issue();
    this.#sound = false;
    this.#soundFrom = Number.POSITIVE_INFINITY;
    this.ensembleId = '';
    this.founded = false;
    this.history.reset(0);
    this.lineage.replace([]);
    this.#committed = 0;
    this.#delivered = 0;
    this.emit({ kind: 'giveUp', ticket, after, reason });
  }

  /**
   * Everything up to `zxid` is committed. Delivers the first part of what is also durable here. If
   * earlier proposals already wait to be delivered, all go on waiting: a turn may have hundreds of
   * commits, and would take too long if each delivered a part.
   */
  commit(zxid: Zxid): void {
    const wasWaiting = this.hasMore;
    this.#committed = Math.max(this.#committed, zxid);
    if (!wasWaiting) this.deliverReady();
  }

  /** Delivers as `commit` does. */
  onPersisted(ticket: Ticket): void {
    const wasWaiting = this.hasMore;
    this.tickets.onPersisted(ticket);
    this.writingSinceMs = ticket === this.tickets.newest ? null : this.nowMs;
    this.history.onPersisted(ticket);
    if (ticket >= this.#soundFrom) this.#sound = true;
    if (!wasWaiting) this.deliverReady();
  }

  get #ready(): Zxid {
    return Math.min(this.#committed, this.history.durable);
  }

  /**
   * Whether something is committed and durable here and not delivered yet. Between steps this is
   * what did not fit into a part.
   */
  get hasMore(): boolean {
    return this.#delivered < this.#ready;
  }

  /** Delivers one part, which takes some ms, so that heartbeats and clients come in between. */
  deliverReady(): void {
    if (!this.hasMore) return;
    const bytesMax = this.pace * this.options.deliveryBytesMax;
    const batches = this.history.slice(this.#delivered, this.#ready, bytesMax);
    assert(batches[0]?.previous === this.#delivered, 'delivery would leave a hole');
    for (const batch of batches) {
      this.#delivered = batch.last;
      this.emit({ kind: 'deliver', batch });
    }
    this.history.trim(this.#delivered, this.#windowBytesMax());
  }

  /**
   * The window is larger while a learner is brought up from disk. Otherwise new proposals would
   * also have to be read from disk, and under load the learner would never catch up.
   */
  #windowBytesMax(): number {
    const { windowBytesMax, learnerWindowBytesMax } = this.options;
    const manyBytes = Math.min(STREAMING_WINDOWS * windowBytesMax, learnerWindowBytesMax);
    const streamingBytesMax = Math.max(windowBytesMax, manyBytes);
    for (const link of this.links.values()) {
      if (link.streaming) return streamingBytesMax;
    }
    return windowBytesMax;
  }

  linkOf(peer: PeerId): Link | undefined {
    return this.links.get(peer);
  }

  /**
   * Ignores for `settleMs` that this peer says that it leads, because this member has just refused
   * to follow it. Meanwhile an election can end with another leader.
   */
  avoid(peer: PeerId): void {
    this.#avoided.set(peer, this.nowMs + this.options.settleMs);
  }

  avoids(peer: PeerId): boolean {
    return this.nowMs < (this.#avoided.get(peer) ?? 0);
  }

  /** Drops a link. The peer counts as unreachable until there is a new one. */
  drop(link: Link, reason: string): void {
    if (this.links.get(link.peer) !== link) return;
    this.links.delete(link.peer);
    this.emit({ kind: 'disconnect', peer: link.peer, link: link.link, reason });
  }
}
