/**
 * One client's connection: frames in, one bounded output buffer, at most one write per turn.
 *
 * Owns the stream after the first four bytes, and the bounds: reading stops while more than
 * `outputSoftBytes` wait to be sent or while the handler holds the connection, and above
 * `outputHardBytes` the connection is dropped. Never looks into a frame. Bytes leave in the order
 * they were put into `writer`. Created by the client port; used by the driver and the pipeline.
 */
import { FrameError, FrameReader, type Int64, JuteWriter } from '@rookery/protocol';
import type { Logger } from 'pino';
import type { ConnectionStats, ServerStats } from './server-stats.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream } from './transport.js';

/**
 * Why no frames are delivered: the handshake is not answered yet, too much is outstanding, or
 * answers wait for room in the output.
 */
export type HoldReason = 'handshake' | 'outstanding' | 'room';

export interface ConnectionLimits {
  readonly frameBytesMax: number;
  /** Reading stops above this many bytes of output, and goes on below half of it. */
  readonly outputSoftBytes: number;
  /**
   * The connection is dropped above this many bytes of output, the largest single one not counted:
   * whatever a client asks for it gets, in one answer of any size.
   */
  readonly outputHardBytes: number;
  /** How long an ended connection may take to close. */
  readonly lingerMs: number;
  /** A connection without a session is closed after this time. */
  readonly sessionlessTimeoutMs: number;
}

/** What a connection needs of its port. */
export interface ConnectionOwner {
  readonly limits: ConnectionLimits;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly stats: ServerStats;
  onFrame(connection: ClientConnection, frame: Uint8Array): void;
  /** It is held for `room`, and there is some. */
  onRoom(connection: ClientConnection): void;
  /** Has output for the next flush; told once per flush. */
  onDirty(connection: ClientConnection): void;
  onSessionBound(connection: ClientConnection): void;
}

const HOLD = { handshake: 1, outstanding: 2, output: 4, room: 8 } as const;

type Phase = 'open' | 'ended' | 'closed';

/** Why a connection is dropped: what the client did, what is so here, or what is logged already. */
export type CloseCause = 'fault' | 'state' | 'told';

export class ClientConnection {
  /** Unique in this process; only grows. */
  readonly id: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly openedAtMs: number;
  readonly stats: ConnectionStats;

  readonly #owner: ConnectionOwner;
  readonly #stream: ByteStream;
  readonly #reader: FrameReader;
  readonly #writer = new JuteWriter();
  #phase: Phase = 'open';
  #holds = 0;
  #isDirty = false;
  /** The largest output of one turn since everything was sent. */
  #largestBytes = 0;
  #isResumeDue = false;
  #isRoomDue = false;
  #linger: Timer | null = null;

  constructor(parts: {
    readonly id: number;
    readonly stream: ByteStream;
    readonly owner: ConnectionOwner;
    readonly stats: ConnectionStats;
  }) {
    this.id = parts.id;
    this.stats = parts.stats;
    this.#owner = parts.owner;
    this.#stream = parts.stream;
    this.remoteAddress = parts.stream.remoteAddress;
    this.remotePort = parts.stream.remotePort;
    this.openedAtMs = parts.owner.timers.nowMs();
    this.#reader = new FrameReader(parts.owner.limits.frameBytesMax);
  }

  /** False from the moment of `close()`, `end()` or the loss of the stream. */
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Bytes of output not yet taken by the kernel. */
  get outputBytes(): number {
    return this.#writer.length + this.#stream.bufferedBytes;
  }

  /** Answers that can wait should not be written now. */
  get isFull(): boolean {
    return this.outputBytes > this.#owner.limits.outputSoftBytes;
  }

