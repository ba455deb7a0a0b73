/**
 * Tries to connect until it succeeds: rounds of attempts, with a growing pause between them, and a
 * warning if it takes long.
 *
 * It owns the order of the hosts, the back-off and the current round. At most one round is in
 * progress. After `stop`, nothing is called until the next `seek`.
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
    Omit<
      PursuitOptions,
      'failedRounds' | 'onAttemptFailed' | 'onConnected' | 'onExhausted' | 'onRefused'
    > {
  handshake(): ConnectRequest;
  onConnected(connection: Connection, response: ConnectResponse): void;
  /** The server says that the session to be resumed is over, or refuses to open one. */
  onRefused(): void;
  /** Every address has failed. The next round starts by itself, unless `stop` is called. */
  onRoundFailed(error: Error): void;
}

export class Seeker {
  readonly #options: SeekerOptions;
  readonly #backOff: BackOff;
  readonly #outage: OutageWarning;
  #pursuit: Pursuit | null = null;
  #cancelPause: (() => void) | null = null;
  #failedRounds = 0;

  constructor(options: SeekerOptions) {
    this.#options = options;
    this.#backOff = new BackOff(options);
    this.#outage = new OutageWarning(options);
  }

  /** Whether a round is in progress, rather than the pause between two. */
  get isTrying(): boolean {
    return this.#pursuit !== null;
  }

  /** Starts with the first round, which comes at once after a connection that lasted. */
  seek(): void {
    const delayMs = this.#backOff.nextDelayMs();
    if (delayMs === 0) this.#try();
    else this.#cancelPause = this.#options.surroundings.setTimer(delayMs, () => this.#try());
  }

  /**
   * Starts a round without a pause, and counts none: a server has just answered, though not with
   * what was asked for.
   */
  seekAtOnce(): void {
    this.#try();
  }

  /** Called when the list of servers has changed: the next round starts at once. */
  restart(): void {
    this.stop();
    this.#backOff.reset();
    this.#outage.reset();
    this.#failedRounds = 0;
    this.seek();
  }

  stop(): void {
    this.#cancelPause?.();
    this.#cancelPause = null;
    this.#pursuit?.stop();
    this.#pursuit = null;
  }

  /** The connection that was found is lost. The next round starts after its server in the list. */
  onLost(connection: Connection): void {
    this.#backOff.onDisconnected();
    this.#options.hosts.startBehind(connection.address.server);
  }

  #try(): void {
    this.#cancelPause = null;
    this.#outage.onRoundStarted();
    this.#pursuit = new Pursuit({
      ...this.#options,
      failedRounds: this.#failedRounds,
      onAttemptFailed: (server, error) => this.#onAttemptFailed(server, error),
      onConnected: (connection, response) => {
        this.#pursuit = null;
        this.#backOff.onConnected();
        this.#outage.reset();
        this.#failedRounds = 0;
        this.#options.onConnected(connection, response);
      },
      onRefused: () => {
        this.#pursuit = null;
        this.#options.onRefused();
      },
      onExhausted: (error) => {
        this.#pursuit = null;
        this.#outage.onRoundFailed();
        this.#failedRounds += 1;
        // Scheduled before the call, so that the callee may stop it.
        this.seek();
        this.#options.onRoundFailed(error);
      },
    });
    this.#pursuit.start();
  }

  #onAttemptFailed(server: ServerName, error: Error): void {
    this.#outage.onAttemptFailed(server, error);
    const fields = { server: serverText(server), err: error };
    this.#options.log.debug(
      'session.attempt_failed',
      'an attempt to get a session from a server has failed',
      fields,
    );
  }
}
