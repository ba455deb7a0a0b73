/**
 * One client's connection: frames in, one bounded output buffer, at most one write per turn.
 *
 * Owns the stream after the first four bytes, and the bounds: reading stops while more than
 * `outputSoftBytes` wait to be sent, while the handler holds the connection or while others have
 * their turn, and above `outputHardBytes` the connection is dropped. Never looks into a frame.
 * Bytes leave in the order they were put into `writer`. Created by the client port; used by the
 * driver and the pipeline.
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
  /** Unique in this process; only grows. */
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
  /** What the budgets of input and output were told of it last. */
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

  /** False from the moment of `close()`, `end()` or the loss of the stream. */
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Bytes of output not yet taken by the kernel. */
  get outputBytes(): number {
    return this.#writer.length + this.#stream.bufferedBytes;
  }

  /** Memory for what was read and is not handed on. */
  get inputBytes(): number {
    return this.#inputBytes;
  }

  /** Memory for what was written and the client has not taken, as of now. */
  get owedBytes(): number {
    if (this.#owedBytes > 0) this.#countOutput(this.#stream.bufferedBytes);
    return this.#owedBytes;
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
    this.#dropInput();
    this.#writeOut();
    this.#countOutput(this.#stream.bufferedBytes);
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
    const facts = this.facts({ reason });
    if (cause === 'fault') this.#owner.rateLimited.info('client.dropped', facts);
    else this.#owner.logger.debug(facts, 'client.dropped');
    this.#phase = 'closed';
    this.#owner.stats.connectionsDropped += 1;
    this.#stream.destroy();
    this.#dropInput();
    this.#countOutput(0);
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
    this.#countOutput(buffered);
    // Output that waits for a slow client keeps its slab alive: it shall hold no more of others'.
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

  /** Events of the stream; called by the port alone. The chunk is lent. */
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
    // A client that ended its side reads replies that are ready; those still to come are lost.
    this.end();
  }

  onDrain(): void {
    this.#countOutput(this.#stream.bufferedBytes);
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
    this.#dropInput();
    this.#dropOutput();
    this.#countOutput(0);
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
      const isHandshake = this.stats.sessionTimeoutMs === 0;
      const event = isHandshake ? 'client.bad_handshake' : 'client.bad_frame';
      this.#owner.rateLimited.warn(event, this.facts({ problem: error.message }));
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
    this.#countInput();
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
      this.#largestBytes = Math.max(this.#largestBytes, largestFrameBytes(bytes));
    }
    this.#owner.stats.bytesSent += bytes.length;
    // The replies of a turn are one response.
    this.#owner.stats.responseSizes.record(bytes.length);
    this.#stream.write(bytes);
    this.#bufferedBytesMax = this.#stream.bufferedBytes;
  }

  /** Tells the budget of input what it holds: mostly nothing, as before. */
  #countInput(): void {
    const bytes = this.#reader.heldBytes;
    if (bytes === this.#inputBytes) return;
    this.#owner.input.add(bytes - this.#inputBytes);
    this.#inputBytes = bytes;
  }

  /** The same of output: the slab that unsent bytes lie in counts, too. */
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

  /** Who it is, for a log line. */
  facts(facts: Record<string, unknown>): Record<string, unknown> {
    return {
      connection: this.id,
      remote: `${this.remoteAddress}:${this.remotePort}`,
      session: this.stats.sessionId.toString(16),
      ...facts,
    };
  }
}
