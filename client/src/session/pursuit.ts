/**
 * One round of attempts to get a session quickly from any of the servers.
 *
 * Links are opened one after the other, without waiting long for the previous one. Only one
 * handshake is in progress at a time, so that a single server claims the session; if that server is
 * silent and another link is open, the handshake soon moves on to that link. A round ends once: the
 * session's connection is handed over, the session is refused, or every address of every server has
 * failed. The delays between rounds are in back-off.ts.
 *
 * From the second one on, each round that fails gives the next one twice the time. Overloaded
 * servers answer late, and a client that always gave up before the answer would never get a session
 * while those who have one go on, and would add to the load with each handshake that it abandons.
 */
import { ConnectionLossError, type ConnectRequest, type ConnectResponse } from '@rookery/protocol';
import { ProtocolViolationError } from '../api/errors.js';
import type { Surroundings } from '../api/surroundings.js';
import { type ServerName, serverText } from '../wire/connect-string.js';
import type { HostList } from '../wire/host-list.js';
import type { Address, Dial } from '../wire/link.js';
import { Connection, type ConnectionEvents } from './connection.js';
import { publishAttempt } from './diagnostics.js';
import type { Request } from './request.js';

export interface PursuitOptions {
  readonly hosts: HostList;
  readonly dial: Dial;
  readonly surroundings: Surroundings;
  readonly frameBytesMax: number;
  readonly requestBytesMax: number;
  readonly connectTimeoutMs: number;
  /** How many rounds have failed since the last connection. */
  readonly failedRounds: number;
  /** The name of the client, for diagnostics. */
  readonly name: string;
  /** Whether a member without a quorum is acceptable. */
  readonly readOnly: boolean;
  /** Makes the handshake at the time it is sent. */
  handshake(): ConnectRequest;
  /** What the connection calls after it was handed over. */
  readonly events: Pick<ConnectionEvents, 'onAuthReply' | 'onEvent' | 'onZxid'> & {
    onClosed(connection: Connection, error: Error, inFlight: readonly Request[]): void;
  };
  onConnected(connection: Connection, response: ConnectResponse): void;
  /** The server says that the session to be resumed is over. */
  onRefused(): void;
  /** One server has failed; others may still be tried. */
  onAttemptFailed(server: ServerName, error: Error): void;
  /** Every address has failed; `error` is that of the last attempt. */
  onExhausted(error: Error): void;
}

/** How long an attempt runs before the next one starts in parallel. */
const STAGGER_MS_MAX = 250;
/** The number of attempts that may be in progress at once. */
const PARALLEL_MAX = 4;
/** The most to which the time of an attempt grows, unless `connectTimeoutMs` is longer. */
const ATTEMPT_MS_MAX = 10_000;

export class Pursuit {
  readonly #options: PursuitOptions;
  readonly #servers: ReturnType<HostList['round']>;
  readonly #staggerMs: number;
  /** How long an attempt may take to open its link, and then for its handshake. */
  readonly #limitMs: number;
  /** How long a handshake may take if another link is open. */
  readonly #patienceMs: number;
  readonly #addresses: Address[] = [];
  readonly #attempts = new Set<Attempt>();
  readonly #ready: Attempt[] = [];
  #shaking: Attempt | null = null;
  #isImpatient = false;
  /** The names that are being resolved, with the functions that cancel their timers. */
  readonly #resolving = new Map<unknown, () => void>();
  #isOver = false;
  #lastError: Error = new ConnectionLossError();
  #cancelStagger: (() => void) | null = null;
  #cancelPatience: (() => void) | null = null;

