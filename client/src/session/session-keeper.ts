/**
 * The session: opens it, keeps it across connections, detects its end, opens the next one, closes.
 *
 * The states are connecting -> connected <-> suspended -> lost -> connecting, and closed from
 * everywhere, for good. A session is lost when a server says that it is over, when the servers have
 * been silent for so long that they may soon expire it (LostTimer), and when a member with a quorum
 * is found while only a read-only member knows it. A lost session is never resumed. No request is
 * carried over from one session to the next. Each connection first sends the login, the
 * credentials, the watches, then the waiting requests.
 */
import {
  AuthFailedError,
  ConnectionLossError,
  type ConnectRequest,
  type ConnectResponse,
  type Int64,
  keeperError,
  SessionExpiredError,
  toInt64,
} from '@rookery/protocol';
import { ClientClosedError } from '../api/errors.js';
import type { Surroundings } from '../api/surroundings.js';
import type { ClientState, OperationOptions, SessionLossCause } from '../api/values.js';
import { REARM_PATH_BYTES_MAX } from '../watches/rearm.js';
import { type ServerName, serverText } from '../wire/connect-string.js';
import type { Address } from '../wire/link.js';
import type { Call } from './call.js';
import { Closing } from './closing.js';
import type { Connection } from './connection.js';
import { Contact } from './contact.js';
import { AUTH_CALL, type Credential, Credentials } from './credentials.js';
import type { KeeperOptions } from './keeper-options.js';
import { LiveSession } from './live-session.js';
import { closeRequest, markerRequest, rearmRequest } from './own-requests.js';
import { authFailed, type ErrorMaker, expired, failWith, type Request } from './request.js';
import { RequestQueue } from './request-queue.js';
import { logIn } from './sasl-login.js';
import { Seeker } from './seeker.js';
import { SessionMonitors } from './session-monitors.js';
import { type ChangeDetails, StateFeed } from './state-feed.js';
import { observeStates } from './state-observer.js';

const CLOSE_MS_MAX = 5_000;
const NO_PASSWORD = new Uint8Array(16);

