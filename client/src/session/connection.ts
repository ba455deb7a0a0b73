/**
 * One connection to one server: the handshake, frames in both directions, heartbeats, silence.
 *
 * It owns the link and the requests in flight, in their order. It never reconnects, knows no
 * session state and queues nothing that was not sent. Replies settle requests in the order in which
 * they were sent. Whatever the server sends, the connection ends with a typed error, and nothing is
 * thrown out of a socket callback. `onClosed` is called once, as the last event, with all requests
 * that are still in flight.
 *
 * If an event follows replies that were settled in the same turn, the frames from there on wait for
 * setImmediate, so that code that awaited those replies runs before the watcher is called.
 */
import {
  AUTH_XID,
  AuthPacket,
  BadArgumentsError,
  ConnectionLossError,
  ConnectRequest,
  ConnectResponse,
  Fifo,
  FrameReader,
  type Int64,
  JuteReader,
  OpCode,
  PING_XID,
  WATCH_XID,
  WatcherEvent,
} from '@rookery/protocol';
import { ProtocolViolationError, RequestTooLargeError } from '../api/errors.js';
import type { Surroundings } from '../api/surroundings.js';
import type { Address, Dial, Link } from '../wire/link.js';
import { FrameWriter } from './frame-writer.js';
import { Pulse } from './pulse.js';
import type { Request } from './request.js';

export interface ConnectionEvents {
  /** The link is open, so the handshake may begin. */
  onOpen(): void;
  /**
   * The server has answered the handshake. It refused the session if the timeout is not positive.
   */
  onHandshake(response: ConnectResponse): void;
  /** A reply has this zxid. Called before the reply settles its request. */
  onZxid(zxid: Int64): void;
  onEvent(event: WatcherEvent, zxid: Int64): void;
  /** The server has answered an auth packet; 0 means success. */
  onAuthReply(error: number): void;
  onClosed(error: Error, inFlight: readonly Request[]): void;
}

export interface ConnectionOptions {
  readonly address: Address;
  readonly dial: Dial;
  readonly surroundings: Surroundings;
  readonly frameBytesMax: number;
  readonly requestBytesMax: number;
  readonly events: ConnectionEvents;
}

/**
 * The share of the session timeout after which the server counts as silent, and the longest pause
 * between heartbeats.
 */
const SILENCE_SHARE = 2 / 3;
const BEAT_SHARE = 1 / 3;
const BEAT_MS_MAX = 10_000;
const XID_MAX = 2 ** 31 - 1;
/**
 * Servers give no reason when they hang up on somebody who asks for a session. A server may want
 * TLS from a client that does not use it. Under TLS 1.3 the handshake is over for the client before
 * the server has its certificate, so a server that refuses the certificate hangs up here, too.
 */
const UNANSWERED = 'hung up early: no quorum, or TLS mismatch?';

