/**
 * Handles connecting, from the ConnectRequest to its answer.
 *
 * A new session is a write (createSession), answered when it is applied here. To resume one, the
 * leader is asked, which alone knows where the session is and whether it is alive; the answer waits
 * until this member has applied the creation of the session. An older connection of the session at
 * this member ends before the leader is asked, if the password is right: what it has forwarded
 * counts as sent before, and it sends nothing more. A local session is opened and resumed here and
 * at once.
 *
 * The leader is asked for a bounded number of sessions at a time; further ones wait in line.
 * Nothing of a connection is processed before its answer. It owns the connections that wait;
 * Pipeline makes them live.
 */
import {
  ConnectRequest,
  ConnectResponse,
  CreateSessionRequest,
  encode,
  formatZxid,
  JuteReader,
  MarshallingError,
  OpCode,
  PASSWORD_BYTES,
  type Zxid,
} from '@rookery/protocol';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { OpenedSession } from '../state/session-record.js';
import type { SessionId } from '../state/txn.js';
import type { Connection } from './connection.js';
import type { PipelineContext } from './requests.js';

/** What to do with a connection whose ConnectRequest came. */
type ConnectOutcome =
  | { readonly kind: 'wait' }
  /** The leader is asked. The password is right, so older connections of the session end now. */
  | { readonly kind: 'resume' }
  /** A local session, which this member has just opened or resumed: answer at once. */
  | { readonly kind: 'welcome' }
  /** Answer that the session has expired, then end the connection. */
  | { readonly kind: 'expired' }
  /** Close without an answer. */
  | { readonly kind: 'close'; readonly reason: string };

const WAIT: ConnectOutcome = { kind: 'wait' };
const RESUME: ConnectOutcome = { kind: 'resume' };
const WELCOME: ConnectOutcome = { kind: 'welcome' };
const EXPIRED: ConnectOutcome = { kind: 'expired' };
const TOO_MANY_LEFT: ConnectOutcome = {
  kind: 'close',
  reason: 'its address has left too many sessions that have not ended yet',
};
const NO_PASSWORD = new Uint8Array(PASSWORD_BYTES);

/** The leader is asked for the session of a connection, which may be gone meanwhile. */
interface Asked {
  readonly connection: Connection;
  /** The size of the message, as Throttle counts it. */
  readonly bytes: number;
}

/** The size of a message that asks for an existing session: its id, its password, a number. */
const ATTACH_BYTES = 32;

export class Handshake {
  readonly #context: PipelineContext;
  readonly #random16: () => Uint8Array;
  /**
   * Connections for which the leader has not been asked yet, in the order of their arrival, with
   * the password of the session that they resume; null for a new one.
   */
  readonly #line = new Map<Connection, Buffer | null>();
  /** What the leader has not answered, by the number of the createSession or the attach. */
  readonly #asked = new Map<number, Asked>();
  /** Attached connections whose session's creation is not applied here yet. */
  #heldBack: Connection[] = [];

  /** `random16` returns 16 fresh random bytes: the password of a local session. */
  constructor(context: PipelineContext, random16: () => Uint8Array) {
    this.#context = context;
    this.#random16 = random16;
  }

