/**
 * Seeks a connection until there is one: rounds of attempts, with a growing pause between them, and
 * a warning when it takes long.
 *
 * Owns the hosts' order, the back-off and the round under way. Always: at most one round at a time;
 * after `stop` nothing is called until the next `seek`.
 */
import type { ConnectRequest, ConnectResponse } from '@rookery/protocol';
import { type ServerName, serverText } from '../wire/connect-string.js';
import { BackOff, type BackOffOptions } from './back-off.js';
import type { Connection } from './connection.js';
import { OutageWarning, type OutageWarningOptions } from './outage-warning.js';
import { Pursuit, type PursuitOptions } from './pursuit.js';

export interface SeekerOptions
  extends BackOffOptions,
    OutageWarningOptions,
    Omit<PursuitOptions, 'onAttemptFailed' | 'onConnected' | 'onExhausted' | 'onRefused'> {
  handshake(): ConnectRequest;
  onConnected(connection: Connection, response: ConnectResponse): void;
  /** The server says that the session to be resumed is over, or that it gives none. */
  onRefused(): void;
  /** Every address was tried in vain; the next round comes by itself, unless it is stopped. */
  onRoundFailed(error: Error): void;
}

export class Seeker {
  readonly #options: SeekerOptions;
  readonly #backOff: BackOff;
  readonly #outage: OutageWarning;
  #pursuit: Pursuit | null = null;
  #cancelPause: (() => void) | null = null;

  constructor(options: SeekerOptions) {
    this.#options = options;
    this.#backOff = new BackOff(options);
    this.#outage = new OutageWarning(options);
  }

  /** Whether a round is under way; not so in the pause between two. */
  get isTrying(): boolean {
    return this.#pursuit !== null;
  }

  /** The first round after a connection that lasted comes at once. */
  seek(): void {
    const delayMs = this.#backOff.nextDelayMs();
    if (delayMs === 0) this.#try();
    else this.#cancelPause = this.#options.surroundings.setTimer(delayMs, () => this.#try());
  }

  /** There are other servers: the next round comes at once. */
  restart(): void {
    this.stop();
    this.#backOff.reset();
    this.#outage.reset();
    this.seek();
  }

  stop(): void {
    this.#cancelPause?.();
    this.#cancelPause = null;
    this.#pursuit?.stop();
    this.#pursuit = null;
  }

  /** The connection that was found is lost; the next round starts behind its server. */
  onLost(connection: Connection): void {
    this.#backOff.onDisconnected();
    this.#options.hosts.startBehind(connection.address.server);
  }

  #try(): void {
    this.#cancelPause = null;
    this.#outage.onRoundStarted();
    this.#pursuit = new Pursuit({
      ...this.#options,
      onAttemptFailed: (server, error) => this.#onAttemptFailed(server, error),
      onConnected: (connection, response) => {
        this.#pursuit = null;
        this.#backOff.onConnected();
        this.#outage.reset();
        this.#options.onConnected(connection, response);
      },
      onRefused: () => {
        this.#pursuit = null;
        this.#options.onRefused();
      },
      onExhausted: (error) => {
        this.#pursuit = null;
        this.#outage.onRoundFailed();
        // Set before the call, so that it may stop us.
        this.seek();
        this.#options.onRoundFailed(error);
      },
    });
    this.#pursuit.start();
  }

  #onAttemptFailed(server: ServerName, error: Error): void {
    this.#outage.onAttemptFailed(server, error);
    const fields = { server: serverText(server), err: error };
    this.#options.log.debug('session.attempt_failed', 'a server has given no session', fields);
  }
}
