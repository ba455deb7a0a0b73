/**
 * Runs one member: feeds the core, carries out what it puts out, in order, and decides nothing.
 *
 * Everything happens in turns: whatever the event loop brings is taken in, then the end of the turn
 * proposes what is prepared, unless that waits for company (`proposal-pace.ts`), and flushes every
 * socket once. Owns the wiring; `turns.ts`, `leader-desk.ts`, `transfers.ts` and
 * `snapshot-receiver.ts` are its parts. Never touches a tree.
 */
import {
  type CoreMessage,
  chunksByBytes,
  formatZxid,
  type PeerId,
  type PeerMessage,
  type Proposal,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ClientHandler } from '../net/client-handler.js';
import type { PeerHandler } from '../net/peer-handler.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import { LeaseClock } from '../sessions/lease-clock.js';
import { txnOf } from '../state/txn-codec.js';
import { TxnPlaces } from '../state/txn-places.js';
import type { Ticket, Zab, ZabInput, ZabOutput } from '../zab/index.js';
import { onAnswer } from './answers.js';
import { clientHandler } from './client-handler.js';
import { type DeliveryHooks, deliverParts } from './delivery.js';
import { deskOfTerm } from './desk-of-term.js';
import type { Answer, LeaderDesk } from './leader-desk.js';
import { noteLevel } from './note-level.js';
import type { DriverParts } from './parts.js';
import { ProposalPace } from './proposal-pace.js';
import { ReadOnlyMode } from './read-only-mode.js';
import { SnapshotReceiver } from './snapshot-receiver.js';
import { StateKeeper } from './state-keeper.js';
import { type TransferLinks, Transfers } from './transfers.js';
import { Turns } from './turns.js';

type RoleOutput = Extract<ZabOutput, { kind: 'role' }>;

/** Requests of one peer message; a frame holds any single one of them. */
const MESSAGE_BYTES_MAX = 1 << 20;