  onConnect(
    connection: Connection,
    frame: Uint8Array,
    at: {
      readonly state: ReplicatedState;
      readonly isReadOnly: boolean;
      readonly nowMs: number;
    },
  ): ConnectOutcome {
    const request = readRequest(frame);
    if (request === null) return { kind: 'close', reason: 'malformed connect request' };
    connection.hasReadOnly = request.readOnly !== null;
    if (at.isReadOnly && request.readOnly !== true) {
      return { kind: 'close', reason: 'not a read-only client' };
    }
    if (request.lastZxidSeen > at.state.lastZxid) {
      return { kind: 'close', reason: `client has seen zxid ${formatZxid(request.lastZxidSeen)}` };
    }
    const { minSessionTimeoutMs, maxSessionTimeoutMs } = this.#context.options;
    const asked = Math.max(request.timeoutMs, minSessionTimeoutMs);
    const timeoutMs = Math.min(asked, maxSessionTimeoutMs);
    connection.timeoutMs = timeoutMs;
    const session = request.sessionId;
    connection.opensSession = session === 0;
    if (session === 0) {
      const { remoteAddress } = connection.channel;
      if (this.#context.left.areTooMany(remoteAddress, at.nowMs)) return TOO_MANY_LEFT;
      return this.#openSession(connection, timeoutMs, at.isReadOnly);
    }
    const password = request.password;
    // An id that is not a safe integer was never given out here.
    if (typeof session !== 'number') return EXPIRED;
    connection.session = session;
    if (password?.length !== PASSWORD_BYTES) return EXPIRED;
    if (connection.hasLocalSession) return this.#resumeLocal(connection, password);
    if (at.isReadOnly) return { kind: 'close', reason: 'only the quorum knows its session' };
    this.#line.set(connection, Buffer.from(password));
    this.#askForThoseInLine();
    const known = at.state.sessions.get(session);
    return known !== undefined && Buffer.compare(known.password, password) === 0 ? RESUME : WAIT;
  }

  /**
   * The leader has answered: returns the connection of this request number, which may be gone.
   */
  take(request: number): Connection | undefined {
    const asked = this.#asked.get(request);
    if (asked === undefined) return undefined;
    this.#asked.delete(request);
    this.#context.throttle.onHandshakeAnswered(asked.connection, asked.bytes);
    this.#askForThoseInLine();
    return asked.connection;
  }

  /**
   * The leader says that the session is valid, but this member has not applied its creation yet.
   */
  holdBack(connection: Connection): void {
    this.#heldBack.push(connection);
  }

  /** Returns the connections that were held back and whose session is created by now. */
  takeReady(applied: Zxid): readonly Connection[] {
    if (this.#heldBack.length === 0) return this.#heldBack;
    const ready = this.#heldBack.filter((connection) => connection.session <= applied);
    if (ready.length > 0) {
      this.#heldBack = this.#heldBack.filter((connection) => connection.session > applied);
    }
    return ready.filter((connection) => connection.phase === 'joining');
  }

  /**
   * This attachment of the session has ended; 0 stands for any of its attachments. Returns the
   * connections with it that were held back.
   */
  takeHeldBack(session: SessionId, attachment: number): readonly Connection[] {
    if (this.#heldBack.length === 0) return this.#heldBack;
    const isOver = (one: Connection): boolean =>
      one.session === session && (attachment === 0 || one.attachment === attachment);
    const over = this.#heldBack.filter(isOver);
    if (over.length > 0)
      this.#heldBack = this.#heldBack.filter((connection) => !isOver(connection));
    return over.filter((connection) => connection.phase === 'joining');
  }

  /**
   * The connection is gone. If the leader was asked for its session, Throttle counts that until the
   * leader has answered.
   */
  forget(connection: Connection): void {
    this.#line.delete(connection);
  }

  clear(): void {
    this.#line.clear();
    for (const { connection, bytes } of this.#asked.values()) {
      this.#context.throttle.onHandshakeAnswered(connection, bytes);
    }
    this.#asked.clear();
    this.#heldBack = [];
  }

  #openSession(connection: Connection, timeoutMs: number, isReadOnly: boolean): ConnectOutcome {
    if (!isReadOnly && !this.#context.options.localSessions) {
      this.#line.set(connection, null);
      this.#askForThoseInLine();
      return WAIT;
    }
    const password = this.#random16();
    connection.session = this.#context.local.open({ timeoutMs, password, isReadOnly });
    return WELCOME;
  }

  #resumeLocal(connection: Connection, password: Uint8Array): ConnectOutcome {
    const session = this.#context.local.resume(connection.session, password);
    if (session === undefined) return EXPIRED;
    connection.timeoutMs = session.timeoutMs;
    return WELCOME;
  }

  #askForThoseInLine(): void {
    for (const [connection, password] of this.#line) {
      if (!this.#context.throttle.mayForwardHandshake) return;
      this.#line.delete(connection);
      if (password === null) this.#create(connection);
      else this.#attach(connection, password);
    }
  }

  #create(connection: Connection): void {
    const body = encode(CreateSessionRequest, { timeoutMs: connection.timeoutMs });
    const bytes = body.length + connection.identityBytes;
    this.#context.outbox.create({
      request: this.#ask(connection, bytes),
      session: 0,
      attachment: connection.attachment,
      opcode: OpCode.createSession,
      body,
      identities: connection.requester.identities,
    });
  }

  #attach(connection: Connection, password: Uint8Array): void {
    const request = this.#ask(connection, ATTACH_BYTES);
    const { attachment, session } = connection;
    this.#context.outbox.attach({ request, attachment, session, password });
  }

  /** Returns the number of the request. */
  #ask(connection: Connection, bytes: number): number {
    connection.attachment = this.#context.outbox.nextAttachment();
    const request = this.#context.outbox.nextRequest();
    this.#asked.set(request, { connection, bytes });
    this.#context.throttle.onHandshakeForwarded(connection, bytes);
    return request;
  }
}

/** Writes the answer to a client whose session exists. */
export function writeWelcome(
  connection: Connection,
  session: OpenedSession,
  isReadOnly: boolean,
): void {
  const { session: sessionId } = connection;
  writeResponse(connection, { ...session, sessionId, isReadOnly });
}

/** Writes the answer by which a client learns that its session is gone. */
export function writeExpired(connection: Connection): void {
  const none = { sessionId: 0, timeoutMs: 0, password: NO_PASSWORD, isReadOnly: false };
  writeResponse(connection, none);
}

function writeResponse(
  connection: Connection,
  session: OpenedSession & { readonly sessionId: SessionId; readonly isReadOnly: boolean },
): void {
  const { writer } = connection.channel;
  writer.beginFrame();
  ConnectResponse.write(writer, {
    protocolVersion: 0,
    timeoutMs: session.timeoutMs,
    sessionId: session.sessionId,
    password: session.password,
    readOnly: connection.hasReadOnly ? session.isReadOnly : null,
  });
  writer.endFrame();
}

function readRequest(frame: Uint8Array): ConnectRequest | null {
  try {
    return ConnectRequest.read(new JuteReader(frame));
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return null;
  }
}
