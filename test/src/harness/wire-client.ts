/**
 * One raw client connection: frames are built by hand, and everything is recorded in the order of
 * arrival.
 *
 * It owns a socket and the handshake; it never reconnects, never sets watches again and never hides
 * an answer: `request` resolves with whatever header came back. Requests that were not answered
 * when the connection ends are rejected with ConnectionLost, because their outcome is unknown.
 * `pipeline` puts several frames into one write, so that the member reads them from one segment.
 */
import { connect, type Socket } from 'node:net';
import {
  type Codec,
  ConnectRequest,
  ConnectResponse,
  decode,
  Empty,
  FrameReader,
  type Int64,
  JuteReader,
  JuteWriter,
  OpCode,
  PASSWORD_BYTES,
  PING_XID,
  ReplyHeader,
  RequestHeader,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import { type Deferred, deferred, within } from './wait.js';

/**
 * Replies have no size limit of their own on the wire; long lists of children are larger than a
 * frame.
 */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
const HANDSHAKE_DEADLINE_MS = 15_000;
const DEFAULT_SESSION_TIMEOUT_MS = 10_000;

export interface Session {
  readonly id: Int64;
  readonly password: Uint8Array;
  readonly timeoutMs: number;
  /** Whether the member said that it serves only reads. */
  readonly readOnly?: boolean;
}

export interface Reply {
  readonly kind: 'reply';
  readonly xid: number;
  readonly zxid: Int64;
  readonly error: number;
  /** The bytes after the header, as a copy. */
  readonly body: Uint8Array;
}

export interface WatchEvent {
  readonly kind: 'event';
  readonly zxid: Int64;
  readonly type: number;
  readonly path: string;
}

export type Arrival = Reply | WatchEvent;

export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** The answer to a resume was "no such session". */
export class SessionExpired extends Error {
  override readonly name = 'SessionExpired';
}

export interface ConnectOptions {
  readonly port: number;
  /** The address that the member sees, of the loopback network; 127.0.0.1 by default. */
  readonly localAddress?: string;
  readonly timeoutMs?: number;
  /** Resumes this session instead of requesting a new one. */
  readonly session?: Session;
  readonly lastZxidSeen?: Int64;
  /** Accepts a member that has no quorum. */
  readonly readOnly?: boolean;
  /** How long the handshake may take. */
  readonly handshakeMs?: number;
  /** False leaves pings to the test: the session then stays alive by requests alone. */
  readonly pings?: boolean;
  /** False forgets arrivals once they are delivered, for load without end. */
  readonly recording?: boolean;
}

export class WireClient {
  readonly session: Session;
  readonly port: number;
  /** Replies and events in order of arrival, without pings. */
  readonly arrivals: Arrival[] = [];
  /** Resolves when the connection is gone, whichever side ended it. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #frames: FrameReader;
  readonly #writer = new JuteWriter();
  readonly #pending = new Map<number, Deferred<Reply>>();
  readonly #recording: boolean;
  readonly #waiters = new Set<() => void>();
  #lastZxid: Int64 = 0;
  #xid = 0;
  #corked = false;
  #open = true;

  static async connect(options: ConnectOptions): Promise<WireClient> {
    const { port, localAddress = '127.0.0.1' } = options;
    const socket = connect({ host: '127.0.0.1', port, localAddress, noDelay: true });
    const answer = deferred<{ session: Session; frames: FrameReader }>();
    const frames = new FrameReader(REPLY_BYTES_MAX);
    socket.on('error', () => undefined);
    socket.once('close', () => answer.reject(new ConnectionLost('closed during the handshake')));
    const onData = (chunk: Buffer) => {
      frames.push(chunk);
      const frame = frames.next();
      if (frame === null) return;
      socket.off('data', onData);
      socket.pause();
      const session = readConnectResponse(frame);
      if (session === undefined) answer.reject(new SessionExpired('the session is not known'));
      else answer.resolve({ session, frames });
    };
    socket.on('data', onData);
    socket.write(connectRequest(options));
    try {
      const what = `a connection to port ${options.port}`;
      const deadlineMs = options.handshakeMs ?? HANDSHAKE_DEADLINE_MS;
      const { session } = await within(what, deadlineMs, answer.promise);
      return new WireClient(socket, frames, session, options);
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  private constructor(
    socket: Socket,
    frames: FrameReader,
    session: Session,
    options: ConnectOptions,
  ) {
    this.#socket = socket;
    this.#frames = frames;
    this.session = session;
    this.port = options.port;
    this.#recording = options.recording ?? true;
    this.#lastZxid = options.lastZxidSeen ?? 0;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#onClose();
        resolve();
      });
    });
    socket.on('data', (chunk: Buffer) => {
      frames.push(chunk);
      this.#onFrames();
    });
    if (options.pings !== false) this.#pingEvery(Math.floor(session.timeoutMs / 3));
    this.#onFrames();
    socket.resume();
  }

  get open(): boolean {
    return this.#open;
  }

  /** The highest zxid of any reply, which a client presents when it resumes. */
  get lastZxid(): Int64 {
    return this.#lastZxid;
  }

  request<T>(opcode: number, codec: Codec<T>, value: T): Promise<Reply> {
    this.#xid += 1;
    const xid = this.#xid;
    const answer = deferred<Reply>();
    if (!this.#open) {
      answer.reject(new ConnectionLost('the connection is gone'));
      return answer.promise;
    }
    this.#pending.set(xid, answer);
    this.#send(xid, opcode, codec, value);
    return answer.promise;
  }

  /** Everything that `send` requests is sent in one write. */
  pipeline<T>(send: () => T): T {
    this.#corked = true;
    const result = send();
    this.#corked = false;
    this.#socket.write(this.#writer.take());
    return result;
  }

  /** Sends bytes as they are, for what no well-behaved client would send. */
  sendRaw(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  ping(): void {
    this.#send(PING_XID, OpCode.ping, Empty, null);
  }

  /** Resolves with the first recorded event that matches, past or future. */
  async event(what: string, deadlineMs: number, matches: (e: WatchEvent) => boolean) {
    const found = deferred<WatchEvent>();
    const look = () => {
      const event = this.arrivals.find((a): a is WatchEvent => a.kind === 'event' && matches(a));
      if (event !== undefined) found.resolve(event);
    };
    this.#waiters.add(look);
    look();
    try {
      return await within(`the event ${what}`, deadlineMs, found.promise);
    } finally {
      this.#waiters.delete(look);
    }
  }

  /** Stops reading, as a client that hangs; the socket stays open. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Vanishes without closing the session, which lives until it times out. */
  drop(): Promise<void> {
    this.#socket.destroy();
    return this.closed;
  }

  /** Ends the session and the connection. */
  async close(): Promise<void> {
    if (this.#open) {
      await this.request(OpCode.closeSession, Empty, null).catch(() => undefined);
      this.#socket.end();
    }
    await this.closed;
  }

  #send<T>(xid: number, type: number, codec: Codec<T>, value: T): void {
    this.#writer.beginFrame();
    RequestHeader.write(this.#writer, { xid, type });
    codec.write(this.#writer, value);
    this.#writer.endFrame();
    if (!this.#corked) this.#socket.write(this.#writer.take());
  }

  #onFrames(): void {
    for (let frame = this.#frames.next(); frame !== null; frame = this.#frames.next()) {
      this.#onFrame(frame);
    }
  }

  #onFrame(frame: Uint8Array): void {
    const reader = new JuteReader(frame);
    const { xid, zxid, error } = ReplyHeader.read(reader);
    if (xid === PING_XID) return;
    if (xid === WATCH_XID) {
      const { type, path } = WatcherEvent.read(reader);
      this.#record({ kind: 'event', zxid, type, path });
      return;
    }
    const body = Uint8Array.prototype.slice.call(frame, reader.position);
    const reply: Reply = { kind: 'reply', xid, zxid, error, body };
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
    this.#record(reply);
    const answer = this.#pending.get(xid);
    this.#pending.delete(xid);
    answer?.resolve(reply);
  }

  #record(arrival: Arrival): void {
    if (this.#recording) this.arrivals.push(arrival);
    for (const look of this.#waiters) look();
  }

  #onClose(): void {
    this.#open = false;
    for (const answer of this.#pending.values()) {
      answer.reject(new ConnectionLost('the connection ended before the answer'));
    }
    this.#pending.clear();
  }

  #pingEvery(intervalMs: number): void {
    const timer = setInterval(() => this.ping(), intervalMs);
    timer.unref();
    this.#socket.once('close', () => clearInterval(timer));
  }
}

/** A ConnectRequest with its length, as a client of 3.4 or later sends it. */
export function connectRequest(options: Omit<ConnectOptions, 'port'>): Uint8Array {
  const writer = new JuteWriter();
  writer.beginFrame();
  ConnectRequest.write(writer, {
    protocolVersion: 0,
    lastZxidSeen: options.lastZxidSeen ?? 0,
    timeoutMs: options.timeoutMs ?? options.session?.timeoutMs ?? DEFAULT_SESSION_TIMEOUT_MS,
    sessionId: options.session?.id ?? 0,
    password: options.session?.password ?? new Uint8Array(PASSWORD_BYTES),
    readOnly: options.readOnly ?? false,
  });
  writer.endFrame();
  return writer.take();
}

/** Undefined for the answer that says "expired". */
function readConnectResponse(frame: Uint8Array): Session | undefined {
  const { timeoutMs, sessionId, password, readOnly } = decode(ConnectResponse, frame);
  if (timeoutMs <= 0 || password === null) return undefined;
  const own = Uint8Array.from(password);
  return { id: sessionId, timeoutMs, password: own, readOnly: readOnly === true };
}
