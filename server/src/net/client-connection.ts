/**
 * One client's connection: incoming frames, one bounded output buffer, at most one write per turn.
 *
 * Owns the stream after its first four bytes, and enforces the bounds: reading stops while more
 * than `outputSoftBytes` wait to be sent, while the handler holds the connection, or while other
 * connections have their turn; above `outputHardBytes` the connection is dropped. It never looks
 * into a frame. Bytes are sent in the order in which they were put into `writer`. Created by the
 * client port; used by the driver and the pipeline.
 */
import { FrameError, FrameReader, type Int64, JuteWriter } from '@rookery/protocol';
import { LARGE_ANSWER_BYTES, type PutOff } from './client-turn.js';
import type { CloseCause, ConnectionOwner, HoldReason } from './connection-owner.js';
import { type PacedReader, SMALL_UNFINISHED_BYTES } from './input-pace.js';
import { largestFrameBytes } from './largest-frame.js';
import type { ConnectionStats } from './server-stats.js';
import type { Timer } from './timers.js';
import type { ByteStream } from './transport.js';

const HOLD = { handshake: 1, outstanding: 2, output: 4, room: 8, turn: 16, pace: 32 } as const;

type Phase = 'open' | 'ended' | 'closed';

export class ClientConnection implements PutOff, PacedReader {
  /** Unique in this process; ids only grow. */
  readonly id: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly openedAtMs: number;
  readonly stats: ConnectionStats;

  readonly #owner: ConnectionOwner<ClientConnection>;
  readonly #stream: ByteStream;
  readonly #reader: FrameReader;
  readonly #writer: JuteWriter;
  #phase: Phase = 'open';
  #holds = 0;
  #isDirty = false;
  /** The largest of the large answers since the output was last empty, in bytes. */
  #largestBytes = 0;
  /** How many bytes of `#writer` have been reported to the turn. */
  #talliedBytes = 0;
  #isHeavy = false;
  /** The connection was deferred, so its next delivery or answer is made in any case. */
  #isMyTurn = false;
  /** Bytes buffered in the stream after the last write; the number can only have fallen since. */
  #bufferedBytesMax = 0;
  #isResumeDue = false;
  #isRoomDue = false;
  /** The bytes last reported to the budgets of input and output. */
  #inputBytes = 0;
  #owedBytes = 0;
  #linger: Timer | null = null;

  constructor(parts: {
    readonly id: number;
    readonly stream: ByteStream;
    readonly owner: ConnectionOwner<ClientConnection>;
    readonly stats: ConnectionStats;
  }) {
    this.id = parts.id;
    this.stats = parts.stats;
    this.#owner = parts.owner;
    this.#stream = parts.stream;
    this.remoteAddress = parts.stream.remoteAddress;
    this.remotePort = parts.stream.remotePort;
    this.openedAtMs = parts.owner.timers.nowMs();
    this.#reader = new FrameReader(parts.owner.limits.handshakeBytesMax);
    this.#writer = new JuteWriter(parts.owner.slabs);
  }

  /** False after `close()`, `end()` or the loss of the stream. */
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Bytes of output not yet taken by the kernel. */
  get outputBytes(): number {
    return this.#writer.length + this.#stream.bufferedBytes;
  }

  /** Bytes that were read and are not delivered yet. */
  get inputBytes(): number {
    return this.#inputBytes;
  }

