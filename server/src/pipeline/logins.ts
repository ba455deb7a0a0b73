/**
 * Handles the logins of this member's clients: when an attempt is judged, and its outcome.
 *
 * What an attempt proves holds for everything that its connection sends after it. A wrong attempt
 * is counted against its user and address together, and further attempts of both wait
 * (WaitingLogins). An attempt that names a super user with a wrong password is counted, too,
 * although it is accepted as an identity of its own. The connection of an attempt that is refused
 * becomes `leaving`. Owned by Pipeline; Requests calls it and answers in order.
 */
import {
  decode,
  ErrorCode,
  ErrorResponse,
  JuteReader,
  JuteWriter,
  MarshallingError,
  OpCode,
  ReplyHeader,
  SaslRequest,
  SaslResponse,
} from '@rookery/protocol';
import { addressGroup } from '../security/address-group.js';
import type { LoginDelays } from '../security/login-delays.js';
import type { Auditor } from './audit.js';
import type { Connection } from './connection.js';
import type { Authenticator } from './identities.js';
import type { ReadHeader } from './read.js';

const EMPTY = new Uint8Array(0);

export class Logins {
  readonly waiting: WaitingLogins;
  readonly #authenticator: Authenticator;
  readonly #delays: LoginDelays;
  readonly #auditor: Auditor | null;

  /** The auditor is null where nothing is audited. */
  constructor(authenticator: Authenticator, delays: LoginDelays, auditor: Auditor | null) {
    this.#authenticator = authenticator;
    this.#delays = delays;
    this.#auditor = auditor;
    this.waiting = new WaitingLogins(delays, ({ connection, opcode, body }) => {
      if (opcode !== OpCode.auth) return true;
      return authenticator.isJudged(body, connection.channel.remoteAddress);
    });
  }

  /** The number of attempts that were refused since the member started. */
  get failures(): number {
    return this.#authenticator.failures;
  }

  /** The number of attempts that had to wait since the member started, here or at another port. */
  get delayed(): number {
    return this.#delays.delayed;
  }

  /** A new connection is what its certificate says. False if that is too long. */
  takeProven(connection: Connection): boolean {
    const { proven = [] } = connection.channel;
    if (proven.length === 0) return true;
    const { identities } = connection.requester;
    const joined = this.#authenticator.join(identities, proven);
    if (joined !== null) connection.becomes(joined);
    return joined !== null;
  }

  /** Whether this step is to be looked at now: see `WaitingLogins.judge`. */
  judge(
    connection: Connection,
    header: ReadHeader,
    { body, nowMs }: { readonly body: Uint8Array; readonly nowMs: number },
  ): ReturnType<WaitingLogins['judge']> {
    const user = this.#guessedUser(connection, header, body);
    return user === null ? 'now' : this.waiting.judge(connection, header, { user, body, nowMs });
  }

  /** False where clients cannot authenticate in several steps. */
  get hasSasl(): boolean {
    return this.#authenticator.hasSasl;
  }

  /** Takes an AuthPacket. Returns the outcome, which the caller answers in its order. */
  authenticate(connection: Connection, packet: Uint8Array, nowMs: number): JuteReader {
    const authenticator = this.#authenticator;
    const outcome = authenticator.authenticate(
      packet,
      connection.requester.identities,
      connection.channel.remoteAddress,
    );
    if (outcome === null) connection.phase = 'leaving';
    else connection.becomes(outcome.identities);
    if (outcome?.isWrongSuper === true) {
      this.#failed(connection, { user: authenticator.guessedUser(packet) ?? '', nowMs });
    }
    // It is accepted as another identity; for an auditor somebody has guessed.
    this.#auditor?.onAuthenticated(connection, outcome !== null && !outcome.isWrongSuper);
    const writer = new JuteWriter();
    const error = outcome === null ? ErrorCode.authFailed : ErrorCode.ok;
    ErrorResponse.write(writer, { error });
    return new JuteReader(writer.take());
  }

  /**
   * Takes a token of SASL and writes the answer, before whatever waits: clients take the next
   * answer for the next token. Its zxid is 0, and a refusal has a body, too, as in ZooKeeper.
   */
  answerSasl(
    connection: Connection,
    { xid, body, nowMs }: { xid: number; body: JuteReader; nowMs: number },
  ): void {
    const { requester } = connection;
    const sent = tokenOf(body);
    const user = sent === null ? '' : (connection.exchange?.userIn(sent) ?? '');
    const outcome = sent === null ? null : this.#authenticator.answerSasl(connection, sent);
    const isAccepted = outcome?.kind === 'answer';
    if (isAccepted) connection.becomes(outcome.identities);
    const { writer } = connection.channel;
    writer.beginFrame();
    const error = isAccepted ? ErrorCode.ok : ErrorCode.authFailed;
    ReplyHeader.write(writer, { xid, zxid: 0, error });
    SaslResponse.write(writer, { token: isAccepted ? outcome.token : null });
    writer.endFrame();
    if (!isAccepted) {
      connection.phase = 'leaving';
      this.#failed(connection, { user, nowMs });
    }
    // A step that proves nothing yet leaves the connection as it was.
    if (!isAccepted || connection.requester.identities !== requester.identities) {
      this.#auditor?.onAuthenticated(connection, isAccepted);
    }
  }

  onTick(nowMs: number, look: (attempt: LoginAttempt) => void): void {
    this.waiting.onTick(nowMs, look);
  }

  /**
   * The user whose password this step can guess; null for a step that needs none, such as the
   * question for a challenge.
   */
  #guessedUser(connection: Connection, { opcode }: ReadHeader, body: Uint8Array): string | null {
    if (opcode === OpCode.auth) return this.#authenticator.guessedUser(body);
    if (opcode !== OpCode.sasl || connection.exchange === null) return null;
    const token = tokenOf(new JuteReader(body));
    return token === null ? '' : connection.exchange.userIn(token);
  }

  #failed({ channel }: Connection, { user, nowMs }: { user: string; nowMs: number }): void {
    const { remoteAddress: address } = channel;
    // Whoever asks by HTTP is judged there.
    if (address !== '') this.#delays.failed({ address, user }, nowMs);
  }
}

/** A token that is absent counts as empty. Null for what is no request. */
function tokenOf(body: JuteReader): Uint8Array | null {
  try {
    return decode(SaslRequest, body.rest()).token ?? EMPTY;
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}

interface LoginStep {
  /** The user that it names. */
  readonly user: string;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

interface LoginAttempt extends ReadHeader {
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
class WaitingLogins {
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
    { user, body, nowMs }: LoginStep,
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
    connection.isLoginWaiting = true;
    connection.channel.hold('login');
    return 'waits';
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
        connection.isLoginWaiting = false;
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