  constructor(options: PursuitOptions) {
    this.#options = options;
    this.#servers = options.hosts.round();
    const { connectTimeoutMs, failedRounds } = options;
    const shareMs = connectTimeoutMs / Math.max(this.#servers.length, 1);
    const growth = 2 ** Math.max(failedRounds - 1, 0);
    this.#staggerMs = Math.min(STAGGER_MS_MAX, shareMs);
    this.#limitMs = Math.min(connectTimeoutMs * growth, Math.max(connectTimeoutMs, ATTEMPT_MS_MAX));
    this.#patienceMs = Math.min(shareMs * growth, connectTimeoutMs);
  }

  /** Starts the round. The callbacks of the options are not called before this returns. */
  start(): void {
    this.#startNext();
  }

  /** Ends the round without calling anybody. Closes every link except one that was handed over. */
  stop(): void {
    this.#isOver = true;
    this.#cancelStagger?.();
    this.#cancelPatience?.();
    for (const cancelTimer of this.#resolving.values()) cancelTimer();
    this.#resolving.clear();
    for (const attempt of this.#attempts) attempt.discard();
    this.#attempts.clear();
  }

  #startNext(): void {
    this.#cancelStagger?.();
    this.#cancelStagger = null;
    if (this.#isOver || this.#attempts.size >= PARALLEL_MAX) return;
    const address = this.#addresses.shift();
    const server = address === undefined ? this.#servers.shift() : undefined;
    if (address !== undefined) this.#dial(address);
    else if (server !== undefined) this.#resolve(server);
    else if (this.#attempts.size === 0 && this.#resolving.size === 0) this.#exhaust();
  }

  /**
   * Resolves a name. A lookup that hangs does not delay the next servers, and is abandoned in the
   * end.
   */
  #resolve(server: ReturnType<HostList['round']>[number]): void {
    const { surroundings, connectTimeoutMs } = this.#options;
    const settle = (addresses: readonly Address[], error: Error | null) => {
      if (!this.#resolving.delete(settle)) return;
      cancelTimer();
      this.#addresses.push(...addresses);
      if (error !== null) this.#noteFailure(server.server, error);
      this.#startNext();
    };
    const cancelTimer = surroundings.setTimer(connectTimeoutMs, () => {
      const cause = new Error(`${server.server.host} was not resolved in ${connectTimeoutMs} ms`);
      settle([], new ConnectionLossError(undefined, { cause }));
    });
    this.#resolving.set(settle, cancelTimer);
    server.addresses().then(
      (addresses) => settle(addresses, null),
      (error: unknown) => settle([], error instanceof Error ? error : new Error(String(error))),
    );
    this.#armStagger(() => this.#startNext());
  }

  #dial(address: Address): void {
    const attempt = new Attempt(this, address, this.#options);
    this.#attempts.add(attempt);
    attempt.limit(this.#options.surroundings, this.#limitMs);
    this.#armStagger(() => this.#startNext());
  }

  #armStagger(callback: () => void): void {
    this.#cancelStagger?.();
    this.#cancelStagger = this.#options.surroundings.setTimer(this.#staggerMs, callback);
  }

  onOpen(attempt: Attempt): void {
    if (this.#shaking === null) {
      this.#shake(attempt);
      return;
    }
    this.#ready.push(attempt);
    attempt.unlimit();
    if (this.#isImpatient) this.#shaking.connection.fail(new ConnectionLossError());
  }

  #shake(attempt: Attempt): void {
    const { surroundings } = this.#options;
    this.#shaking = attempt;
    this.#isImpatient = false;
    attempt.limit(surroundings, this.#limitMs);
    this.#cancelPatience?.();
    this.#cancelPatience = surroundings.setTimer(this.#patienceMs, () => {
      this.#isImpatient = true;
      if (this.#ready.length > 0) this.#shaking?.connection.fail(new ConnectionLossError());
    });
    attempt.connection.shakeHands(this.#options.handshake());
  }

  onHandshake(attempt: Attempt, response: ConnectResponse): void {
    if (response.timeoutMs <= 0 || response.sessionId === 0) {
      this.stop();
      this.#options.onRefused();
      return;
    }
    if (response.readOnly === true && !this.#options.readOnly) {
      attempt.connection.fail(new ConnectionLossError(undefined, { cause: unasked() }));
      return;
    }
    attempt.isHandedOver = true;
    attempt.unlimit();
    this.#attempts.delete(attempt);
    this.stop();
    this.#options.onConnected(attempt.connection, response);
  }

  onFailed(attempt: Attempt, error: Error): void {
    if (this.#isOver) return;
    this.#attempts.delete(attempt);
    this.#noteFailure(attempt.connection.address.server, error);
    const waiting = this.#ready.indexOf(attempt);
    if (waiting !== -1) this.#ready.splice(waiting, 1);
    if (this.#shaking === attempt) {
      this.#shaking = null;
      this.#cancelPatience?.();
      const next = this.#ready.shift();
      if (next !== undefined) this.#shake(next);
    }
    this.#startNext();
  }

  #noteFailure(server: ServerName, error: Error): void {
    this.#lastError = error;
    publishAttempt({ client: this.#options.name, server: serverText(server), error });
    this.#options.onAttemptFailed(server, error);
  }

  #exhaust(): void {
    this.stop();
    this.#options.onExhausted(this.#lastError);
  }
}

function unasked(): Error {
  return new ProtocolViolationError('the server opened a read-only session unasked');
}

/**
 * An attempt with one address. It passes the events of its connection to the round, then to the
 * session.
 */
class Attempt implements ConnectionEvents {
  readonly connection: Connection;
  isHandedOver = false;
  readonly #pursuit: Pursuit;
  readonly #options: PursuitOptions;
  #cancelTimer: (() => void) | null = null;

  constructor(pursuit: Pursuit, address: Address, options: PursuitOptions) {
    this.#pursuit = pursuit;
    this.#options = options;
    this.connection = new Connection({ ...options, address, events: this });
  }

  limit(surroundings: Surroundings, timeoutMs: number): void {
    this.unlimit();
    this.#cancelTimer = surroundings.setTimer(timeoutMs, () => {
      const server = serverText(this.connection.address.server);
      const cause = new Error(`${server} did not answer within ${timeoutMs} ms`);
      this.connection.fail(new ConnectionLossError(undefined, { cause }));
    });
  }

  unlimit(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  discard(): void {
    this.unlimit();
    this.connection.discard();
  }

  onOpen(): void {
    this.#pursuit.onOpen(this);
  }

  onHandshake(response: ConnectResponse): void {
    this.#pursuit.onHandshake(this, response);
  }

  onZxid(zxid: Parameters<ConnectionEvents['onZxid']>[0]): void {
    this.#options.events.onZxid(zxid);
  }

  onEvent(...event: Parameters<ConnectionEvents['onEvent']>): void {
    this.#options.events.onEvent(...event);
  }

  onAuthReply(error: number): void {
    this.#options.events.onAuthReply(error);
  }

  onClosed(error: Error, inFlight: readonly Request[]): void {
    this.unlimit();
    if (this.isHandedOver) this.#options.events.onClosed(this.connection, error, inFlight);
    else this.#pursuit.onFailed(this, error);
  }
}
