/**
 * Attempts to log in that wait because earlier ones as the same user from the same address have
 * failed, or because the hash of the password is being computed.
 *
 * Those of a user are looked at one after the other, each when the delay of that user is over, so
 * that any number of connections guesses no faster than one. A connection is not read from
 * meanwhile, and its session not heard from: the client may resume it by another connection before
 * it expires. Other connections of the address go on, unless they log in as the same user. At most
 * a few attempts wait for an address: the connection of a further one is closed, and its client may
 * ask another member. Logins decides on an attempt once it is looked at, and owns this. Time is an
 * argument.
 */
import { addressGroup } from '../security/address-group.js';
import type { LoginDelays } from '../security/login-delays.js';
import type { Connection } from './connection.js';
import type { ReadHeader } from './read.js';

export interface LoginAttempt extends ReadHeader {
  readonly connection: Connection;
  /** The user that it names. */
  readonly user: string;
  readonly body: Uint8Array;
}

/** Attempts that may wait: the last one waits for a quarter of an hour at the longest delay. */
const WAITING_MAX = 32;
/** Those in front are judged first, so the others' turn comes. */
const ASKED_PER_TICK_MAX = 256;
/** The size of an attempt: no identity (IDENTITY_BYTES_MAX) or token of SASL may be longer. */
const ATTEMPT_BYTES_MAX = 8192;

export class WaitingLogins {
  readonly #delays: LoginDelays;
  readonly #isReady: (attempt: LoginAttempt) => boolean;
  /** The attempts by the group of their address, in the order of their arrival. */
  readonly #lines = new Map<string, Map<Connection, LoginAttempt>>();

  /** `isReady` says whether an attempt that does not have to wait can be judged already. */
  constructor(delays: LoginDelays, isReady: (attempt: LoginAttempt) => boolean = () => true) {
    this.#delays = delays;
    this.#isReady = isReady;
  }

  /** The number of attempts that wait. */
  get count(): number {
    let count = 0;
    for (const line of this.#lines.values()) count += line.size;
    return count;
  }

  /**
   * `now`: the attempt is to be looked at now. `waits`: it is kept, and the connection is held.
   * `notKept`: it would have to wait, but too many do already, or it is too long to be kept.
   */
  judge(
    connection: Connection,
    { xid, opcode }: ReadHeader,
    { user, body, nowMs }: Pick<LoginAttempt, 'user' | 'body'> & { readonly nowMs: number },
  ): 'now' | 'waits' | 'notKept' {
    const { remoteAddress: address } = connection.channel;
    // Whoever asks by HTTP is delayed there.
    if (address === '') return 'now';
    const group = addressGroup(address);
    const line = this.#lines.get(group);
    const isAhead = [...(line?.values() ?? [])].some((attempt) => attempt.user === user);
    const isDelayed = isAhead || this.#delays.waitMs({ address, user }, nowMs) > 0;
    if (!isDelayed && this.#isReady({ connection, xid, opcode, user, body })) return 'now';
    if (isDelayed) this.#delays.noteDelayed();
    if (body.length > ATTEMPT_BYTES_MAX) return 'notKept';
    if (line !== undefined && line.size >= WAITING_MAX) return 'notKept';
    const attempt = { connection, xid, opcode, user, body: Buffer.from(body) };
    const waiting = line ?? new Map<Connection, LoginAttempt>();
    this.#lines.set(group, waiting.set(connection, attempt));
    connection.channel.hold('login');
    return 'waits';
  }

  /** Whether the connection is not read from because of its attempt. */
  has(connection: Connection): boolean {
    if (this.#lines.size === 0) return false;
    const group = addressGroup(connection.channel.remoteAddress);
    return this.#lines.get(group)?.has(connection) === true;
  }

  /** Calls `look` for each attempt that may be looked at now. */
  onTick(nowMs: number, look: (attempt: LoginAttempt) => void): void {
    let asked = 0;
    for (const [group, line] of this.#lines) {
      for (const [connection, attempt] of line) {
        const { remoteAddress: address } = connection.channel;
        // One that has failed just now makes those behind it wait longer.
        if (this.#delays.waitMs({ address, user: attempt.user }, nowMs) > 0) continue;
        asked += 1;
        if (asked > ASKED_PER_TICK_MAX || !this.#isReady(attempt)) continue;
        line.delete(connection);
        connection.channel.release('login');
        look(attempt);
      }
      if (line.size === 0) this.#lines.delete(group);
    }
  }

  /** The connection is gone. */
  forget(connection: Connection): void {
    if (this.#lines.size === 0) return;
    const group = addressGroup(connection.channel.remoteAddress);
    const line = this.#lines.get(group);
    if (line?.delete(connection) === true && line.size === 0) this.#lines.delete(group);
  }
}