  /** Bytes that were written and the client has not taken yet. */
  get owedBytes(): number {
    if (this.#owedBytes > 0) this.#countOutput(this.#stream.bufferedBytes);
    return this.#owedBytes;
  }

  /** Whether answers that can wait should wait. Asked before each of them. */
  get isFull(): boolean {
    this.#tally();
    return this.#isChoked || (this.#owner.turn.isFull && !this.#isMyTurn);
  }

  get isHeavy(): boolean {
    return this.#isHeavy;
  }

  /** The bracketed number of `stat` and `cons`: 1 while it is read from, 4 while output waits. */
  get interestOps(): number {
    return (this.#holds === 0 && this.isOpen ? 1 : 0) | (this.#stream.bufferedBytes > 0 ? 4 : 0);
  }

  /** When the connection is dropped if nothing more arrives. */
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

  /**
   * The handshake is done: the sessionless timeout is off, frames may be as long as requests are,
   * and `cons` shows the session.
   */
  bindSession(session: { readonly id: Int64; readonly timeoutMs: number }): void {
    this.#reader.frameBytesMax = this.#owner.limits.frameBytesMax;
    this.stats.sessionId = session.id;
    this.stats.sessionTimeoutMs = session.timeoutMs;
    this.#owner.onSessionBound(this);
  }

  /** Delivers and reads nothing until every reason for holding is released. */
  hold(reason: HoldReason): void {
    this.#setHold(HOLD[reason]);
    // The client does not have to take anything first; only a later turn is waited for.
    if (reason === 'room' && !this.#isChoked) this.#owner.turn.putOff(this);
  }

  /** Frames that have already arrived are delivered in a later turn, never inside this call. */
  release(reason: HoldReason): void {
    this.#clearHold(HOLD[reason]);
  }

  /** Sends everything in `writer`, then ends the stream. No more frames are delivered. */
  end(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'ended';
    this.#dropInput();
    this.#writeOut();
    this.#countOutput(this.#stream.bufferedBytes);
    this.#stream.end();
    // Whatever the client still sends is read and dropped, so that its end of stream is noticed.
    this.#stream.resume();
    this.#linger = this.#owner.timers.after(this.#owner.limits.lingerMs, () => {
      this.#stream.destroy();
    });
  }

  /**
   * Drops the connection at once, together with its unsent output, and logs the reason. The line is
   * at level debug if the reason is no fault of the client or has been logged before.
   */
  close(reason: string, cause: CloseCause = 'fault'): void {
    if (this.#phase === 'closed') return;
    const facts = this.facts({ reason });
    if (cause === 'fault') this.#owner.rateLimited.info('client.dropped', facts);
    else this.#owner.logger.debug(facts, 'client.dropped');
    this.#phase = 'closed';
    this.#owner.stats.connectionsDropped += 1;
    this.#stream.destroy();
    this.#dropInput();
    this.#countOutput(0);
  }

  /** Writes all output since the last flush at once. Called by the port at the end of a turn. */
  flush(): void {
    this.#isDirty = false;
    if (this.#phase !== 'open') {
      this.#dropOutput();
      return;
    }
    if (this.#stream.bufferedBytes === 0) this.#largestBytes = 0;
    this.#writeOut();
    const buffered = this.#stream.bufferedBytes;
    this.#countOutput(buffered);
    // Output for a slow client keeps its whole slab in memory, so others get a new slab.
    if (buffered === 0) this.#writer.recycle();
    const { outputSoftBytes, outputHardBytes } = this.#owner.limits;
    if (buffered > outputHardBytes + this.#largestBytes) {
      const facts = { bufferedBytes: buffered, outputHardBytes };
      this.#owner.rateLimited.warn('client.output_overflow', this.facts(facts));
      this.close('reads too slowly', 'told');
    } else if (buffered > outputSoftBytes) {
      this.#setHold(HOLD.output);
    } else {
      this.#maybeReleaseOutput();
    }
  }

  /** Handles events of the stream. Called only by the port; the chunk is lent. */
  onData(chunk: Uint8Array): void {
    if (this.#phase !== 'open') return;
    this.#owner.stats.bytesReceived += chunk.length;
    this.#reader.push(chunk);
    this.#deliver();
    this.#reader.giveBack();
    const before = this.#inputBytes;
    this.#countInput();
    const more = this.#inputBytes - before;
    if (more <= 0) return;
    if (this.#owner.input.isExceeded) this.#owner.onInputExceeded();
    if (this.#inputBytes <= SMALL_UNFINISHED_BYTES) return;
    if (this.#owner.pace.mustWait(this, more)) this.#setHold(HOLD.pace);
  }

  goOnReading(): void {
    this.#holds &= ~HOLD.pace;
    this.#resume();
  }

  onEnd(): void {
    // A client that has ended its side still gets the replies that are ready, and no later ones.
    this.end();
  }

  onDrain(): void {
    this.#countOutput(this.#stream.bufferedBytes);
    if (this.#phase === 'open') this.#maybeReleaseOutput();
  }

  /** Called only by the turn, once for each time that the connection was deferred. */
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
    this.#dropInput();
    this.#dropOutput();
    this.#countOutput(0);
  }

  /** Whether more output waits than this client should have in memory. */
  get #isChoked(): boolean {
    const { outputSoftBytes } = this.#owner.limits;
    // The stream is asked only where it matters, because this runs for each frame.
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
      const isHandshake = this.stats.sessionTimeoutMs === 0;
      const event = isHandshake ? 'client.bad_handshake' : 'client.bad_frame';
      this.#owner.rateLimited.warn(event, this.facts({ problem: error.message }));
      this.close('bad frame', 'told');
    }
  }

  /** Delivers what has been read in a later turn. */
  #putOff(): void {
    this.#setHold(HOLD.turn);
    this.#owner.turn.putOff(this);
  }

  /** Reports what was written since the last report to the turn, mostly one answer. */
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
    this.#countInput();
    if (this.#holds === 0 && this.isOpen) this.#stream.resume();
  }

  #maybeReleaseOutput(): void {
    if ((this.#holds & (HOLD.output | HOLD.room)) === 0) return;
    if (this.outputBytes > this.#owner.limits.outputSoftBytes / 2) return;
    this.#clearHold(HOLD.output);
    this.#maybeTellRoom();
  }

  /** Reports in a later turn, as all calls of the handler. */
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
      this.#largestBytes = Math.max(this.#largestBytes, largestFrameBytes(bytes));
    }
    this.#owner.stats.bytesSent += bytes.length;
    // The replies of one turn count as one response.
    this.#owner.stats.responseSizes.record(bytes.length);
    this.#stream.write(bytes);
    this.#bufferedBytesMax = this.#stream.bufferedBytes;
  }

  /** Reports unread input to its budget, if it has changed. */
  #countInput(): void {
    const bytes = this.#reader.heldBytes;
    if (bytes === this.#inputBytes) return;
    this.#owner.input.add(bytes - this.#inputBytes);
    this.#inputBytes = bytes;
  }

  /** The same for output. The slab with the unsent bytes counts as a whole. */
  #countOutput(buffered: number): void {
    if (buffered === 0 && this.#owedBytes === 0) return;
    const bytes = buffered === 0 ? 0 : buffered + this.#writer.slabBytes;
    this.#owner.output.add(bytes - this.#owedBytes);
    this.#owedBytes = bytes;
  }

  #dropInput(): void {
    this.#owner.pace.forget(this);
    this.#reader.clear();
    this.#countInput();
  }

  #dropOutput(): void {
    this.#writer.reset();
    this.#writer.release();
    this.#talliedBytes = 0;
  }

  /** Identifies the connection in log lines. */
  facts(facts: Record<string, unknown>): Record<string, unknown> {
    return {
      connection: this.id,
      remote: `${this.remoteAddress}:${this.remotePort}`,
      session: this.stats.sessionId.toString(16),
      ...facts,
    };
  }
}
