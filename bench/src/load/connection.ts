/**
 * One client connection under load: keeps `window` requests outstanding and writes once a turn.
 *
 * It owns the socket, the session and the order of replies. Each reply must carry the next xid, the
 * length that its request calls for, and a zxid that does not decrease; a violation is counted as
 * an error under a name of its own. Watch events are passed on, and replies to pings are dropped. A
 * lost connection is reported to the owner and never repaired here.
 */
import type net from 'node:net';
import { TLSSocket } from 'node:tls';
import {
  ConnectResponse,
  errorName,
  JuteReader,
  nothing,
  OpCode,
  PING_XID,
  WATCH_XID,
} from '@rookery/protocol';
import { dial, type Host } from './dial.js';
import { frameOf } from './frames.js';
import { connectFrame, type Session, sessionOf } from './handshake.js';
import type { Pace } from './pace.js';
import type { Recorder } from './recorder.js';
import { ReplyScanner } from './reply-scanner.js';
import { ANY_LENGTH, type RequestSource } from './workloads.js';

export interface ConnectionParts {
  readonly host: Host;
  readonly window: number;
  /** The session to resume; null for a new one. */
  readonly session: Session | null;
  readonly sessionTimeoutMs: number;
  readonly recorder: Recorder;
  /**
   * The memory into which all connections read: a chunk is processed before the next one is read.
   */
  readonly readMemory: Buffer;
  /** The TLS session of an earlier connection to the same server, which is resumed. */
  readonly tlsSession?: Buffer | undefined;
  readonly onLost: () => void;
  readonly onEvent: () => void;
}

type Phase = 'connecting' | 'open' | 'closing' | 'closed';

const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_XID = 0x7fff_ffff;
const PING = frameOf(OpCode.ping, nothing, null);
PING.writeInt32BE(PING_XID, 4);

/** The server no longer knows the session. */
export class SessionGoneError extends Error {
  override readonly name = 'SessionGoneError';
}