export class Connection {
  readonly address: Address;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #link: Link;
  readonly #frames: FrameReader;
  readonly #writer: FrameWriter;
  /** The requests that were sent and are not answered, in the order of their replies. */
  readonly #inFlight = new Fifo<Request>();
  #phase: 'opening' | 'handshake' | 'open' | 'closed' = 'opening';
  #pulse: Pulse | null = null;
  #xid = 0;
  /** The time of this turn's first send, or NaN. It is never later than the true time of a send. */
  #turnMs = Number.NaN;
  #handshakeSentMs = Number.NaN;
  #pingSentMs = Number.NaN;
  #lastAnsweredMs = Number.NEGATIVE_INFINITY;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  /** An event that waits, as do all frames behind it, for the code that awaits earlier replies. */
  #heldEvent: { readonly event: WatcherEvent; readonly zxid: Int64 } | null = null;
  /** The reason why the link has ended, while frames that arrived earlier are still waiting. */
  #endedBy: Error | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#events = options.events;
    this.address = options.address;
    this.#frames = new FrameReader(options.frameBytesMax);
    this.#link = options.dial(options.address, {
      onOpen: () => this.#onOpen(),
      onData: (chunk) => this.#onData(chunk),
      onClose: (error) => this.#onLinkClosed(error),
    });
    this.#writer = new FrameWriter(options.requestBytesMax, (bytes) => {
      this.#turnMs = Number.NaN;
      this.#link.write(bytes);
    });
  }

  get inFlightCount(): number {
    return this.#inFlight.length;
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /**
   * When the last request was sent that has been answered; the session was alive at that time.
   * -Infinity until the handshake is answered.
   */
  get lastAnsweredMs(): number {
    const heartMs = this.#link.heart?.lastAnsweredMs() ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#lastAnsweredMs, heartMs);
  }

  /**
   * When this thread sent its last request. No reply that is still unread can prove a later time.
   */
  get lastSentMs(): number {
    return this.#lastSentMs;
  }

  shakeHands(request: ConnectRequest): void {
    this.#phase = 'handshake';
    this.#handshakeSentMs = this.#options.surroundings.nowMs();
    this.#writer.bare(ConnectRequest, request);
  }

  /** Sends a request at once. It is settled here, or returned through `onClosed`. */
  send(request: Request): void {
    this.#xid = this.#xid === XID_MAX ? 1 : this.#xid + 1;
    try {
      this.#writer.request(this.#xid, request.opcode, request);
    } catch (cause) {
      // Other errors are values that the wire cannot hold, such as a version beyond 32 bits.
      const isTooLarge = cause instanceof RequestTooLargeError;
      request.fail(isTooLarge ? cause : new BadArgumentsError(request.path, { cause }));
      return;
    }
    request.xid = this.#xid;
    request.sentAtMs = this.#sendingMs();
    this.#inFlight.push(request);
  }

  sendAuth(packet: AuthPacket): void {
    this.#writer.request(AUTH_XID, OpCode.auth, {
      write: (writer) => AuthPacket.write(writer, packet),
    });
    this.#sendingMs();
  }

  /** Ends the connection at once; the requests in flight are returned through `onClosed`. */
  fail(error: Error): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#heldEvent = null;
    this.#pulse?.stop();
    this.#writer.close();
    this.#link.destroy();
    this.#events.onClosed(error, this.#inFlight.takeAll());
  }

  /** Ends the connection at once without calling anybody. No request may be in flight. */
  discard(): void {
    this.#phase = 'closed';
    this.#pulse?.stop();
    this.#writer.close();
    this.#link.destroy();
  }

  #sendingMs(): number {
    if (Number.isNaN(this.#turnMs)) {
      this.#turnMs = this.#options.surroundings.nowMs();
      this.#lastSentMs = this.#turnMs;
      this.#pulse?.onSent(this.#turnMs);
    }
    return this.#turnMs;
  }

  #onOpen(): void {
    if (this.#phase === 'opening') this.#events.onOpen();
  }

  #onLinkClosed(error: Error | null): void {
    const cause = error ?? (this.#phase === 'handshake' ? new Error(UNANSWERED) : undefined);
    const loss = new ConnectionLossError(undefined, { ...(cause && { cause }) });
    if (this.#heldEvent === null) this.fail(loss);
    else this.#endedBy = loss;
  }

  #onData(chunk: Uint8Array): void {
    if (this.#phase === 'closed') return;
    this.#pulse?.onReceived(this.#options.surroundings.nowMs());
    this.#frames.push(chunk);
    if (this.#heldEvent === null) this.#readFrames();
  }

  #readFrames(): void {
    let hasSettled = false;
    try {
      for (;;) {
        if (this.#isClosed()) return;
        const frame = this.#frames.next();
        if (frame === null) break;
        if (this.#phase !== 'open') {
          this.#onHandshakeFrame(frame);
          continue;
        }
        const reader = new JuteReader(frame);
        const xid = reader.int();
        const zxid = reader.long();
        const error = reader.int();
        if (xid === WATCH_XID) {
          const event = WatcherEvent.read(reader);
          if (hasSettled) {
            this.#hold(event, zxid);
            return;
          }
          this.#events.onEvent(event, zxid);
        } else if (xid === PING_XID) {
          this.#onPong();
        } else if (xid === AUTH_XID) {
          this.#events.onAuthReply(error);
        } else {
          hasSettled = true;
          this.#onReply(xid, zxid, error, reader);
        }
      }
    } catch (cause) {
      const violation = new ProtocolViolationError(
        'the server sent something that violates the protocol',
        {
          cause,
        },
      );
      this.fail(new ConnectionLossError(undefined, { cause: violation }));
    }
    if (this.#endedBy !== null) this.fail(this.#endedBy);
  }

  #hold(event: WatcherEvent, zxid: Int64): void {
    this.#heldEvent = { event, zxid };
    setImmediate(() => {
      const held = this.#heldEvent;
      if (held === null || this.#phase === 'closed') return;
      this.#heldEvent = null;
      this.#events.onEvent(held.event, held.zxid);
      this.#readFrames();
    });
  }

  #onReply(xid: number, zxid: Int64, error: number, reader: JuteReader): void {
    const request = this.#inFlight.first;
    if (request === undefined || request.xid !== xid) {
      const expected = request === undefined ? 'none' : `${request.xid}`;
      throw new ProtocolViolationError(`a reply to request ${xid}, expected ${expected}`);
    }
    if (zxid > 0) this.#events.onZxid(zxid);
    request.zxid = zxid;
    // Throws if the reply cannot be read. The request is then still in flight and fails with the
    // others.
    if (error === 0) request.succeed(reader);
    else request.refuse(error);
    this.#inFlight.shift();
    this.#lastAnsweredMs = Math.max(this.#lastAnsweredMs, request.sentAtMs);
  }

  #onPong(): void {
    // A reply to a ping that was never sent proves nothing.
    if (Number.isNaN(this.#pingSentMs)) return;
    this.#lastAnsweredMs = Math.max(this.#lastAnsweredMs, this.#pingSentMs);
    this.#pingSentMs = Number.NaN;
  }

  #onHandshakeFrame(frame: Uint8Array): void {
    if (this.#phase !== 'handshake') {
      throw new ProtocolViolationError('the server sent data before the handshake');
    }
    const response = ConnectResponse.read(new JuteReader(frame));
    const password = response.password === null ? null : Buffer.from(response.password);
    if (response.timeoutMs > 0) {
      this.#phase = 'open';
      this.#lastAnsweredMs = this.#handshakeSentMs;
      this.#startBeating(response.timeoutMs);
    }
    this.#events.onHandshake({ ...response, password });
  }

  #startBeating(timeoutMs: number): void {
    const intervalMs = Math.min(timeoutMs * BEAT_SHARE, BEAT_MS_MAX);
    const silenceMs = timeoutMs * SILENCE_SHARE;
    if (this.#link.heart !== undefined) {
      this.#link.heart.start({ intervalMs, silenceMs });
      return;
    }
    this.#pulse = new Pulse({
      surroundings: this.#options.surroundings,
      intervalMs,
      silenceMs,
      sendPing: () => this.#ping(),
      onSilence: () => this.fail(new ConnectionLossError()),
    });
  }

  #ping(): void {
    this.#writer.request(PING_XID, OpCode.ping, null);
    // If several pings are in flight, the oldest counts, because its reply comes first.
    const sentMs = this.#sendingMs();
    if (Number.isNaN(this.#pingSentMs)) this.#pingSentMs = sentMs;
  }

  /** A method, because the compiler does not expect that a call changes the phase. */
  #isClosed(): boolean {
    return this.#phase === 'closed';
  }
}
