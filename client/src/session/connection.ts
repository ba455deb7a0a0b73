/**
 * One connection to one server: the handshake, frames in and out, heartbeats, silence.
 *
 * Owns the link, the requests in flight and their order. Never reconnects, knows no session state
 * and queues nothing that was not sent. Always: replies settle requests in the order they were
 * sent; whatever the server sends, the connection ends with a typed error and nothing is thrown out
 * of a socket callback; `onClosed` is told once, last, with everything still in flight.
 *
 * When an event follows replies that were settled in the same turn, the frames behind wait for
 * setImmediate, so that code that awaited those replies has run before the watcher is called.
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
import type { Surroundings } from '../api/surroundings.js';
import { ProtocolViolationError, RequestTooLargeError } from '../errors.js';
import type { Address, Dial, Link } from '../wire/link.js';
import { FrameWriter } from './frame-writer.js';
import { Pulse } from './pulse.js';
import type { Request } from './request.js';

export interface ConnectionEvents {
  /** The link is open; the handshake may begin. */
  onOpen(): void;
  /** The server has answered the handshake. Refused when its timeout is not positive. */
  onHandshake(response: ConnectResponse): void;
  /** A reply has shown this zxid; before the reply is settled. */
  onZxid(zxid: Int64): void;
  onEvent(event: WatcherEvent, zxid: Int64): void;
  /** Of an auth packet; 0 for success. */
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

/** Of the silent part of the session timeout, and the longest pause between heartbeats. */
const SILENCE_SHARE = 2 / 3;
const BEAT_SHARE = 1 / 3;
const BEAT_MS_MAX = 10_000;
const XID_MAX = 2 ** 31 - 1;

export class Connection {
  readonly address: Address;
  readonly #options: ConnectionOptions;
  readonly #events: ConnectionEvents;
  readonly #link: Link;
  readonly #frames: FrameReader;
  readonly #writer: FrameWriter;
  /** Sent and not answered, in the order of their answers. */
  readonly #inFlight = new Fifo<Request>();
  #phase: 'opening' | 'handshake' | 'open' | 'closed' = 'opening';
  #pulse: Pulse | null = null;
  #xid = 0;
  /** The time of this turn's first send, or NaN: earlier than the true one, never later. */
  #turnMs = Number.NaN;
  #handshakeSentMs = Number.NaN;
  #pingSentMs = Number.NaN;
  #lastAnsweredMs = Number.NEGATIVE_INFINITY;
  #lastSentMs = Number.NEGATIVE_INFINITY;
  /** An event that waits, with all frames behind it, for the code that awaits earlier replies. */
  #heldEvent: { readonly event: WatcherEvent; readonly zxid: Int64 } | null = null;
  /** Why the link has ended, while frames that came before are still held. */
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
   * When the last request that has been answered was sent: the session lived then. -Infinity
   * before the handshake is answered.
   */
  get lastAnsweredMs(): number {
    const heartMs = this.#link.heart?.lastAnsweredMs() ?? Number.NEGATIVE_INFINITY;
    return Math.max(this.#lastAnsweredMs, heartMs);
  }

  /** When this thread sent its last request: no answer that it has not read proves more. */
  get lastSentMs(): number {
    return this.#lastSentMs;
  }

  shakeHands(request: ConnectRequest): void {
    this.#phase = 'handshake';
    this.#handshakeSentMs = this.#options.surroundings.nowMs();
    this.#writer.bare(ConnectRequest, request);
  }

  /** Sends it now; it is settled here or given back by `onClosed`. */
  send(request: Request): void {
    this.#xid = this.#xid === XID_MAX ? 1 : this.#xid + 1;
    try {
      this.#writer.request(this.#xid, request.opcode, request);
    } catch (cause) {
      // Else only what no request can hold comes here: a version beyond 32 bits, for one.
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

  /** Ends it at once; what is in flight is given back by `onClosed`. */
  fail(error: Error): void {
    if (this.#phase === 'closed') return;
    this.#phase = 'closed';
    this.#heldEvent = null;
    this.#pulse?.stop();
    this.#writer.close();
    this.#link.destroy();
    this.#events.onClosed(error, this.#inFlight.takeAll());
  }

  /** Ends it at once and tells nobody. Nothing may be in flight. */
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
    const cause = error === null ? {} : { cause: error };
    const loss = new ConnectionLossError(undefined, cause);
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
      const violation = new ProtocolViolationError('what the server sent is not the protocol', {
        cause,
      });
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
    // Throws when it cannot be read; then the request is still in flight and fails with the rest.
    if (error === 0) request.succeed(reader);
    else request.refuse(error);
    this.#inFlight.shift();
    this.#lastAnsweredMs = Math.max(this.#lastAnsweredMs, request.sentAtMs);
  }

  #onPong(): void {
    // One that was not asked for proves nothing.
    if (Number.isNaN(this.#pingSentMs)) return;
    this.#lastAnsweredMs = Math.max(this.#lastAnsweredMs, this.#pingSentMs);
    this.#pingSentMs = Number.NaN;
  }

  #onHandshakeFrame(frame: Uint8Array): void {
    if (this.#phase !== 'handshake') {
      throw new ProtocolViolationError('the server spoke before it was asked');
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
    // With several under way, the oldest counts: it is the one whose reply comes first.
    const sentMs = this.#sendingMs();
    if (Number.isNaN(this.#pingSentMs)) this.#pingSentMs = sentMs;
  }

  /** A method, for the phase changes under the compiler's eyes in any call. */
  #isClosed(): boolean {
    return this.#phase === 'closed';
  }
}