export class Driver {
  readonly clients: ClientHandler;
  readonly peers: PeerHandler;
  readonly #parts: DriverParts;
  readonly #zab: Zab;
  readonly #logger: Logger;
  readonly #pipeline: Pipeline;
  readonly #turns: Turns;
  readonly #pace: ProposalPace;
  readonly #readOnly: ReadOnlyMode;
  readonly #links = new Map<PeerId, number>();
  readonly #transfers: Transfers;
  readonly #receiver: SnapshotReceiver;
  readonly #leaseClock: LeaseClock;
  readonly #txns = new TxnPlaces();
  readonly #delivery: DeliveryHooks = {
    next: () => this.#step({ kind: 'deliver' }),
    sendAll: () => this.#sendAll(),
  };
  readonly keeper: StateKeeper;
  #desk: LeaderDesk | null = null;
  #leader: PeerId = 0;
  #role: RoleOutput['role'] = 'looking';
  #roleSinceMs = 0;
  #touchedAtMs = 0;
  #stopped = false;

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.#zab = parts.zab;
    this.#logger = parts.logger;
    this.#pipeline = parts.pipeline;
    this.#readOnly = new ReadOnlyMode(parts);
    this.#turns = new Turns(parts.timers, parts.options.tickMs, {
      onTick: (nowMs) => this.#onTick(nowMs),
      onEnd: () => this.#endTurn(),
      onError: (error) => this.fail(error),
    });
    this.#pace = new ProposalPace(parts.timers, () => this.#turns.run(() => undefined));
    this.#leaseClock = new LeaseClock(2 * parts.options.tickMs);
    const onPurged = (base: Zxid) => this.#turns.run(() => this.#step({ kind: 'purged', base }));
    this.keeper = new StateKeeper(parts, {
      onPersisted: (ticket) => this.#onPersisted(ticket),
      onPurged,
      onFatal: (error) => this.fail(error),
    });
    const links: TransferLinks = {
      isUp: (peer, link) => this.#links.get(peer) === link,
      send: (peer, link, message) => this.#turns.run(() => this.#send(peer, link, message)),
      queuedBytes: (peer, link) => parts.peerPort().queuedBytes(peer, link),
      drop: (peer, link, reason) => parts.peerPort().disconnect(peer, link, reason),
      onSnapshotSent: (peer, link, zxid) =>
        this.#turns.run(() => this.#step({ kind: 'snapshotSent', peer, link, zxid })),
      onUnreadable: (base, reason) => {
        parts.logger.warn({ base: formatZxid(base), reason }, 'log.unreadable');
        onPurged(base);
      },
      onHistorySent: (peer, link, through) =>
        this.#turns.run(() => this.#step({ kind: 'historySent', peer, link, through })),
    };
    this.#transfers = new Transfers(parts.storage, parts.timers, links, parts.options);
    this.#receiver = new SnapshotReceiver(parts.storage, {
      onWritten: (peer, link, index) =>
        this.#turns.run(() => this.#send(peer, link, { kind: 'snapshotAck', index })),
      onMessage: (peer, link, message) =>
        this.#turns.run(() => this.#step({ kind: 'message', peer, link, message })),
      onRefused: (peer, link, reason) => parts.peerPort().disconnect(peer, link, reason),
    });
    this.clients = clientHandler(this.#pipeline, this.#turns);
    this.peers = {
      onConnected: (peer, link) => this.#turns.run(() => this.#onConnected(peer, link)),
      onMessage: (peer, link, message) =>
        this.#turns.run(() => this.#onMessage(peer, link, message)),
      onDisconnected: (peer, link) => this.#turns.run(() => this.#onDisconnected(peer, link)),
    };
  }

  get role(): RoleOutput['role'] {
    return this.#role;
  }
  get leader(): PeerId {
    return this.#leader;
  }
  get roleForMs(): number {
    return this.#parts.timers.nowMs() - this.#roleSinceMs;
  }
  /** Null unless this member leads. */
  get desk(): LeaderDesk | null {
    return this.#desk;
  }

  start(): void {
    this.#turns.start();
  }

  /** Takes in nothing more. What storage has been given is still written. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#turns.stop();
    this.#desk = null;
    this.#pipeline.stopServing();
    this.#links.clear();
    this.#transfers.stop();
  }

  /** Anything unexpected ends the member: a zombie that answers pings is worse than a crash. */
  fail(error: unknown): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#turns.stop();
    this.#parts.onFatal(error);
  }

  // Turns

  #endTurn(): void {
    if (this.#zab.hasMore) deliverParts(this.#parts, this.#delivery);
    this.#sendAll();
    if (this.keeper.step(this.#turns.nowMs) || this.#zab.hasMore) this.#turns.enter();
  }

  #sendAll(): void {
    this.#forwardToLeader();
    this.#propose();
    this.#parts.clientPort().flush();
    this.#parts.peerPort().flush();
  }

  /** Waits while the own disk is behind: what is prepared is bounded by what members may ask. */
  #propose(): void {
    const desk = this.#desk;
    if (desk === null) return;
    if (this.keeper.pendingBytes > this.#parts.options.unwrittenBytesMax) return;
    const isUndecided = this.#zab.delivered < this.#zab.last;
    if (!this.#pace.isDue({ proposals: desk.gathered, isUndecided }, this.#turns.nowMs)) return;
    for (const proposals of desk.takeProposals()) {
      this.#parts.counters.proposals += proposals.length;
      this.#step({ kind: 'propose', proposals });
    }
    desk.askToConfirm();
  }

  #onTick(nowMs: number): void {
    this.#step({ kind: 'tick', nowMs });
    if (nowMs - this.#touchedAtMs >= this.#parts.options.heartbeatMs) {
      this.#touchedAtMs = nowMs;
      this.#reportTouches();
    }
    this.#parts.counters.expiredSessions += this.#desk?.onTick() ?? 0;
    this.#pipeline.onTick(nowMs);
    if (this.#role === 'looking') this.#readOnly.onTick(this.roleForMs);
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => this.fail(error));
  }

  // Clients to the leader

  #forwardToLeader(): void {
    const items = this.#pipeline.takeForwards();
    const syncs = this.#pipeline.takeSyncs();
    const attaches = this.#pipeline.takeAttaches();
    this.#parts.counters.resumes += attaches.length;
    for (const attach of attaches) this.#toLeader(attach);
    // A turn that brought reads alone makes no iterator.
    if (items.length > 0) {
      for (const chunk of chunksByBytes(items, MESSAGE_BYTES_MAX, (one) => one.bytes)) {
        this.#toLeader({ kind: 'requests', items: chunk });
      }
    }
    for (const sync of syncs) this.#toLeader(sync);
  }

  #reportTouches(): void {
    const sessions = this.#pipeline.takeTouches();
    if (sessions.length > 0) this.#toLeader({ kind: 'touch', sessions });
  }

  /** Without a leader it is dropped: the role has ended, and every client connection with it. */
  #toLeader(message: PeerMessage): void {
    if (this.#desk !== null) {
      this.#onDeskMessage(this.#parts.options.id, message);
      return;
    }
    const link = this.#links.get(this.#leader);
    if (link !== undefined && this.#role === 'following') this.#send(this.#leader, link, message);
  }

  #answer(member: PeerId, answer: Answer): void {
    if (member === this.#parts.options.id) {
      onAnswer(this.#pipeline, answer);
      return;
    }
    const link = this.#links.get(member);
    if (link !== undefined) this.#send(member, link, answer);
  }

  // Links

  #onConnected(peer: PeerId, link: number): void {
    this.#links.set(peer, link);
    this.#step({ kind: 'connected', peer, link });
  }

  #onDisconnected(peer: PeerId, link: number): void {
    if (this.#links.get(peer) === link) this.#links.delete(peer);
    this.#desk?.onMemberGone(peer);
    this.#transfers.onDisconnected(peer, link);
    this.#background(this.#receiver.onDisconnected(peer, link));
    this.#step({ kind: 'disconnected', peer, link });
  }

  #onMessage(peer: PeerId, link: number, message: PeerMessage): void {
    switch (message.kind) {
      case 'requests':
      case 'sync':
      case 'attach':
      case 'touch':
        return this.#onDeskMessage(peer, message);
      case 'attached':
      case 'detach':
      case 'synced':
        if (peer === this.#leader && this.#role === 'following') onAnswer(this.#pipeline, message);
        return;
      case 'snapshotChunk':
        return this.#background(this.#receiver.onChunk(peer, link, message));
      case 'snapshotAck':
        return this.#transfers.onSnapshotAck(peer, link, message.index);
      default:
        return this.#onCoreMessage(peer, link, message);
    }
  }

  #onCoreMessage(peer: PeerId, link: number, message: CoreMessage): void {
    const { behindBytesMax } = this.#parts.options;
    if (message.kind === 'propose' && this.keeper.pendingBytes > behindBytesMax) {
      this.#parts.peerPort().disconnect(peer, link, 'the disk here cannot keep up');
      return;
    }
    if (this.#receiver.holds(peer, link, message)) return;
    this.#step({ kind: 'message', peer, link, message });
  }

  /** Sent to a member that leads no more: nobody answers, its own role change tells the origin. */
  #onDeskMessage(origin: PeerId, message: PeerMessage): void {
    if (this.#desk === null) return;
    switch (message.kind) {
      case 'requests':
        return this.#desk.onRequests(origin, message.items);
      case 'sync':
        return this.#desk.onSync(origin, message);
      case 'attach':
        return this.#desk.onAttach(origin, message);
      case 'touch':
        return this.#desk.onTouch(origin, message.sessions);
    }
  }

  #send(peer: PeerId, link: number, message: PeerMessage): void {
    this.#parts.peerPort().send(peer, link, message);
  }

  // The core

  #onPersisted(ticket: Ticket): void {
    this.#turns.run(() => this.#step({ kind: 'persisted', ticket }));
  }

  #step(input: ZabInput): void {
    const outputs = this.#zab.step(input);
    this.#parts.observer?.onStep(input, outputs);
    for (const output of outputs) this.#run(output);
  }

  #run(output: ZabOutput): void {
    switch (output.kind) {
      case 'installSnapshot':
        this.#readOnly.end();
        return this.keeper.enqueue(output);
      case 'append':
      case 'truncate':
      case 'saveEpochs':
        return this.keeper.enqueue(output);
      case 'send':
        return this.#send(output.peer, output.link, output.message);
      case 'deliver':
        return this.#deliver(output.proposals);
      case 'confirmed':
        return this.#desk?.onConfirmed(output.id, output.zxid);
      case 'role':
        return this.#onRole(output);
      case 'sendHistory':
        return this.#background(
          this.#transfers.sendHistory(output.peer, output.link, output.after, output.through),
        );
      case 'sendSnapshot':
        this.#parts.counters.snapshotsSent += 1;
        return this.#background(this.#transfers.sendSnapshot(output.peer, output.link));
      case 'disconnect':
        return this.#parts.peerPort().disconnect(output.peer, output.link, output.reason);
      case 'note':
        this.#parts.counters.count(output.event);
        return this.#logger[noteLevel(output.event)]({ detail: output.detail }, output.event);
      default:
        unreachable(output);
    }
  }

  #deliver(proposals: readonly Proposal[]): void {
    this.#readOnly.end();
    for (const proposal of proposals) {
      const txn = this.#txns.txnOf(proposal);
      this.#pipeline.apply(proposal.zxid, txn, this.#turns.nowMs);
      this.#desk?.onApplied(proposal.zxid, txn);
      // What observers get, they keep.
      this.#parts.observer?.onApplied(proposal.zxid, txnOf(proposal), this.keeper.state);
    }
    this.#parts.counters.commits += proposals.length;
  }

  #onRole(output: RoleOutput): void {
    const { role, leader, epoch } = output;
    const was = this.#role;
    if (role !== 'looking') this.#readOnly.end();
    if (role !== 'looking') this.#parts.counters.elections.record(this.roleForMs);
    this.#role = role;
    this.#leader = leader;
    this.#roleSinceMs = this.#turns.nowMs;
    if (role === 'looking') {
      this.#desk = null;
      const ended = this.#pipeline.stopServing(this.#turns.standstill);
      if (was !== 'looking') this.#logger.info({ was, clients: ended.length }, 'role.ended');
      return;
    }
    const zxid = formatZxid(this.#zab.delivered);
    this.#logger.info({ role, leader, epoch, zxid }, 'role.serving');
    if (role === 'leading') this.#desk = this.#newDesk(epoch, this.#zab.last);
    this.#pipeline.startServing();
  }

  #newDesk(epoch: number, lastZxid: Zxid): LeaderDesk {
    const term = { epoch, lastZxid, state: this.keeper.state };
    return deskOfTerm(this.#parts, term, {
      time: () => ({
        nowMs: this.#leaseClock.read(this.#turns.nowMs),
        wallMs: this.#parts.wallMs(),
      }),
      note: (text) => this.#logger.warn({ detail: text }, 'quota.exceeded'),
      confirm: (id) => this.#step({ kind: 'confirm', id }),
      answer: (member, answer) => this.#answer(member, answer),
    });
  }
}
