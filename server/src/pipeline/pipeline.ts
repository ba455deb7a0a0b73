/**
 * Serves the clients of one member, from their frames to their replies.
 *
 * It owns connections, their queues and watches, and calls `ReplicatedState.apply`. So it keeps the
 * order on which clients rely: the watch events of a change, then the reply to its author, then the
 * answers to later reads. It never does I/O and never reads a clock. In a turn the driver gives it
 * all input, then sends what `takeForLeader` returns to the leader, which may be this member, and
 * then lets net flush.
 */
import {
  type Attached,
  assert,
  type Detach,
  formatZxid,
  JuteReader,
  OpCode,
  type Synced,
  unreachable,
  type Zxid,
} from '@rookery/protocol';
import { LoginDelays } from '../security/login-delays.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { SessionId, Txn } from '../state/txn.js';
import { WatchTable } from '../state/watches.js';
import type { Identities } from './access.js';
import { Applier, EventBudget } from './apply.js';
import { Auditor } from './audit.js';
import type { ClientChannel, ConnectionId } from './client-channel.js';
import { Connection, Connections } from './connection.js';
import { Handshake, writeExpired, writeWelcome } from './handshake.js';
import { HotRequests } from './hot-requests.js';
import { Authenticator } from './identities.js';
import { LeftSessions } from './left-sessions.js';
import { LocalSessions } from './local-sessions.js';
import { Logins } from './logins.js';
import type { PipelineDependencies, PipelineOptions } from './options.js';
import { type ForLeader, Outbox, Throttle } from './outbox.js';
import { operationName } from './request.js';
import { RequestRates } from './request-rates.js';
import { HEADER_BYTES, Requests } from './requests.js';

/** Whom this member serves: see `startServing` and `startServingReadOnly`. */
type Serving = 'nobody' | 'all' | 'readOnly';

/** With this many persistent watchers a part of history has half its full size. */
const FEW_HEARERS = 128;
const READS_HAVE_GROWN = 'what it reads before a write has become too large for one turn';

export class Pipeline {
  readonly watches: WatchTable;
  readonly localSessions: LocalSessions;
  readonly logins: Logins;
  readonly throttle: Throttle;
  readonly rates: RequestRates;
  readonly hot = new HotRequests();
  readonly #options: PipelineOptions;
  readonly #outbox: Outbox;
  readonly #left: LeftSessions;
  readonly #handshake: Handshake;
  readonly #requests: Requests;
  readonly #auditor: Auditor | null;
  readonly #connections = new Connections();
  readonly #events: EventBudget;
  readonly #touches: Touches;
  #state: ReplicatedState;
  #applier: Applier;
  #serving: Serving = 'nobody';

