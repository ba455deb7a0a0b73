/**
 * One client's connection: frames in, one bounded output buffer, at most one write per turn.
 *
 * Owns the stream after the first four bytes, and the bounds: reading stops while more than
 * `outputSoftBytes` wait to be sent, while the handler holds the connection or while others have
 * their turn, and above `outputHardBytes` the connection is dropped. Never looks into a frame.
 * Bytes leave in the order they were put into `writer`. Created by the client port; used by the
 * driver and the pipeline.
 */
import {
  FrameError,
  FrameReader,
  type Int64,
  type JuteReader,
  JuteWriter,
  type SlabPool,
  viewOf,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import { type ClientTurn, LARGE_ANSWER_BYTES, type PutOff } from './client-turn.js';
import type { ConnectionStats, ServerStats } from './server-stats.js';
import type { StormLog } from './storm-log.js';
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
   * The connection is dropped above this many bytes of output, the largest answer not counted:
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
  /** For what clients can cause as often as they like. */
  readonly storms: StormLog;
  readonly stats: ServerStats;
  readonly turn: ClientTurn;
  /** Memory for output. */
  readonly slabs: SlabPool;
  /** What frames are read with. */
  readonly frame: JuteReader;
  onFrame(connection: ClientConnection, frame: JuteReader): void;
  /** It is held for `room`, and there is some. */
  onRoom(connection: ClientConnection): void;
  /** Has output for the next flush; told once per flush. */
  onDirty(connection: ClientConnection): void;
  onSessionBound(connection: ClientConnection): void;
}

const HOLD = { handshake: 1, outstanding: 2, output: 4, room: 8, turn: 16 } as const;

const FRAME_HEADER_BYTES = 4;

type Phase = 'open' | 'ended' | 'closed';

/** Why a connection is dropped: what the client did, what is so here, or what is logged already. */
export type CloseCause = 'fault' | 'state' | 'told';

export class ClientConnection implements PutOff {
  /** Unique in this process; only grows. */
  readonly id: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly openedAtMs: number;
  readonly stats: ConnectionStats;