  /** As the bracketed number of `stat` and `cons`: 1 while read from, 4 while output waits. */
  get interestOps(): number {
    return (this.#holds === 0 && this.isOpen ? 1 : 0) | (this.#stream.bufferedBytes > 0 ? 4 : 0);
  }

  /** When it is dropped if nothing more comes. */
  get expiresWallMs(): number {
    const { timers, limits } = this.#owner;
    const { sessionTimeoutMs, lastResponseMs } = this.stats;
    const timeoutMs = sessionTimeoutMs === 0 ? limits.sessionlessTimeoutMs : sessionTimeoutMs;
    const idleMs = timers.nowMs() - Math.max(this.openedAtMs, lastResponseMs);
    return timers.wallMs() + timeoutMs - idleMs;
  }

  /**
   * Where frames of output go, in order. Get it anew for each reply: that is how the connection
   * learns that it has to be flushed. What is written after `end()` or `close()` is dropped.
   */
  get writer(): JuteWriter {
    if (!this.#isDirty) {
      this.#isDirty = true;
      this.#owner.onDirty(this);
    }
    return this.#writer;
  }

  /** The handshake is done: the sessionless timeout is off, and `cons` shows the session. */
  bindSession(session: { readonly id: Int64; readonly timeoutMs: number }): void {
    this.stats.sessionId = session.id;
    this.stats.sessionTimeoutMs = session.timeoutMs;
    this.#owner.onSessionBound(this);
  }

  /** No frame is delivered until every reason held for is released; the client is not read. */
  hold(reason: HoldReason): void {
    this.#setHold(HOLD[reason]);
  }

  /** Frames that already came are delivered in a later turn, never inside this call. */
  release(reason: HoldReason): void {
    this.#clearHold(HOLD[reason]);
  }

  /** Sends everything put into `writer` so far, then end of stream; delivers no more frames. */
  end(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'ended';
    this.#writeOut();
    this.#stream.end();
    // What the client still sends is read and dropped, so that its end of stream is seen.
    this.#stream.resume();
    this.#linger = this.#owner.timers.after(this.#owner.limits.lingerMs, () => {
      this.#stream.destroy();
    });
  }

  /**
   * Drops the connection at once, with what waits to be sent: one log line, which is at level debug
   * where the reason is no fault of the client's or has been told.
   */
  close(reason: string, cause: CloseCause = 'fault'): void {
    if (this.#phase === 'closed') return;
    const level = cause === 'fault' ? 'info' : 'debug';
    this.#owner.logger[level](this.#describe({ reason }), 'client.dropped');
    this.#phase = 'closed';
    this.#owner.stats.connectionsDropped += 1;
    this.#stream.destroy();
  }

  /** One write of all output since the last flush. Called by the port at the end of a turn. */
  flush(): void {
    this.#isDirty = false;
    if (this.#phase !== 'open') {
      this.#writer.reset();
      return;
    }
    if (this.#stream.bufferedBytes === 0) this.#largestBytes = 0;
    this.#largestBytes = Math.max(this.#largestBytes, this.#writer.length);
    this.#writeOut();
    const buffered = this.#stream.bufferedBytes;
    const { outputSoftBytes, outputHardBytes } = this.#owner.limits;
    if (buffered > outputHardBytes + this.#largestBytes) {
      const facts = { bufferedBytes: buffered, outputHardBytes };
      this.#owner.logger.warn(this.#describe(facts), 'client.output_overflow');
      this.close('reads too slowly', 'told');
    } else if (buffered > outputSoftBytes) {
      this.#setHold(HOLD.output);
    } else {
      this.#maybeReleaseOutput();
    }
  }

  /** Events of the stream; called by the port alone. */
  onData(chunk: Uint8Array): void {
    if (this.#phase !== 'open') return;
    this.#owner.stats.bytesReceived += chunk.length;
    this.#reader.push(chunk);
    this.#deliver();
  }

  onEnd(): void {
    // A client that ended its side reads replies that are ready; those still to come are lost.
    this.end();
  }

  onDrain(): void {
    if (this.#phase === 'open') this.#maybeReleaseOutput();
  }

  onStreamClosed(): void {
    this.#phase = 'closed';
    this.#linger?.cancel();
    this.#writer.reset();
  }

  #deliver(): void {
    try {
      while (this.#holds === 0 && this.#phase === 'open') {
        const frame = this.#reader.next();
        if (frame === null) break;
        this.stats.receivedPackets(1);
        this.#owner.onFrame(this, frame);
        if (this.isFull) this.#setHold(HOLD.output);
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#owner.stats.largeRequestsRejected += 1;
      this.#owner.logger.warn(this.#describe({ problem: error.message }), 'client.bad_frame');
      this.close('bad frame', 'told');
    }
  }

  #setHold(bit: number): void {
    if (this.#holds === 0 && this.#phase === 'open') this.#stream.pause();
    this.#holds |= bit;
  }

  #clearHold(bit: number): void {
    if ((this.#holds & bit) === 0) return;
    this.#holds &= ~bit;
    if (this.#holds !== 0 || this.#isResumeDue || this.#phase !== 'open') return;
    this.#isResumeDue = true;
    this.#owner.timers.defer(() => this.#resume());
  }

  #resume(): void {
    this.#isResumeDue = false;
    if (this.#holds !== 0 || this.#phase !== 'open') return;
    this.#deliver();
    if (this.#holds === 0 && this.isOpen) this.#stream.resume();
  }

  #maybeReleaseOutput(): void {
    if ((this.#holds & (HOLD.output | HOLD.room)) === 0) return;
    if (this.outputBytes > this.#owner.limits.outputSoftBytes / 2) return;
    this.#clearHold(HOLD.output);
    this.#maybeTellRoom();
  }

  /** In a later turn, as everything that is told. */
  #maybeTellRoom(): void {
    if ((this.#holds & HOLD.room) === 0 || this.#isRoomDue) return;
    this.#isRoomDue = true;
    this.#owner.timers.defer(() => {
      this.#isRoomDue = false;
      if ((this.#holds & HOLD.room) !== 0 && this.#phase === 'open') this.#owner.onRoom(this);
    });
  }

  #writeOut(): void {
    if (this.#writer.length === 0) return;
    const bytes = this.#writer.take();
    this.#owner.stats.bytesSent += bytes.length;
    // The replies of a turn are one response.
    this.#owner.stats.responseSizes.record(bytes.length);
    this.#stream.write(bytes);
  }

  #describe(facts: Record<string, unknown>): Record<string, unknown> {
    return {
      connection: this.id,
      remote: `${this.remoteAddress}:${this.remotePort}`,
      session: this.stats.sessionId.toString(16),
      ...facts,
    };
  }
}