export class LoadConnection {
  readonly #parts: ConnectionParts;
  readonly #socket: net.Socket;
  readonly #scanner: ReplyScanner;
  /**
   * Ring buffers for the outstanding requests: when each was written, and the length of its reply.
   */
  readonly #sentMs: Float64Array;
  readonly #replyBytes: Int32Array;
  #phase: Phase = 'connecting';
  #session: Session | null = null;
  #tlsSession: Buffer | undefined;
  #onConnected: (error: Error | null) => void = () => undefined;
  #onDrained: () => void = () => undefined;
  #source: RequestSource | null = null;
  #pace: Pace | null = null;
  #target = Buffer.alloc(0);
  #nextXid = 1;
  #answeredXid = 0;
  #zxidHigh = 0;
  #zxidLow = 0;
  #nowMs = 0;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#sentMs = new Float64Array(parts.window);
    this.#replyBytes = new Int32Array(parts.window);
    this.#scanner = new ReplyScanner((view, at, length) => this.#onFrame(view, at, length));
    const onread = {
      buffer: parts.readMemory,
      callback: (bytes: number, memory: Uint8Array) => {
        this.#onChunk(memory, bytes);
        return true;
      },
    };
    this.#socket = dial(parts.host, {
      onread,
      tlsSession: parts.tlsSession,
      onOpen: () => {
        this.#socket.write(connectFrame(parts.session, parts.sessionTimeoutMs));
      },
      onTlsSession: (session) => {
        this.#tlsSession = session;
      },
    });
    this.#socket.setTimeout(CONNECT_TIMEOUT_MS, () => {
      this.#socket.destroy(new Error('no answer to the connect request'));
    });
    this.#socket.on('error', (error) => this.#onConnected(error));
    this.#socket.on('close', () => this.#onClose());
  }

  get outstanding(): number {
    return this.#nextXid - 1 - this.#answeredXid;
  }

  /** Null until connected. */
  get session(): Session | null {
    return this.#session;
  }

  /** The TLS session that a later connection resumes; undefined until the server has sent one. */
  get tlsSession(): Buffer | undefined {
    return this.#tlsSession;
  }

  /** Whether the handshake has resumed a TLS session; false until it is over. */
  get isTlsResumed(): boolean {
    return this.#socket instanceof TLSSocket && this.#socket.isSessionReused();
  }

  /** Resolves once the session is established. */
  connected(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onConnected = (error) => (error === null ? resolve() : reject(error));
    });
  }

  /**
   * Keeps the window full from now on, until the source ends or `stop` is called. With a pace, only
   * requests that are due are sent, and the owner must call `tick`.
   */
  start(source: RequestSource, pace: Pace | null = null): void {
    this.#source = source;
    this.#pace = pace;
    this.#target = Buffer.allocUnsafeSlow(this.#parts.window * source.requestBytesMax);
    this.#fill();
  }

  /** Sends the requests that have become due. */
  tick(): void {
    if (this.#phase === 'open') this.#fill();
  }

  /** Stops sending. */
  stop(): void {
    this.#source = null;
  }

  /**
   * Resolves when everything is answered and nothing more is sent, or with false after `timeoutMs`.
   */
  drained(timeoutMs: number): Promise<boolean> {
    if (this.outstanding === 0 || this.#phase === 'closed') return Promise.resolve(true);
    return new Promise((resolve) => {
      const timeout = setTimeout(() => resolve(false), timeoutMs);
      this.#onDrained = () => {
        clearTimeout(timeout);
        resolve(true);
      };
    });
  }

  /** Keeps the session alive. */
  ping(): void {
    if (this.#phase === 'open') this.#socket.write(PING);
  }

  /** Cuts the connection and leaves the session to the server; the owner is not notified. */
  abandon(): void {
    this.#phase = 'closed';
    this.#socket.destroy();
  }

  /** Ends the session as a client should, so that none is left behind to expire. */
  close(): Promise<void> {
    if (this.#phase === 'closed') return Promise.resolve();
    const closed = new Promise<void>((resolve) => {
      this.#socket.once('close', () => resolve());
    });
    this.#phase = 'closing';
    const frame = frameOf(OpCode.closeSession, nothing, null);
    frame.writeInt32BE(CLOSE_XID, 4);
    this.#socket.write(frame);
    this.#socket.setTimeout(CONNECT_TIMEOUT_MS);
    return closed;
  }

  #onChunk(memory: Uint8Array, bytes: number): void {
    this.#nowMs = performance.now();
    try {
      this.#scanner.scan(memory, bytes);
    } catch (error) {
      this.#parts.recorder.onError('badFrame');
      this.#socket.destroy(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (this.#phase !== 'open') return;
    this.#fill(this.#nowMs);
    if (this.outstanding === 0) this.#onDrained();
  }

  #onFrame(view: DataView, at: number, length: number): void {
    if (this.#phase === 'connecting') return this.#onConnectReply(view, at, length);
    const { recorder } = this.#parts;
    const xid = view.getInt32(at);
    if (xid === CLOSE_XID) {
      this.#socket.end();
      return;
    }
    if (xid === WATCH_XID) return this.#parts.onEvent();
    if (xid === PING_XID) return;
    if (xid !== this.#answeredXid + 1) {
      recorder.onError('unexpectedXid');
      this.#socket.destroy();
      return;
    }
    this.#answeredXid = xid;
    const slot = xid % this.#sentMs.length;
    const error = view.getInt32(at + 12);
    const bytes = this.#replyBytes[slot];
    if (error !== 0) recorder.onError(errorName(error) ?? String(error));
    else if (length !== bytes && bytes !== ANY_LENGTH) recorder.onError('wrongLength');
    if (this.#zxidFalls(view, at + 4)) recorder.onError('zxidFalls');
    recorder.onReply(this.#sentMs[slot] ?? 0, this.#nowMs, error === 0);
  }

  #zxidFalls(view: DataView, at: number): boolean {
    const high = view.getInt32(at);
    const low = view.getUint32(at + 4);
    const falls = high < this.#zxidHigh || (high === this.#zxidHigh && low < this.#zxidLow);
    this.#zxidHigh = high;
    this.#zxidLow = low;
    return falls;
  }

  #onConnectReply(view: DataView, at: number, length: number): void {
    const bytes = Buffer.from(view.buffer, view.byteOffset + at, length);
    const response = ConnectResponse.read(new JuteReader(bytes));
    this.#socket.setTimeout(0);
    if (response.timeoutMs === 0) {
      this.#onConnected(new SessionGoneError('the session has expired, or was refused'));
      this.#socket.destroy();
      return;
    }
    this.#session = sessionOf(response);
    this.#phase = 'open';
    this.#onConnected(null);
  }

  /** Fills the window with one write. A slightly old `nowMs` makes latencies longer. */
  #fill(nowMs: number = performance.now()): void {
    const source = this.#source;
    if (source === null) return;
    let bytes = 0;
    const lastXid = this.#answeredXid + this.#parts.window;
    while (this.#nextXid <= lastXid) {
      const dueMs = this.#pace === null ? nowMs : this.#pace.take(nowMs);
      if (dueMs === null) break;
      const written = source.write(this.#target, bytes, this.#nextXid);
      if (written === 0) break;
      bytes += written;
      const slot = this.#nextXid % this.#sentMs.length;
      this.#replyBytes[slot] = source.replyBytes;
      this.#sentMs[slot] = dueMs;
      this.#nextXid++;
    }
    if (bytes === 0) return;
    this.#socket.write(this.#target.subarray(0, bytes));
    // Bytes that the kernel has not accepted yet are still in our buffer, so it must not be written
    // to.
    if (this.#socket.writableLength > 0) {
      this.#target = Buffer.allocUnsafeSlow(this.#target.length);
    }
  }

  #onClose(): void {
    const was = this.#phase;
    this.#phase = 'closed';
    this.#onConnected(new Error('the connection was closed'));
    if (was === 'open') {
      this.#parts.recorder.onLost(this.outstanding);
      this.#parts.onLost();
    }
    this.#onDrained();
  }
}
