/**
 * Runs one member: gives the core its inputs and carries out its outputs in order. It decides
 * neither on requests nor on what is committed, and never touches a tree.
 *
 * Everything happens in turns. A turn takes in what one iteration of the event loop brings. At its
 * end the prepared transactions are proposed, unless they wait for a larger batch
 * (ProposalBatcher), and every socket is flushed; both happen once more before that where the
 * turn applies a long history. This file holds the wiring; its main parts are `turns.ts`,
 * `leader.ts` and `transfers.ts`.
 */
import {
  type CoreMessage,
  formatZxid,
  type Hello,
  type PeerId,
  type PeerMessage,
  type ProposalBatch,
  permsText,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import type { ClientHandler } from '../net/client-connection.js';
import type { PeerHandler } from '../net/peer-port.js';
import { changesByEverybody } from '../pipeline/access.js';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import { TxnViews, txnOf } from '../state/txn-codec.js';
import type { DiskRoom, LinkId, Zab, ZabInput, ZabOutput } from '../zab/index.js';
import { ClockKeeper } from './clock-keeper.js';
import { DigestWatch } from './digest-watch.js';
import { EnsembleLevel } from './ensemble-level.js';
import { checkStarts } from './known-starts.js';
import { type LeaderService, type MessageToLeader, newLeaderService } from './leader.js';
import type { Answer, DriverActions, DriverParts } from './parts.js';
import { PeerQuestions } from './peer-questions.js';
import { ReadOnlyMode, ShownRole } from './read-only-mode.js';
import { Scrub } from './scrub.js';
import { StateKeeper } from './state-keeper.js';
import { SnapshotReceiver, Transfers } from './transfers.js';
import { clientsInTurns, type MessageInTurn, peersInTurns, Turns } from './turns.js';

type RoleOutput = Extract<ZabOutput, { kind: 'role' }>;

/** Most turns deliver no more parts than these, and then everything is sent together. */
const PARTS_BEFORE_SENDING = 2;
/** The least time between two lines about jumps of the clocks. */
const JUMP_LOG_MS = 10_000;

export class Driver implements DriverActions {
  readonly clients: ClientHandler;
  readonly peers: PeerHandler;
  readonly shown: ShownRole;
  readonly #parts: DriverParts;
  readonly #zab: Zab;
  readonly #pipeline: Pipeline;
  readonly #turns: Turns;
  readonly #readOnly: ReadOnlyMode;
  readonly #transfers: Transfers;
  readonly #receiver: SnapshotReceiver;
  readonly #clock: ClockKeeper;
  readonly #digests: DigestWatch;
  readonly #level: EnsembleLevel;
  readonly #txns = new TxnViews();
  readonly keeper: StateKeeper;
  readonly scrub: Scrub;
  readonly questions: PeerQuestions;
  #leaderService: LeaderService | null = null;
  /** Answers wait until it is proven that the role of this member still holds: see `#onJump`. */
  #isDoubtful = false;
  #jumpLoggedAtMs = Number.NEGATIVE_INFINITY;
  /** When touches, clocks and the like were last reported to other members. */
  #heartbeatAtMs = 0;
  /** What the core knows of the room on the disk here. */
  #room: DiskRoom = 'enough';
  #pace = 1;
  #hasServed = false;
  #stopped = false;

  constructor(parts: DriverParts) {
    this.#parts = parts;
    this.#zab = parts.zab;
    this.#pipeline = parts.pipeline;
    this.shown = new ShownRole(parts.timers);
    this.#readOnly = new ReadOnlyMode(parts);
    this.#turns = new Turns(parts.timers, parts.options.tickMs, {
      onTick: (nowMs) => this.#tick({ kind: 'tick', nowMs }),
      onJump: (nowMs, byMs) => this.#onJump(nowMs, byMs),
      onEnd: () => this.#endTurn(),
      onLate: (ms) => parts.counters.pauses.record(ms),
      onError: (error) => this.fail(error),
    });
    this.#clock = new ClockKeeper(parts);
    this.#digests = new DigestWatch(parts);
    this.questions = new PeerQuestions(parts.timers, parts.peerPort, this.#turns);
    this.#level = new EnsembleLevel(parts);
    this.keeper = new StateKeeper(parts, this, this.shown, this.#digests);
    const { repair } = this.keeper;
    this.scrub = new Scrub(parts, this, repair);
    this.#transfers = new Transfers(parts, this, repair);
    this.#receiver = new SnapshotReceiver(parts, this, this.keeper);
    this.clients = clientsInTurns(this.#turns, this.#pipeline);
    this.peers = peersInTurns(this.#turns, this.questions, {
      onConnected: (...at) => this.#onConnected(...at),
      onMessage: (peer, link, message) => this.#onMessage(peer, link, message),
      onDisconnected: (peer, link) => this.#onDisconnected(peer, link),
    });
  }

  /** Null unless this member serves as the leader, which begins later than the core's term. */
  get leaderService(): LeaderService | null {
    return this.#leaderService;
  }

  start(): void {
    this.#turns.start();
    this.scrub.start();
  }

  /** Accepts no further input. What storage has been given is still written. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#turns.stop();
    this.#leaderService?.onTermEnd();
    this.#leaderService = null;
    this.#pipeline.stopServing();
    this.#transfers.stop();
    void this.scrub.stop();
  }

  /**
   * Ends the member after an unexpected error: a member that does nothing any more but answer pings
   * would be worse than none.
   */
  fail(error: unknown): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#turns.stop();
    void this.scrub.stop();
    this.#parts.onFatal(error);
  }

  step(input: ZabInput): void {
    this.#turns.run(() => this.#step(input));
  }

  send(peer: PeerId, link: LinkId, message: PeerMessage): void {
    this.#turns.run(() => this.#parts.peerPort.send(peer, link, message));
  }

  answer(member: PeerId, answer: Answer): void {
    if (member === this.#parts.options.id) this.#onAnswer(answer);
    else this.#parts.peerPort.sendTo(member, answer);
  }

  wake(): void {
    this.#turns.run(() => undefined);
  }

  // Turns

  /**
   * On a leader, `#sendAll` also has the LeaderService decide on the writes of its own clients. If
   * it drops a write, because that came by a former attachment, the outbox has room at once and
   * forwards writes that it has held. They are too late for this turn and need another one. The
   * watches of connections that are gone are removed here, too, a bounded number in each turn.
   */
  #endTurn(): void {
    this.#leaderService?.runWaiting();
    if (this.#zab.replica.hasMore) this.#deliverMore();
    this.#sendAll();
    this.#leaderService?.renew();
    const hasWatchesToRemove = this.#pipeline.endTurn();
    const hasRequests = this.#pipeline.hasForLeader || this.#leaderService?.hasMore === true;
    const hasMore = hasWatchesToRemove || hasRequests || this.#zab.replica.hasMore;
    if (this.keeper.step(this.#turns.nowMs) || hasMore) this.#turns.enter();
  }

  /**
   * Delivers parts of the committed history for some ms, and at least one. A part is bounded in
   * bytes, which say little about its time, because large values are applied as fast as small ones.
   * With one part in each turn a member would fall behind where turns are long, as with many
   * readers. With everything in one turn heartbeats and clients would wait. What is ready to be
   * sent leaves after the first parts.
   */
  #deliverMore(): void {
    const { timers, options } = this.#parts;
    const untilMs = timers.nowMs() + options.deliveryMsMax;
    for (let parts = 0; this.#zab.replica.hasMore; parts++) {
      if (parts === PARTS_BEFORE_SENDING) this.#sendAll();
      this.#step({ kind: 'deliverMore' });
      if (timers.nowMs() >= untilMs) return;
    }
  }

  /** Peers come first, so that a client with its answer soon finds its write at other members. */
  #sendAll(): void {
    for (const message of this.#pipeline.takeForLeader()) this.#sendToLeader(message);
    this.#propose();
    this.#parts.peerPort.flush();
    if (this.#isDoubtful && !this.#zab.isDoubtful) this.#endDoubt(false);
    this.#parts.clientPort.flush();
  }

  /**
   * Proposes nothing while this member's disk lags behind. Meanwhile the overlay bounds what is
   * prepared, and every member bounds what it forwards (Throttle, Outbox).
   */
  #propose(): void {
    const service = this.#leaderService;
    if (service === null) return;
    if (this.keeper.queue.pendingBytes > this.#parts.options.unwrittenBytesMax) return;
    const hasUndelivered = this.#zab.replica.delivered < this.#zab.replica.history.last;
    const batches = service.batcher.takeDue(hasUndelivered, this.#turns.nowMs);
    if (batches === null) return;
    for (const batch of batches) {
      this.#step({ kind: 'propose', batch });
      this.#parts.counters.onProposed(
        this.#zab.replica.history.last,
        batch.count,
        this.#turns.nowMs,
      );
    }
    service.confirmed.ask();
  }

  /**
   * The process may have been suspended for longer than any lease without a trace in its monotonic
   * clock, or an operator or NTP has set the wall clock. So the role goes on, and answers wait
   * until it is confirmed, which takes about a heartbeat.
   */
  #onJump(nowMs: number, byMs: number): void {
    if (nowMs - this.#jumpLoggedAtMs >= JUMP_LOG_MS) {
      this.#jumpLoggedAtMs = nowMs;
      this.#parts.logger.warn({ byMs: Math.round(byMs), role: this.shown.role }, 'clock.jumped');
    }
    this.#tick({ kind: 'clockJumped', nowMs });
    this.#doubtIfDue();
  }

  #doubtIfDue(): void {
    if (this.#isDoubtful || this.shown.role === 'looking' || !this.#zab.isDoubtful) return;
    this.#isDoubtful = true;
    this.#parts.clientPort.withhold();
  }

  #endDoubt(isDropped: boolean): void {
    this.#isDoubtful = false;
    this.#parts.clientPort.letGo({ isDropped });
  }

  #tick(input: Extract<ZabInput, { readonly nowMs: number }>): void {
    const { nowMs } = input;
    const heard = this.#parts.peerPort.takeHeard(nowMs);
    for (const { peer, link } of heard) this.#step({ kind: 'heard', peer, link });
    this.#step(input);
    this.#tellRoom();
    this.#tellPace();
    this.#clock.onTick(this.keeper.state);
    if (nowMs - this.#heartbeatAtMs >= this.#parts.options.heartbeatMs) {
      this.#heartbeatAtMs = nowMs;
      const sessions = this.#pipeline.takeTouches();
      if (sessions.length > 0) this.#sendToLeader({ kind: 'touch', sessions });
      this.#clock.onHeartbeat();
      this.#distrust(this.#digests.onHeartbeat(this.shown, this.keeper.state));
      this.#parts.backups.onHeartbeat(this.shown, this.#parts.peerPort);
    }
    this.#onLeaderTick();
    this.#pipeline.onTick(nowMs);
    if (this.shown.role === 'looking') {
      this.#readOnly.onTick(this.shown.forMs, this.keeper.isInstalling);
    }
  }

  /** Null for no reason to. */
  #distrust(reason: string | null): void {
    if (reason !== null) this.#step({ kind: 'distrust', reason });
  }

  #tellRoom(): void {
    const { room } = this.#parts.diskSpace;
    if (room === this.#room) return;
    this.#room = room;
    this.#step({ kind: 'room', room });
  }

  #tellPace(): void {
    const share = this.#pipeline.deliveryShare;
    if (share === this.#pace) return;
    this.#pace = share;
    this.#step({ kind: 'pace', share });
  }

  #onLeaderTick(): void {
    if (this.#leaderService === null) return;
    const level = this.#level.next(this.keeper.state.level);
    if (level !== null) this.#leaderService.raiseLevel(level);
    this.#parts.counters.expiredSessions += this.#leaderService.onTick();
  }

  #background(work: Promise<void>): void {
    work.catch((error: unknown) => this.fail(error));
  }

  /** Drops the message if there is no leader: all client connections have ended with the role. */
  #sendToLeader(message: MessageToLeader): void {
    const { counters, options } = this.#parts;
    if (message.kind === 'attach') counters.resumes += 1;
    if (this.#leaderService !== null) return this.#leaderService.onMessage(options.id, message);
    if (this.shown.role === 'following') this.#parts.peerPort.sendTo(this.shown.leader, message);
  }

  /** An answer of the leader to this member. */
  #onAnswer(answer: Answer): void {
    const { nowMs } = this.#turns;
    switch (answer.kind) {
      case 'attached':
        return this.#pipeline.onAttached(answer, nowMs);
      case 'detach':
        return this.#pipeline.onDetach(answer);
      case 'synced':
        return this.#pipeline.onSynced(answer, nowMs);
      default:
        unreachable(answer);
    }
  }

  #onConnected(peer: PeerId, link: number, hello: Hello, version: number): void {
    const { starts, logger } = this.#parts;
    const isServing = this.shown.role !== 'looking';
    const mayWrite = this.#zab.sparedBy === 0;
    this.#distrust(checkStarts(starts, { peer, hello, isServing, mayWrite }, logger));
    // This comes before the core learns of the link, so that a new leader knows the clocks of its
    // learners.
    this.#clock.onConnected(peer);
    this.#level.onConnected(peer, hello);
    this.#parts.treeBound.onConnected(peer, hello);
    this.#step({ kind: 'connected', peer, link, version });
  }

  #onDisconnected(peer: PeerId, link: number): void {
    this.#level.onDisconnected(peer);
    this.#clock.onDisconnected(peer);
    this.#leaderService?.onMemberGone(peer);
    this.#transfers.onDisconnected(peer, link);
    this.#background(this.#receiver.onDisconnected(peer, link));
    this.#step({ kind: 'disconnected', peer, link });
  }

  #onMessage(peer: PeerId, link: number, message: MessageInTurn): void {
    switch (message.kind) {
      case 'requests':
      case 'sync':
      case 'attach':
      case 'touch':
        // Dropped if this member no longer leads. The sender learns of it when its own role ends.
        return this.#leaderService?.onMessage(peer, message);
      case 'attached':
      case 'detach':
      case 'synced':
        if (peer !== this.shown.leader || this.shown.role !== 'following') return;
        return this.#onAnswer(message);
      case 'clock':
        return this.#clock.heard(peer, message.wallMs);
      case 'backupNews':
        return this.#parts.backups.onMessage(peer, message);
      case 'digests':
      case 'diverged':
        return this.#distrust(this.#digests.onMessage(this.shown, peer, message));
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
    if (message.kind === 'propose' && this.keeper.queue.pendingBytes > behindBytesMax) {
      return this.#parts.peerPort.disconnect(peer, link, 'the disk here cannot keep up');
    }
    // What follows a snapshot waits in the receiver, which steps the core once that is verified.
    if (this.#receiver.holds(peer, link, message)) return;
    this.#step({ kind: 'message', peer, link, message });
  }

  // The core

  #step(input: ZabInput): void {
    const outputs = this.#zab.step(input);
    this.#parts.observer?.onStep(input, outputs);
    this.#parts.counters.onCommitted(this.#zab.replica.committed, this.#turns.nowMs);
    for (const output of outputs) this.#run(output);
  }

  #run(output: ZabOutput): void {
    switch (output.kind) {
      case 'installSnapshot':
      case 'giveUp':
        this.#readOnly.end();
        return this.keeper.store(output);
      case 'append':
      case 'truncate':
      case 'saveEpochs':
        return this.keeper.store(output);
      case 'send':
        this.#digests.onSend(output.message, this.keeper.state);
        return this.#parts.peerPort.send(output.peer, output.link, output.message);
      case 'deliver':
        return this.#deliver(output.batch);
      case 'confirmed':
        return this.#leaderService?.confirmed.onConfirmed(output.id, output.zxid);
      case 'refusal':
        return this.#parts.diskSpace.onRefusal(output);
      case 'role':
        return this.#onRole(output);
      case 'sendHistory':
        return this.#background(
          this.#transfers.sendHistory(output.peer, output.link, output.after, output.through),
        );
      case 'sendSnapshot':
        this.#parts.counters.onSnapshot(this.#transfers.snapshotsUnderWay);
        return this.#background(this.#transfers.sendSnapshot(output.peer, output.link));
      case 'disconnect':
        return this.#parts.peerPort.disconnect(output.peer, output.link, output.reason);
      case 'note':
        this.#parts.counters.count(output.event, this.#turns.nowMs);
        return this.#parts.logger[noteLevel(output.event)](output.facts, output.event);
      default:
        unreachable(output);
    }
  }

  #deliver(batch: ProposalBatch): void {
    this.#readOnly.end();
    let madeWallMs = 0;
    for (const proposal = batch.cursor(); proposal.next(); ) {
      const { zxid } = proposal;
      const txn = this.#txns.txnOf(proposal);
      madeWallMs = txn.time;
      if (txn.op.kind === 'raiseLevel') this.#level.raise(txn.op.level);
      this.#pipeline.apply(zxid, txn, this.#turns.nowMs);
      this.#leaderService?.onApplied(zxid, txn);
      this.#digests.onApplied(zxid, this.keeper.state);
      // Observers may keep what they get, so it is not a view.
      this.#parts.observer?.onApplied(zxid, txnOf(proposal), this.keeper.state);
    }
    this.#txns.release();
    const wallMs = this.#parts.timers.wallMs();
    this.#parts.counters.onDelivered(
      { count: batch.count, through: batch.last, madeWallMs, wallMs, nowMs: this.#turns.nowMs },
      this.shown.role,
    );
  }

  #onRole(output: RoleOutput): void {
    const { role, leader, epoch } = output;
    if (role !== 'looking') this.#readOnly.end();
    this.#parts.counters.onRole(role, this.#turns.nowMs);
    const was = this.shown.show(role, leader, this.#turns.nowMs);
    if (role === 'looking') {
      this.#leaderService?.onTermEnd();
      this.#leaderService = null;
      this.#digests.onLooking();
      this.#parts.diskSpace.onRefusal(null);
      this.#clock.endTerm();
      // An attempt to lead or to follow has failed. Clients that read without a quorum stay: what
      // they read has not changed.
      if (was === 'looking' && this.#pipeline.isReadOnly) return;
      const doubt = this.#isDoubtful ? 'its role ended while it was in doubt' : null;
      const ended = this.#pipeline.stopServing(this.#turns.dropReason ?? doubt);
      if (this.#isDoubtful) this.#endDoubt(true);
      if (was !== 'looking') this.#parts.logger.info({ was, clients: ended.length }, 'role.ended');
      return;
    }
    const zxid = formatZxid(this.#zab.replica.delivered);
    this.#parts.logger.info({ role, leader, epoch, zxid }, 'role.serving');
    if (role === 'leading')
      this.#leaderService = this.#newLeaderService(epoch, this.#zab.replica.history.last);
    this.#digests.onServing(this.keeper.state);
    if (!this.#hasServed) warnOfOpenRoot(this.#parts, this.keeper.state);
    this.#hasServed = true;
    this.#parts.starts.onServing();
    this.#pipeline.startServing();
    this.#doubtIfDue();
  }

  #newLeaderService(epoch: number, lastZxid: Zxid): LeaderService {
    const { state } = this.keeper;
    const { firstCounter } = this.#parts.options;
    const { ages, time } = this.#clock.beginTerm(state);
    const term = { epoch, lastZxid, firstCounter, state, ages };
    return newLeaderService(this.#parts, this, term, () => time(this.#turns.nowMs));
  }
}

/**
 * Warns of a tree whose root every client may change although the configuration has a `rootAcl`,
 * which applies only when the ensemble is founded; setting it later does nothing. An ensemble that
 * is being founded has no transaction yet, and gets the ACL with the first one.
 */
function warnOfOpenRoot(
  { options, logger }: DriverParts,
  { tree, lastZxid }: ReplicatedState,
): void {
  if (options.rootAcl === null || lastZxid === 0) return;
  const wanted = changesByEverybody(options.rootAcl);
  const more = changesByEverybody(tree.acl(tree.find('/'))) & ~wanted;
  if (more === 0) return;
  logger.warn(
    { everybodyMay: permsText(more) },
    'ensemble.root_open: rootAcl has no effect on a tree that exists; set the ACL of / instead',
  );
}

/** Events that should never happen and need attention. */
const ERRORS: ReadonlySet<string> = new Set([
  'history.disputed',
  'history.diverged',
  'peer.implausible',
  'sync.diverged',
]);
const WARNINGS: ReadonlySet<string> = new Set([
  'disk.hands_over',
  'disk.member_full',
  'disk.spared',
  'disk.stepped_out',
  'election.waiting',
  'leading.violation',
  'role.looking',
]);
/** Frequent events of normal operation, for debugging. */
const QUIET = /\.ignored$/;

/** Chooses the log level of the core's notes. What needs an operator is at least a warning. */
function noteLevel(event: string): 'debug' | 'info' | 'warn' | 'error' {
  if (ERRORS.has(event)) return 'error';
  if (WARNINGS.has(event)) return 'warn';
  return QUIET.test(event) ? 'debug' : 'info';
}