  readonly #owner: ConnectionOwner;
  readonly #stream: ByteStream;
  readonly #reader: FrameReader;
  readonly #writer: JuteWriter;
  #phase: Phase = 'open';
  #holds = 0;
  #isDirty = false;
  /** The largest answer since everything was sent, of those that are worth a look. */
  #largestBytes = 0;
  /** How much of `#writer` the turn was told of. */
  #talliedBytes = 0;
  #isHeavy = false;
  /** It was put off: the next delivery or answer is made in any case. */
  #isMyTurn = false;
  /** What waited in the stream after the last write to it; since then it can only be less. */
  #bufferedBytesMax = 0;
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
    this.#writer = new JuteWriter(parts.owner.slabs);
  }

  /** False from the moment of `close()`, `end()` or the loss of the stream. */
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Bytes of output not yet taken by the kernel. */
  get outputBytes(): number {
    return this.#writer.length + this.#stream.bufferedBytes;
  }

  /** Answers that can wait should not be written now; asked before each of them. */
  get isFull(): boolean {
    this.#tally();
    return this.#isChoked || (this.#owner.turn.isFull && !this.#isMyTurn);
  }

  get isHeavy(): boolean {
    return this.#isHeavy;
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
    // Nothing has to be taken by the client first: it waits for a later turn only.
    if (reason === 'room' && !this.#isChoked) this.#owner.turn.putOff(this);
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
   * Drops the connection at once, with what waits to be sent: a log line, which is at level debug
   * where the reason is no fault of the client's or has been told.
   */
  close(reason: string, cause: CloseCause = 'fault'): void {
    if (this.#phase === 'closed') return;
    const facts = this.#describe({ reason });
    if (cause === 'fault') this.#owner.storms.info('client.dropped', facts);
    else this.#owner.logger.debug(facts, 'client.dropped');
    this.#phase = 'closed';
    this.#owner.stats.connectionsDropped += 1;
    this.#stream.destroy();
  }

  /** One write of all output since the last flush. Called by the port at the end of a turn. */
  flush(): void {
    this.#isDirty = false;
    if (this.#phase !== 'open') {
      this.#dropOutput();
      return;
    }
    if (this.#stream.bufferedBytes === 0) this.#largestBytes = 0;
    this.#writeOut();
    const buffered = this.#stream.bufferedBytes;
    // Output that waits for a slow client keeps its slab alive: it shall hold no more of others'.
    if (buffered === 0) this.#writer.recycle();
    const { outputSoftBytes, outputHardBytes } = this.#owner.limits;
    if (buffered > outputHardBytes + this.#largestBytes) {
      const facts = { bufferedBytes: buffered, outputHardBytes };
      this.#owner.storms.warn('client.output_overflow', this.#describe(facts));
      this.close('reads too slowly', 'told');
    } else if (buffered > outputSoftBytes) {
      this.#setHold(HOLD.output);
    } else {
      this.#maybeReleaseOutput();
    }
  }

  /** Events of the stream; called by the port alone. The chunk is lent. */
  onData(chunk: Uint8Array): void {
    if (this.#phase !== 'open') return;
    this.#owner.stats.bytesReceived += chunk.length;
    this.#reader.push(chunk);
    this.#deliver();
    this.#reader.giveBack();
  }

  onEnd(): void {
    // A client that ended its side reads replies that are ready; those still to come are lost.
    this.end();
  }

  onDrain(): void {
    if (this.#phase === 'open') this.#maybeReleaseOutput();
  }

  /** Called by the turn alone, once for each time that it was put off. */
  takeTurn(): void {
    if (this.#phase !== 'open') return;
    this.#isMyTurn = true;
    if ((this.#holds & HOLD.room) !== 0 && !this.#isChoked) this.#owner.onRoom(this);
    this.#holds &= ~HOLD.turn;
    this.#resume();
    this.#isMyTurn = false;
  }

  onStreamClosed(): void {
    this.#phase = 'closed';
    this.#owner.turn.forget(this);
    this.#linger?.cancel();
    this.#dropOutput();
  }

  /** More waits than this client should have in memory. */
  get #isChoked(): boolean {
    const { outputSoftBytes } = this.#owner.limits;
    // The stream is asked only where its answer matters: this is looked at for each frame.
    if (this.#writer.length + this.#bufferedBytesMax <= outputSoftBytes) return false;
    return this.outputBytes > outputSoftBytes;
  }

  #deliver(): void {
    const owner = this.#owner;
    const { turn, frame } = owner;
    try {
      let mayGo = this.#isMyTurn || turn.mayBegin(this);
      while (this.#holds === 0 && this.#phase === 'open' && this.#reader.bufferedBytes > 0) {
        if (!mayGo) return this.#putOff();
        if (!this.#reader.pointAtNext(frame)) break;
        this.stats.receivedPackets(1);
        this.#isHeavy = false;
        owner.onFrame(this, frame);
        this.#isMyTurn = false;
        this.#tally();
        if (this.#isChoked) this.#setHold(HOLD.output);
        mayGo = turn.mayGoOn();
      }
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#owner.stats.largeRequestsRejected += 1;
      this.#owner.storms.warn('client.bad_frame', this.#describe({ problem: error.message }));
      this.close('bad frame', 'told');
    }
  }

  /** What it has read is delivered in a later turn. */
  #putOff(): void {
    this.#setHold(HOLD.turn);
    this.#owner.turn.putOff(this);
  }

  /** Tells the turn what was written since it was told last: one answer, mostly. */
  #tally(): void {
    const bytes = this.#writer.length - this.#talliedBytes;
    this.#talliedBytes += bytes;
    if (bytes <= 0) return;
    if (bytes >= LARGE_ANSWER_BYTES) this.#isHeavy = true;
    this.#isMyTurn = false;
    this.#owner.turn.spend(bytes);
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
    this.#talliedBytes = 0;
    if (bytes.length > Math.max(this.#largestBytes, LARGE_ANSWER_BYTES)) {
      this.#largestBytes = Math.max(this.#largestBytes, largestFrame(bytes));
    }
    this.#owner.stats.bytesSent += bytes.length;
    // The replies of a turn are one response.
    this.#owner.stats.responseSizes.record(bytes.length);
    this.#stream.write(bytes);
    this.#bufferedBytesMax = this.#stream.bufferedBytes;
  }

  #dropOutput(): void {
    this.#writer.reset();
    this.#writer.release();
    this.#talliedBytes = 0;
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

/** The size of the largest of these whole frames, its length included. */
function largestFrame(frames: Uint8Array): number {
  const view = viewOf(frames);
  let largest = 0;
  for (let at = 0; at + FRAME_HEADER_BYTES <= frames.length; ) {
    const bytes = FRAME_HEADER_BYTES + view.getUint32(at);
    largest = Math.max(largest, bytes);
    at += bytes;
  }
  return largest;
}