export class SessionKeeper {
  readonly states = new StateFeed();
  readonly #options: KeeperOptions;
  readonly #queue: RequestQueue;
  readonly #credentials: Credentials;
  readonly #seeker: Seeker;
  #session: LiveSession | null = null;
  /** The session to resume, until it was resumed for the first time. */
  #resume: { readonly sessionId: bigint; readonly password: Uint8Array } | null;
  #connection: Connection | null = null;
  #lastZxid: Int64 = 0;
  readonly #contact = new Contact();
  #readOnly = false;
  #closing: Closing | null = null;
  readonly #monitors: SessionMonitors;
  /** Makes the errors of pending requests once the session or the client is over. */
  #over: ErrorMaker = expired;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#resume = options.resume;
    this.#credentials = new Credentials(options.auth);
    this.#seeker = this.#newSeeker();
    observeStates(this.states, { ...options, keeper: this });
    this.#queue = new RequestQueue({ ...options, server: () => this.server });
    this.#monitors = new SessionMonitors({
      ...options,
      contact: this.#contact,
      onLost: () => this.#lose('silence'),
      onFound: (server) => this.#onReadWriteFound(server),
    });
  }

  get session(): LiveSession | null {
    return this.#session;
  }
  get readOnly(): boolean {
    return this.#readOnly;
  }
  get server(): string | null {
    return this.#connection === null ? null : serverText(this.#connection.address.server);
  }
  /** The address of the member that the client is connected to, or null. */
  get address(): Address | null {
    return this.#connection?.address ?? null;
  }
  get lastZxidSeen(): bigint {
    return BigInt(this.#lastZxid);
  }
  get surroundings(): Surroundings {
    return this.#options.surroundings;
  }
  /** Whether a request that is submitted is sent at once. */
  get isConnected(): boolean {
    return this.#queue.isAttached;
  }
  /** Whether there can be no further session. */
  get isOver(): boolean {
    return this.#isIn('closed') || (this.#isIn('lost') && !this.#options.renewSession);
  }
  /** Why there is no connection, or null if there is one. */
  get trouble(): Error | null {
    return this.#queue.trouble;
  }
  /** The number of requests queued or in flight. */
  get outstandingCount(): number {
    return this.#queue.size;
  }

  start(): void {
    this.#seeker.seek();
  }

  submit<T>(call: Call<T>, options: OperationOptions | undefined): Promise<T> {
    const wanted = options?.session;
    if (wanted !== undefined && this.#closing === null && this.#session?.id !== wanted) {
      call.onSettled?.();
      return Promise.reject(new SessionExpiredError(call.path));
    }
    return this.#queue.submit(call, options);
  }

  addAuth(credential: Credential, options: OperationOptions | undefined): Promise<void> {
    return this.#queue.submitApart(AUTH_CALL, options, (request) => {
      this.#credentials.add(credential, request);
    });
  }

  updateServers(servers: readonly ServerName[]): void {
    const { hosts } = this.#options;
    hosts.replace(servers);
    const connection = this.#connection;
    if (this.#closing !== null || this.isOver) return;
    if (connection === null) {
      this.#seeker.restart();
      return;
    }
    if (hosts.has(connection.address.server)) return;
    // Requests in flight are answered first; those submitted meanwhile wait for the next server.
    this.#queue.detach();
    connection.send(markerRequest(() => connection.fail(new ConnectionLossError())));
  }

  close(): Promise<void> {
    if (this.#closing !== null) return this.#closing.done;
    const closing = this.#beginClosing(null);
    const connection = this.#connection;
    if (connection !== null) this.#sayGoodbye(connection);
    else if (this.#session === null || !this.#seeker.isTrying) this.#finishClosing();
    if (!closing.isDone) {
      const { surroundings, connectTimeoutMs } = this.#options;
      const boundMs = Math.min(CLOSE_MS_MAX, connectTimeoutMs);
      closing.cancelTimer = surroundings.setTimer(boundMs, () => this.#finishClosing());
    }
    return closing.done;
  }

  #newSeeker(): Seeker {
    return new Seeker({
      ...this.#options,
      handshake: () => this.#handshake(),
      events: {
        onZxid: (zxid) => this.#onZxid(zxid),
        onEvent: (event, zxid) => this.#options.registry.onEvent(event, BigInt(zxid)),
        onAuthReply: (error) => this.#onAuthReply(error),
        onClosed: (...closed) => this.#onConnectionClosed(...closed),
      },
      onConnected: (connection, response) => this.#onConnected(connection, response),
      onRefused: () => this.#onRefused(),
      onRoundFailed: (error) => this.#onRoundFailed(error),
    });
  }

  #handshake(): ConnectRequest {
    const session = this.#session;
    const id = session?.id ?? this.#resume?.sessionId ?? 0n;
    return {
      protocolVersion: 0,
      lastZxidSeen: this.#lastZxid,
      timeoutMs: this.#options.sessionTimeoutMs,
      sessionId: toInt64(id),
      password: session?.password ?? this.#resume?.password ?? NO_PASSWORD,
      readOnly: this.#options.readOnly,
    };
  }

  #onConnected(connection: Connection, response: ConnectResponse): void {
    const id = BigInt(response.sessionId);
    const known = this.#session?.id ?? this.#resume?.sessionId ?? null;
    if (known !== null && known !== id) {
      connection.discard();
      this.#onRefused();
      return;
    }
    const resumed = this.#session;
    if (resumed === null) {
      const password = response.password ?? NO_PASSWORD;
      this.#session = new LiveSession(id, password, response.timeoutMs);
      this.#session.openedReadOnly = response.readOnly === true && known === null;
    } else {
      resumed.timeoutMs = response.timeoutMs;
    }
    this.#resume = null;
    this.#connection = connection;
    if (this.#closing !== null) {
      this.#sayGoodbye(connection);
      return;
    }
    this.#readOnly = response.readOnly ?? false;
    const openedReadOnly = this.#session?.openedReadOnly === true;
    this.#contact.onConnected(connection, !this.#readOnly || openedReadOnly);
    this.#monitors.onConnected({ timeoutMs: response.timeoutMs, readOnly: this.#readOnly });
    const onLoggedIn = () => this.#serve(connection);
    const onRefused = (error: Error) => this.#closeFor(error);
    logIn(connection, this.#options.sasl, { onLoggedIn, onRefused });
  }

  #serve(connection: Connection): void {
    if (this.#closing !== null) return;
    const isNew = this.#session?.announce() === true;
    this.#queue.trouble = null;
    this.#restore(connection);
    if (this.#connection !== connection) return;
    this.#tell('connected', { newSession: isNew });
    if (this.#connection !== connection || this.#closing !== null) return;
    if (isNew) this.#options.registry.onNewSession();
    else this.#options.registry.onResumed();
  }

  /**
   * The order is credentials, watches, waiting requests: no request may run without the other two.
   */
  #restore(connection: Connection): void {
    this.#credentials.attach(connection);
    const { registry } = this.#options;
    const rearms = registry.rearm(this.lastZxidSeen, REARM_PATH_BYTES_MAX);
    for (const rearm of rearms) {
      const request = rearmRequest(rearm, (error) => {
        // Without its watches the session would miss events; another server may accept them.
        if (error !== null) connection.fail(error);
        else if (rearm === rearms.at(-1)) registry.onRearmed();
      });
      connection.send(request);
    }
    this.#queue.attach(connection);
  }

  #onRefused(): void {
    if (this.#session !== null || this.#resume !== null) {
      const nowMs = this.#options.surroundings.nowMs();
      const mayBeExpired = this.#contact.isPast(this.#session?.timeoutMs ?? 0, nowMs);
      this.#lose(mayBeExpired ? 'expired' : 'ended');
      return;
    }
    this.#seeker.seek();
    this.#onRoundFailed(new ConnectionLossError());
  }

  #onRoundFailed(error: Error): void {
    this.#queue.trouble = error;
    if (this.#closing !== null) this.#finishClosing();
  }

  #onConnectionClosed(connection: Connection, error: Error, inFlight: readonly Request[]): void {
    if (connection !== this.#connection) {
      for (const request of inFlight) failWith(request, this.#over);
      return;
    }
    this.#contact.onDisconnected();
    this.#connection = null;
    this.#queue.detach();
    this.#credentials.detach();
    this.#readOnly = false;
    this.#monitors.onDisconnected();
    const cause = error.cause === undefined ? {} : { cause: error.cause };
    const lost: ErrorMaker = (path, ambiguous) =>
      new ConnectionLossError(path, { ambiguous, ...cause });
    for (const request of inFlight) failWith(request, lost);
    if (this.#closing !== null) {
      this.#finishClosing();
      return;
    }
    this.#seeker.onLost(connection);
    this.#queue.trouble = error;
    this.#tell('suspended', { error });
    if (this.#isIn('suspended')) this.#seeker.seek();
  }

  /** A session that a member without a quorum has opened is known only to that member. */
  #onReadWriteFound(server: ServerName): void {
    this.#options.hosts.startWith(server);
    if (this.#session?.openedReadOnly === true) this.#lose('readOnly');
    else this.#connection?.fail(new ConnectionLossError());
  }

  #onZxid(zxid: Int64): void {
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
  }

  #onAuthReply(error: number): void {
    if (error === 0) this.#credentials.onAccepted();
    else
      this.#closeFor(error === AuthFailedError.code ? new AuthFailedError() : keeperError(error));
  }

  /** In this protocol, a client whose credential is refused must end. */
  #closeFor(error: Error): void {
    if (this.#closing !== null) return;
    this.#beginClosing(error);
    this.#finishClosing();
  }

  #lose(lossCause: SessionLossCause): void {
    const session = this.#session;
    const sessionId = session?.id ?? this.#resume?.sessionId ?? null;
    const { registry, renewSession } = this.#options;
    this.#abandonConnection();
    this.#session = null;
    this.#resume = null;
    this.#contact.reset();
    const error = new SessionExpiredError();
    if (this.#closing !== null) {
      this.#finishClosing();
      return;
    }
    session?.end(error);
    this.#queue.failUnsent(expired);
    if (!renewSession) {
      this.#queue.refuseAll(expired);
      this.#credentials.failAll(expired);
    }
    registry.onSessionLost(renewSession);
    this.#tell('lost', { error, sessionId, lossCause });
    if (!renewSession || !this.#isIn('lost')) return;
    this.#tell('connecting', { error });
    if (!this.#isIn('connecting')) return;
    // Whoever has said that the session is over, or was found, gives a new one at once.
    if (lossCause === 'silence') this.#seeker.seek();
    else this.#seeker.seekAtOnce();
  }

  /** Drops the connection or the attempt to get one. Requests in flight fail with the session. */
  #abandonConnection(): void {
    this.#monitors.stop();
    this.#seeker.stop();
    const connection = this.#connection;
    this.#connection = null;
    this.#readOnly = false;
    this.#queue.detach();
    this.#credentials.detach();
    connection?.fail(new ConnectionLossError());
  }

  /** Accepts no further requests and ends the session for the application. */
  #beginClosing(error: Error | null): Closing {
    const closing = new Closing();
    this.#closing = closing;
    const cause = error === null ? {} : { cause: error };
    const closed: ErrorMaker = (_, ambiguous) => new ClientClosedError({ ambiguous, ...cause });
    this.#over = error === null ? closed : authFailed;
    this.#queue.refuseAll(closed);
    this.#queue.failUnsent(this.#over);
    this.#credentials.failAll(this.#over);
    this.#session?.end(new ClientClosedError(cause));
    this.#tell('closed', { error });
    return closing;
  }

  #sayGoodbye(connection: Connection): void {
    connection.send(closeRequest(() => this.#finishClosing()));
  }

  #finishClosing(): void {
    const closing = this.#closing;
    if (closing === null || closing.isDone) return;
    closing.isDone = true;
    closing.cancelTimer?.();
    this.#abandonConnection();
    this.#session = null;
    this.#resume = null;
    this.#queue.stop();
    this.#options.registry.onClosed();
    this.#options.onClosed();
    closing.resolve();
  }

  #isIn(state: ClientState): boolean {
    return this.states.state === state;
  }

  #tell(state: ClientState, more: ChangeDetails = {}): void {
    const { sessionId = this.#session?.id ?? null } = more;
    const readOnly = this.#readOnly;
    this.states.set({ error: null, newSession: false, ...more, state, sessionId, readOnly });
  }
}