  constructor(dependencies: PipelineDependencies) {
    const { state, options, digestOf, random16, sasl = null, audit = null } = dependencies;
    const { superPassword = null } = dependencies;
    const { logins: delays = new LoginDelays() } = dependencies;
    const auditor = audit === null ? null : new Auditor(audit);
    this.#auditor = auditor;
    const groupsOf = (id: ConnectionId) => this.#connections.groupsOf(id);
    this.watches = new WatchTable(options.watchLimits, state.tree, groupsOf);
    this.#options = options;
    this.#outbox = new Outbox(options);
    this.localSessions = new LocalSessions({ ...options, first: options.firstRequest });
    this.#touches = new Touches(this.localSessions);
    this.throttle = new Throttle(options, this.#connections, this.#outbox);
    this.rates = new RequestRates(options.requestsPerSecondMax ?? 0);
    this.#left = new LeftSessions(options.leftSessionsMax);
    const authenticator = new Authenticator({ ...options, digestOf, sasl, superPassword });
    this.logins = new Logins(authenticator, delays, auditor);
    const context = {
      options,
      connections: this.#connections,
      outbox: this.#outbox,
      throttle: this.throttle,
      local: this.localSessions,
      left: this.#left,
      logins: this.logins,
      watches: this.watches,
      auditor,
    };
    this.#handshake = new Handshake(context, random16);
    this.#requests = new Requests(state, context);
    this.#state = state;
    this.#events = new EventBudget(groupsOf, options.eventsPerTurn);
    this.#applier = new Applier(state, this.watches, this.#connections, this.#events);
  }

  get serving(): boolean {
    return this.#serving === 'all';
  }
  get isReadOnly(): boolean {
    return this.#serving === 'readOnly';
  }
  /** The number of requests and handshakes that are not answered: see Throttle. */
  get outstanding(): number {
    return this.throttle.requests;
  }

  /** A role in which clients may be served has begun; its whole initial history is applied. */
  startServing(): void {
    assert(this.#serving === 'nobody', 'serving starts once per role');
    this.#serving = 'all';
    this.localSessions.renew();
  }

  /**
   * The quorum is lost: reads of what is applied are served to clients that allow it. Nothing is
   * applied until `stopServing`.
   */
  startServingReadOnly(): void {
    assert(this.#serving === 'nobody', 'read-only serving starts when nobody is served');
    this.#serving = 'readOnly';
    this.#requests.isReadOnly = true;
    this.localSessions.renew();
  }

  /**
   * Ends local sessions that were silent for too long, reads again from clients that had sent too
   * many requests, and looks at logins that have waited. Reading continues also while nobody is
   * served: a client whose ConnectRequest has to wait for its rate is refused only once that is
   * read.
   */
  onTick(nowMs: number): void {
    this.#requests.nowMs = nowMs;
    this.hot.onTick(nowMs);
    const isServing = this.#serving !== 'nobody';
    if (isServing) for (const id of this.localSessions.expire(nowMs)) this.#onEnd(id);
    this.rates.onTick(nowMs, (connection) => this.#touches.maybeHeard(connection));
    if (!isServing) return;
    this.#requests.onTick((connection) => this.#takeEarly(connection));
    this.#endFinished();
  }

  /**
   * The share of a full part of history to apply at a time. It falls with the number of connections
   * that have persistent watches, so that a part causes about as many events whatever that number.
   */
  get deliveryShare(): number {
    const hearers =
      this.watches.counts('recursive').watchers + this.watches.counts('persistent').watchers;
    return FEW_HEARERS / (FEW_HEARERS + hearers);
  }

  /**
   * Called at the end of each turn: renews what one turn may do, closes the connections whose
   * watches gave way to others, and continues to remove the watches of connections that are gone.
   * Returns true if some of these are left.
   */
  endTurn(): boolean {
    for (const [id, reason] of this.watches.yielded) {
      const connection = this.#connections.get(id);
      if (connection !== undefined) this.#close(connection, reason);
    }
    this.#requests.renew();
    this.#events.renew();
    return this.watches.release();
  }

  /**
   * The role has ended: every pending request is dropped unanswered and every client connection is
   * ended, after what was already answered or, with a reason in `discard`, without it. Returns the
   * connections that were ended. Those that have not sent their ConnectRequest stay.
   */
  stopServing(discard: string | null = null): readonly ConnectionId[] {
    if (this.#serving === 'readOnly') this.localSessions.dropReadOnly();
    this.#serving = 'nobody';
    this.#requests.isReadOnly = false;
    const ended: ConnectionId[] = [];
    for (const connection of [...this.#connections.values()]) {
      if (connection.phase === 'open') continue;
      ended.push(connection.id);
      if (discard === null) this.#end(connection);
      else this.#close(connection, discard, 'state');
    }
    this.#handshake.clear();
    this.#outbox.clear();
    this.#requests.clear();
    this.#touches.clear();
    this.#left.clear();
    assert(this.throttle.requests === 0, 'nothing is outstanding when the role has ended');
    return ended;
  }

  /** Called after a snapshot was installed, only while not serving. */
  replaceState(state: ReplicatedState): void {
    assert(this.#serving === 'nobody', 'the state is replaced while no client sees it');
    this.#state = state;
    this.#requests.state = state;
    this.watches.tree = state.tree;
    this.#applier = new Applier(state, this.watches, this.#connections, this.#events);
  }

  onOpen(id: ConnectionId, channel: ClientChannel, nowMs: number): void {
    assert(!this.#connections.has(id), () => `connection ${id} is opened once`);
    const connection = new Connection(id, channel, this.#options.skipAcl, this.#options.admission);
    this.#connections.add(connection);
    if (!this.logins.takeProven(connection)) this.#close(connection, 'its name is too long');
    else this.rates.onOpen(connection, nowMs);
  }

  /**
   * Takes a frame without its length, which is read only during the call. `nowMs` is the time of
   * the turn. Ignores unknown connections, like `onClosed`.
   */
  onFrame(id: ConnectionId, frame: JuteReader, nowMs: number): void {
    this.#requests.nowMs = nowMs;
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    this.rates.onFrame(connection, nowMs);
    this.#take(connection, frame);
  }

  /** A connection that is held for `room` may continue: see `ClientChannel.isFullFor`. */
  onRoom(id: ConnectionId, nowMs: number): void {
    this.#requests.nowMs = nowMs;
    this.#requests.onRoom(id);
    this.#endFinished();
  }

  /** The connection is gone, whoever closed it. Ignores unknown ones. */
  onClosed(id: ConnectionId): void {
    const connection = this.#connections.get(id);
    if (connection !== undefined) this.#forget(connection);
  }

  /** Returns what clients ask of the leader, in the order in which it must arrive. */
  takeForLeader(): readonly ForLeader[] {
    return this.#outbox.take();
  }

  /** Whether `takeForLeader` would return anything. */
  get hasForLeader(): boolean {
    return this.#outbox.hasMore;
  }

  /** Returns the sessions that were heard from since the last call. */
  takeTouches(): readonly SessionId[] {
    return this.#touches.take(this.#connections);
  }

  /** A quorum confirmed the leader: the sync is answered when `zxid` is applied here. */
  onSynced(synced: Omit<Synced, 'kind'>, nowMs: number): void {
    this.#requests.nowMs = nowMs;
    this.#requests.onSynced(synced);
    this.#endFinished();
  }

  /** The leader's answer to an attach. */
  onAttached({ request, valid, timeoutMs }: Omit<Attached, 'kind'>, nowMs: number): void {
    this.#requests.nowMs = nowMs;
    const connection = this.#handshake.take(request);
    if (connection?.phase !== 'joining') return;
    connection.timeoutMs = timeoutMs;
    if (!valid) this.#refuse(connection);
    else if (connection.session > this.#state.lastZxid) this.#handshake.holdBack(connection);
    else this.#welcome(connection);
  }

  /** An attachment of a session is over, or does not begin: its connection is ended. */
  onDetach({ session, attachment, request }: Omit<Detach, 'kind'>): void {
    const refused = this.#handshake.take(request);
    if (refused?.phase === 'joining') this.#end(refused);
    for (const joining of this.#handshake.takeHeldBack(session, attachment)) this.#end(joining);
    const live = this.#connections.of(session);
    if (live !== undefined && (attachment === 0 || live.attachment === attachment)) {
      this.#end(live);
      // The session has moved to another connection.
      this.#left.delete(session);
    }
    this.throttle.takeOrphan(request);
  }

  /**
   * Takes every delivered proposal, in order, whether serving or not. Once a proposal ends a
   * session, the session receives nothing more, except the answer to the request for its end.
   */
  apply(zxid: Zxid, txn: Txn, nowMs: number): void {
    this.#requests.nowMs = nowMs;
    assert(this.#serving !== 'readOnly', 'nothing changes while reads are served without a quorum');
    const isOwn = this.serving && txn.origin === this.#options.id;
    const ended = isOwn ? this.#requests.onApplying(txn) : null;
    if (ended !== null) this.#close(ended, READS_HAVE_GROWN);
    this.#applier.apply(zxid, txn, isOwn);
    assert(this.#state.lastZxid === zxid, () => `${formatZxid(zxid)} is the last applied`);
    if (!this.serving) return;
    const begins = txn.op.kind === 'beginClose';
    if (isOwn && !begins) this.#answerOwn(zxid, txn);
    const isAwaited = begins && isOwn && this.#requests.waits(txn);
    if ((begins || txn.op.kind === 'closeSession') && !isAwaited) this.#onEnd(txn.session);
    for (const connection of this.#handshake.takeReady(zxid)) this.#welcome(connection);
    this.#requests.runDueSyncs(zxid);
    this.#endFinished();
  }

  /** The connection by which the session is served here; undefined for none. */
  connectionOf(session: SessionId): ConnectionId | undefined {
    return this.#connections.of(session)?.id;
  }
  /** The identities of the session's client; undefined if it is not served here. */
  identitiesOf(session: SessionId): Identities | undefined {
    return this.#connections.of(session)?.requester.identities;
  }
  /** The session of a connection; 0 if it has none, or is gone. */
  sessionOf(id: ConnectionId): SessionId {
    return this.#connections.get(id)?.session ?? 0;
  }

  /** Takes a frame that has been counted for its client's rate of requests. */
  #take(connection: Connection, frame: JuteReader): void {
    const { phase } = connection;
    switch (phase) {
      case 'live':
        if (connection.isLoginWaiting) break;
        return this.#onRequest(connection, frame);
      case 'open':
        return this.#onConnect(connection, frame);
      case 'joining':
        break;
      case 'leaving':
      case 'gone':
        return;
      default:
        return unreachable(phase);
    }
    connection.early.push(Buffer.from(frame.rest()));
  }

  #onConnect(connection: Connection, frame: JuteReader): void {
    if (this.#serving === 'nobody') return this.#close(connection, 'not serving', 'state');
    const { nowMs } = this.#requests;
    const at = { state: this.#state, isReadOnly: this.isReadOnly, nowMs };
    const outcome = this.#handshake.onConnect(connection, frame.rest(), at);
    switch (outcome.kind) {
      case 'welcome':
        return this.#welcome(connection);
      case 'resume':
        this.#disconnect(connection.session);
        connection.phase = 'joining';
        return connection.channel.hold('handshake');
      case 'wait':
        connection.phase = 'joining';
        return connection.channel.hold('handshake');
      case 'expired':
        return this.#refuse(connection);
      case 'close':
        return this.#close(connection, outcome.reason);
      default:
        return unreachable(outcome);
    }
  }

  #onRequest(connection: Connection, frame: JuteReader): void {
    if (frame.remaining < HEADER_BYTES) return this.#close(connection, 'malformed request header');
    this.#touches.maybeHeard(connection);
    if (this.hot.isWatching && connection.isAdmitted) this.hot.onRequest(connection.session, frame);
    this.#requests.onRequest(connection, frame);
    this.#endFinished();
  }

  #answerOwn(zxid: Zxid, txn: Txn): void {
    if (txn.op.kind !== 'createSession') {
      return this.#requests.onApplied(zxid, txn, this.#applier);
    }
    const connection = this.#handshake.take(txn.request);
    if (connection === undefined) return;
    connection.session = zxid;
    if (connection.phase === 'joining') this.#welcome(connection);
    else this.#onLeft(connection);
  }

  /**
   * The handshake is answered: the session is served here from now on, unless it was closed between
   * the leader's answer and now.
   */
  #welcome(connection: Connection): void {
    const { session, channel } = connection;
    const opened = this.localSessions.get(session) ?? this.#state.sessions.get(session);
    if (opened === undefined) return this.#refuse(connection);
    if (this.#state.sessions.get(session)?.isClosing === true) return this.#end(connection);
    this.#disconnect(session);
    this.#left.delete(session);
    connection.phase = 'live';
    this.#connections.bind(connection);
    writeWelcome(connection, opened, this.isReadOnly);
    this.#auditor?.onSession(connection, this.#state.lastZxid);
    channel.bindSession({ id: session, timeoutMs: connection.timeoutMs });
    const operation = operationName(OpCode.createSession);
    const at = { zxid: this.#state.lastZxid, nowMs: this.#requests.nowMs };
    channel.stats.replied({ operation, xid: 0, latencyMs: 0, ...at });
    this.throttle.onLive(connection);
    channel.release('handshake');
    this.#takeEarly(connection);
  }

  /** Takes up what came while the connection was held. */
  #takeEarly(connection: Connection): void {
    const { early } = connection;
    if (early.length === 0) return;
    connection.early = [];
    for (const frame of early) this.#take(connection, new JuteReader(frame));
  }

  #refuse(connection: Connection): void {
    const { session, opensSession } = connection;
    // A session that is gone is no secret any more: its clients ask for it in good faith.
    const isThere =
      this.#state.sessions.has(session) || this.localSessions.get(session) !== undefined;
    if (!opensSession && isThere) this.#auditor?.onWrongPassword(connection);
    writeExpired(connection);
    this.#end(connection);
  }

  #endFinished(): void {
    for (const connection of this.#requests.takeFinished()) {
      if (connection.hasClosedLocalSession) {
        this.localSessions.close(connection.session);
        this.#left.delete(connection.session);
        this.#auditor?.onLocalClose(connection, this.#state.lastZxid);
      }
      if (connection.phase === 'gone') continue;
      if (connection.dropReason !== null) this.#close(connection, connection.dropReason);
      else this.#end(connection);
    }
  }

  /** The session has ended, or does nothing more. */
  #onEnd(session: SessionId): void {
    this.#disconnect(session);
    this.#left.delete(session);
  }

  #disconnect(session: SessionId): void {
    const connection = this.#connections.of(session);
    if (connection !== undefined) this.#end(connection);
  }

  #end(connection: Connection): void {
    this.#forget(connection);
    connection.channel.end();
  }

  #close(connection: Connection, reason: string, cause?: 'fault' | 'state'): void {
    this.#forget(connection);
    connection.channel.close(reason, cause);
  }

  /** The connection is gone, or was before its session was opened. */
  #onLeft({ session, timeoutMs, channel }: Connection): void {
    const goesOn =
      this.#state.sessions.isOpen(session) || this.localSessions.get(session) !== undefined;
    if (!goesOn) return;
    const untilMs = this.#requests.nowMs + timeoutMs;
    this.#left.add(session, { address: channel.remoteAddress, untilMs });
  }

  #forget(connection: Connection): void {
    if (this.#connections.of(connection.session) === connection) this.#onLeft(connection);
    this.#connections.delete(connection);
    this.watches.removeWatcher(connection.id);
    this.#handshake.forget(connection);
    this.rates.forget(connection);
    this.#requests.drop(connection);
    connection.phase = 'gone';
  }
}

/**
 * The sessions of the ensemble from which this member has heard since its last report to the
 * leader.
 *
 * Each is in it once, however many requests it sent. It owns only the list; the connections know
 * whether they are in it. A local session is touched here and now, because no leader knows it.
 */
class Touches {
  readonly #local: LocalSessions;
  #heard: SessionId[] = [];

  constructor(local: LocalSessions) {
    this.#local = local;
  }

  /**
   * Counts the session as heard from if bytes have come from its client since the last call, or if
   * the connection is not read at present: this member cannot know then whether any have come. That
   * a request is taken in does not suffice, because it may have been read ahead long before.
   *
   * Called when a request of the connection is taken in, and regularly while the connection waits
   * because of `requestsPerSecondMax`, but not while it waits only for something else.
   */
  maybeHeard(connection: Connection): void {
    // A connection that is joining has no session yet, whatever it asks for.
    if (connection.phase !== 'live' || !connection.channel.takeHeard()) return;
    if (connection.hasLocalSession) return this.#local.touch(connection.session);
    if (connection.touched) return;
    connection.touched = true;
    this.#heard.push(connection.session);
  }

  /** Returns the sessions heard from since the last call; `live` has those that are served. */
  take(live: Connections): readonly SessionId[] {
    const heard = this.#heard;
    if (heard.length === 0) return heard;
    this.#heard = [];
    for (const session of heard) {
      const connection = live.of(session);
      if (connection !== undefined) connection.touched = false;
    }
    return heard;
  }

  clear(): void {
    this.#heard = [];
  }
}
