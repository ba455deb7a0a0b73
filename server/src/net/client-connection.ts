/**
 * One client's connection: incoming frames, one bounded output buffer, one write per flush.
 *
 * Owns the stream from the moment at which its first four bytes have shown that it carries frames.
 * It enforces the bounds: reading stops while more than `outputSoftBytes` wait to be sent, while
 * the handler holds the connection (for `rate` it is read ahead a little: see InputHolds), or while
 * other connections are served first; when more than `outputHardBytes` plus the size of its largest
 * answer waits, the connection is dropped. It never looks into a frame. Bytes are sent in the order
 * in which they were put into `writer`. Created by the client port, its only owner; used by the
 * driver, which makes its handler, and the pipeline.
 */
import {
  addressText,
  FrameError,
  FrameReader,
  type Identity,
  type Int64,
  type JuteReader,
  JuteWriter,
  type SlabPool,
  viewOf,
} from '@rookery/protocol';
import type { Logger } from 'pino';
import type { HoldReason } from '../pipeline/client-channel.js';
import {
  type ClientShare,
  type Deferrable,
  type Hold,
  InputHolds,
  type InputPace,
  LARGE_ANSWER_BYTES,
  type PacedReader,
  type SharedBudget,
  SMALL_UNFINISHED_BYTES,
} from './backpressure.js';
import { prefixedHex } from './four-letter/format.js';
import type { RateLimitedLog } from './rate-limited-log.js';
import type { ConnectionStats, ServerStats } from './server-stats.js';
import { SESSIONLESS_TIMEOUT_MS } from './sessionless-streams.js';
import type { Timer, Timers } from './timers.js';
import type { ByteStream, StreamHandlers } from './transport.js';

/**
 * What connections report to. For each connection there is `onOpen`, then any number of
 * `onFrame`, then `onClosed` exactly once. Connections that only asked a four-letter word, or that
 * were refused, are not reported. No call is made from within a call to a connection or a port.
 */
export interface ClientHandler {
  onOpen(connection: ClientConnection): void;
  /**
   * One whole frame without its length. The reader ends where the frame ends, and is valid only
   * during the call: copy what is needed later. Not called while the connection is held, or after
   * `close()` or `end()`.
   */
  onFrame(connection: ClientConnection, frame: JuteReader): void;
  /**
   * The connection was held for the HoldReason `room` and may continue: its client has taken enough
   * of its output, or a later turn has a share for it.
   */
  onRoom(connection: ClientConnection): void;
  onClosed(connection: ClientConnection): void;
}

/** A connection's port. */
export interface ConnectionOwner {
  /** The largest frame once there is a session. */
  readonly frameBytesMax: number;
  /** Reading stops above this many bytes of output and continues below half of them. */
  readonly outputSoftBytes: number;
  /**
   * The connection is dropped above this many bytes of output. The largest answer does not count,
   * so a client may get one answer of any size.
   */
  readonly outputHardBytes: number;
  /** Whether clients can log in by SASL. */
  readonly offersLogins: boolean;
  readonly handler: ClientHandler;
  readonly timers: Timers;
  readonly logger: Logger;
  /** For events that clients can cause as often as they like. */
  readonly rateLimited: RateLimitedLog;
  readonly stats: ServerStats;
  readonly share: ClientShare;
  readonly pace: InputPace;
  /** Memory for output. */
  readonly slabs: SlabPool;
  /** Bytes that all connections have read and not delivered. */
  readonly input: SharedBudget<ClientConnection>;
  /** Bytes that were written and that clients have not taken. */
  readonly output: SharedBudget<ClientConnection>;
  /** The reader for frames. */
  readonly frame: JuteReader;
  /** Nothing may leave now, not even from a connection that ends: see ClientPort. */
  readonly isWithheld: boolean;
  /** The connection has output for the next flush. Called once per flush. */
  onDirty(connection: ClientConnection): void;
  onSessionBound(connection: ClientConnection): void;
  /** All connections together hold more input than they may. */
  onInputExceeded(): void;
  /** The stream is gone. Called once. */
  onClosed(connection: ClientConnection): void;
}

/**
 * Why a connection is dropped: the client made a mistake (`fault`), this member cannot serve it now
 * (`state`), or for a reason that the caller has already logged (`logged`).
 */
type CloseCause = 'fault' | 'state' | 'logged';

type Phase = 'open' | 'ended' | 'closed';

/** A ConnectRequest with a password of 16 bytes, as servers give out, has 45 bytes. */
export const HANDSHAKE_BYTES_MAX = 512;
/** How long an ended connection may take to close. */
export const LINGER_MS = 2_000;
/** A frame of this size may take milliseconds, with thousands of watches or entries of an ACL. */
const LARGE_FRAME_BYTES = 16 << 10;

/**
 * ZooKeeper's Java client of 3.9.4 and later refuses DIGEST-MD5 by itself, after it was given a
 * session: it sends no more, not even that it closes the session.
 */
const LEFT_EARLY =
  'it took a session and ended the connection without a request, as a Java client since 3.9.4 ' +
  'does that should log in: start it with -Dzookeeper.fips-mode=false';

export class ClientConnection implements Deferrable, PacedReader, StreamHandlers {
  /** Unique in this process; ids only grow. */
  readonly id: number;
  readonly remoteAddress: string;
  readonly operatorAddress: string | undefined;
  readonly remotePort: number;
  /** What TLS has proved of the client. */
  readonly proven: readonly Identity[];
  readonly openedAtMs: number;
  readonly stats: ConnectionStats;

  readonly #owner: ConnectionOwner;
  readonly #stream: ByteStream;
  readonly #reader: FrameReader;
  readonly #output: ClientOutput;
  readonly #holds: InputHolds;
  #phase: Phase = 'open';
  /** Bytes have come since `takeHeard`. */
  #hasArrived = false;
  /**
   * The client has ended its side, while requests that it sent before wait here because it sends
   * too many (`requestsPerSecondMax`).
   */
  #hasEnded = false;
  #isDirty = false;
  /** The connection has ended, and its last output was withheld. */
  #isEndDue = false;
  #isHeavy = false;
  /**
   * The queue of the ClientShare, light or heavy, from which the connection was just called. It may
   * then deliver one frame or get one answer without asking the share, which uses this pass up. A
   * pass of the light queue is not good for a large answer, which then waits in the heavy queue.
   */
  #pass: 'none' | 'light' | 'heavy' = 'none';
  #isResumeDue = false;
  #isRoomDue = false;
  /** The bytes last reported to the budget of input. */
  #inputBytes = 0;
  /** What the handler keeps of a request that has begun. */
  #keptBytes = 0;
  #linger: Timer | null = null;

  constructor(parts: {
    readonly id: number;
    readonly stream: ByteStream;
    readonly owner: ConnectionOwner;
    readonly stats: ConnectionStats;
    readonly proven?: readonly Identity[];
  }) {
    this.id = parts.id;
    this.stats = parts.stats;
    this.proven = parts.proven ?? [];
    this.#owner = parts.owner;
    this.#stream = parts.stream;
    this.remoteAddress = parts.stream.remoteAddress;
    this.operatorAddress = parts.stream.operatorAddress;
    this.remotePort = parts.stream.remotePort;
    this.openedAtMs = parts.owner.timers.nowMs();
    this.#reader = new FrameReader(HANDSHAKE_BYTES_MAX);
    this.#output = new ClientOutput(parts.stream, parts.owner);
    this.#holds = new InputHolds(parts.stream);
  }

  /** Takes the stream over, with the first bytes that were read from it. Called once. */
  begin(first: Uint8Array): void {
    this.#stream.handle(this);
    this.onData(first);
  }

  /** False after `close()`, `end()` or the loss of the stream. */
  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** Whether its client speaks TLS. */
  get isSecured(): boolean {
    return this.#stream.secured !== null;
  }

  /** Bytes of output that the kernel has not taken yet, including what was not flushed yet. */
  get outputBytes(): number {
    return this.#output.bytes;
  }

  /** The memory of what was read and is not delivered yet, in bytes. */
  get inputBytes(): number {
    return this.#inputBytes;
  }

  /**
   * What the budget of output counts: the memory of output that was flushed and that the kernel has
   * not taken yet, in bytes, and output that is withheld. The slab of the former counts as a whole.
   */
  get owedBytes(): number {
    return this.#output.owedBytes;
  }

  /**
   * Whether an answer of about this many bytes should wait, if it can. Called before each such
   * answer.
   */
  isFullFor(answerBytes: number): boolean {
    this.#tally();
    if (this.#output.isChoked) return true;
    const { share } = this.#owner;
    const isLarge = answerBytes >= LARGE_ANSWER_BYTES;
    const isPassed = this.#pass === 'heavy' || (this.#pass === 'light' && !isLarge);
    const isFull = !isPassed && (!share.mayContinue() || (isLarge && share.hasWaiting));
    if (isLarge && !isFull) {
      // It may take long and write little, as a part of a request does.
      this.#pass = 'none';
      share.expectLong();
    }
    return isFull;
  }

  /** Whether the last answer was large, or the one that waits is. */
  get isHeavy(): boolean {
    return this.#isHeavy;
  }

  /**
   * The bracketed number of `stat` and `cons`: 1 while requests are taken in, plus 4 if output
   * waits.
   */
  get interestOps(): number {
    return (this.#holds.areNone && this.isOpen ? 1 : 0) | (this.#stream.bufferedBytes > 0 ? 4 : 0);
  }

  /**
   * When `dump` says that the connection expires: its timeout after the last response, as ZooKeeper
   * has it. A connection without a session is closed then. One with a session is not: the leader
   * decides when a session expires, and of a local session its member, by its lease clock.
   */
  get expiresWallMs(): number {
    const { timers } = this.#owner;
    const { sessionTimeoutMs, lastResponseMs } = this.stats;
    const timeoutMs = sessionTimeoutMs === 0 ? SESSIONLESS_TIMEOUT_MS : sessionTimeoutMs;
    const idleMs = timers.nowMs() - Math.max(this.openedAtMs, lastResponseMs);
    return timers.wallMs() + timeoutMs - idleMs;
  }

  /**
   * The writer of outgoing frames, in order. It must be fetched for each reply, because that tells
   * the connection that it has to be flushed. What is written after `end()` or `close()` is
   * dropped.
   */
  get writer(): JuteWriter {
    if (!this.#isDirty) {
      this.#isDirty = true;
      this.#owner.onDirty(this);
    }
    return this.#output.writer;
  }

  /**
   * The handshake is done: the sessionless timeout is off, frames may be as long as requests are,
   * and `cons` shows the session.
   */
  bindSession(session: { readonly id: Int64; readonly timeoutMs: number }): void {
    this.#reader.frameBytesMax = this.#owner.frameBytesMax;
    this.stats.sessionId = session.id;
    this.stats.sessionTimeoutMs = session.timeoutMs;
    this.#owner.onSessionBound(this);
  }

  /**
   * Delivers nothing until every reason is released, and reads nothing, except what is read ahead
   * while `rate` is the only reason. `answerBytes` is the size of the answer that waits.
   */
  hold(reason: HoldReason, answerBytes = 0): void {
    if (answerBytes >= LARGE_ANSWER_BYTES) this.#isHeavy = true;
    if (reason === 'rate') this.#owner.rateLimited.info('client.rate_limited', this.facts({}));
    this.#setHold(reason);
    // No event of the stream follows if the output is not full: the answer waits for the share of
    // a later turn.
    if (reason === 'room' && !this.#output.isChoked) this.#owner.share.defer(this);
  }

  /**
   * Whether the client was heard from since the last call: bytes have come, or they may have,
   * because the connection is not read from.
   */
  takeHeard(): boolean {
    const isHeard = this.#hasArrived || !(this.#holds.isReading || this.#hasEnded);
    this.#hasArrived = false;
    return isHeard;
  }

  /** What the handler keeps of a request that has begun counts as input. */
  keep(bytes: number): void {
    this.#keptBytes = bytes;
    this.#countInput();
  }

  /** Frames that have already arrived are delivered in a later turn, never inside this call. */
  release(hold: Hold): void {
    if (!this.#holds.delete(hold) || this.#isResumeDue || this.#phase !== 'open') return;
    this.#isResumeDue = true;
    this.#owner.timers.defer(() => this.#resume());
  }

  /** Sends everything in `writer`, then ends the stream. No more frames are delivered. */
  end(): void {
    if (this.#phase !== 'open') return;
    this.#phase = 'ended';
    this.#dropInput();
    if (this.#owner.isWithheld) this.#endLater();
    else this.#endStream();
    // Whatever the client still sends is read and dropped, so that its end of stream is noticed.
    this.#stream.resume();
    this.#linger = this.#owner.timers.after(LINGER_MS, () => {
      this.#stream.destroy();
    });
  }

  #endStream(): void {
    this.#output.writeOut();
    this.#output.count();
    this.#stream.end();
  }

  /** What was written until now leaves with the next flush. */
  #endLater(): void {
    this.#output.keep();
    this.#isEndDue = true;
    if (!this.#isDirty) this.#owner.onDirty(this);
    this.#isDirty = true;
  }

  /** The last output of a connection that has ended and was withheld is dropped. */
  dropEnd(): void {
    if (this.#isEndDue) this.#stream.destroy();
    this.#isEndDue = false;
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
    this.#output.countNone();
  }

  /**
   * Writes all output since the last flush at once, or keeps it if nothing may leave. Called by the
   * port's `flush`.
   */
  flush(): void {
    this.#isDirty = false;
    const { isWithheld, outputSoftBytes } = this.#owner;
    if (this.#phase !== 'open') return this.#flushEnded();
    const waiting = isWithheld ? this.#output.withhold() : this.#output.flush();
    if (this.#closeIfAbove(waiting)) return;
    if (waiting > outputSoftBytes) this.#setHold('output');
    else if (!isWithheld) this.#maybeReleaseOutput();
  }

  /** What was written after the end is dropped. */
  #flushEnded(): void {
    this.#output.drop();
    if (!this.#isEndDue || this.#phase !== 'ended') return;
    if (this.#owner.isWithheld) this.#output.count();
    else this.#endKept();
  }

  #closeIfAbove(bufferedBytes: number): boolean {
    const { isWithheld, outputHardBytes, rateLimited } = this.#owner;
    if (bufferedBytes <= outputHardBytes + this.#output.largestBytes) return false;
    const facts = { bufferedBytes, outputHardBytes, isWithheld };
    rateLimited.warn('client.output_overflow', this.facts(facts));
    this.close(isWithheld ? 'too much waits for it' : 'reads too slowly', 'logged');
    return true;
  }

  #endKept(): void {
    this.#isEndDue = false;
    this.#output.writeKept();
    this.#output.count();
    this.#stream.end();
  }

  // The stream calls the next four methods.

  /** Takes bytes, which are lent. */
  onData(chunk: Uint8Array): void {
    if (this.#phase !== 'open') return;
    this.#owner.stats.bytesReceived += chunk.length;
    this.#hasArrived = true;
    const before = this.#inputBytes;
    this.#reader.push(chunk);
    this.#deliver();
    this.#reader.giveBack();
    this.#countInput();
    this.#adjustReading();
    const more = this.#inputBytes - before;
    if (more <= 0) return;
    if (this.#owner.input.isExceeded) this.#owner.onInputExceeded();
    if (this.#inputBytes <= SMALL_UNFINISHED_BYTES) return;
    if (this.#owner.pace.mustWait(this, more)) this.#setHold('pace');
  }

  onEnd(): void {
    this.#maybeLogMissingLogin();
    // A client that has ended its side still gets the replies that are ready, and no later ones.
    // What was read of it and waits for its rate is delivered first: see `#deliver`.
    if (this.#holds.areNone || this.#reader.bufferedBytes === 0) this.end();
    else this.#hasEnded = true;
  }

  /** What a Java client looks like from here that refuses to log in: see `LEFT_EARLY`. */
  #maybeLogMissingLogin(): void {
    const { offersLogins, rateLimited } = this.#owner;
    const { received, sessionId } = this.stats;
    if (!offersLogins || this.#phase !== 'open' || sessionId === 0 || received > 1) return;
    rateLimited.info('client.left_without_login', this.facts({ problem: LEFT_EARLY }));
  }

  onDrain(): void {
    this.#output.count();
    if (this.#phase === 'open') this.#maybeReleaseOutput();
  }

  onClose(): void {
    this.#phase = 'closed';
    this.#owner.share.forget(this);
    this.#linger?.cancel();
    this.#dropInput();
    this.#output.drop();
    this.#output.countNone();
    this.#owner.onClosed(this);
  }

  /** Called only by the InputPace, once for each time that the connection had to wait. */
  resumeReading(): void {
    this.#holds.delete('pace');
    this.#resume();
  }

  /** Called only by the ClientShare, once for each time that the connection was deferred. */
  continueDelivery(): void {
    if (this.#phase !== 'open') return;
    this.#pass = this.#isHeavy ? 'heavy' : 'light';
    if (this.#holds.has('room') && !this.#output.isChoked) this.#giveRoom();
    this.#holds.delete('share');
    this.#resume();
    this.#pass = 'none';
  }

  #deliver(): void {
    const owner = this.#owner;
    const { share, frame } = owner;
    try {
      let mayContinue = this.#pass !== 'none' || share.mayBegin(this);
      while (this.#holds.areNone && this.#phase === 'open' && this.#reader.bufferedBytes > 0) {
        if (!mayContinue) return this.#defer();
        if (!this.#reader.pointAtNext(frame)) break;
        this.stats.receivedPackets(1);
        if (frame.remaining >= LARGE_FRAME_BYTES) share.expectLong();
        this.#isHeavy = false;
        owner.handler.onFrame(this, frame);
        this.#pass = 'none';
        this.#tally();
        if (this.#output.isChoked) this.#setHold('output');
        mayContinue = share.mayContinue();
      }
      if (this.#hasEnded && this.#holds.areNone) this.end();
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.#owner.stats.largeRequestsRejected += 1;
      const isHandshake = this.stats.sessionTimeoutMs === 0;
      const event = isHandshake ? 'client.bad_handshake' : 'client.bad_frame';
      this.#owner.rateLimited.warn(event, this.facts({ problem: error.message }));
      this.close('bad frame', 'logged');
    }
  }

  /** What has been read is delivered in a later turn. */
  #defer(): void {
    this.#setHold('share');
    this.#owner.share.defer(this);
  }

  /** Counts what was written since the last call, mostly one answer, in the clients' share. */
  #tally(): void {
    const bytes = this.#output.takeUntallied();
    if (bytes <= 0) return;
    if (bytes >= LARGE_ANSWER_BYTES) this.#isHeavy = true;
    this.#pass = 'none';
    this.#owner.share.spend(bytes);
  }

  #setHold(hold: Hold): void {
    if (this.#phase === 'open') this.#holds.add(hold);
  }

  #resume(): void {
    this.#isResumeDue = false;
    if (this.#phase !== 'open') return;
    if (this.#holds.areNone) {
      this.#deliver();
      this.#countInput();
    }
    this.#adjustReading();
  }

  #adjustReading(): void {
    if (this.#phase === 'open') this.#holds.adjust(this.#inputBytes);
  }

  #maybeReleaseOutput(): void {
    if (!this.#holds.has('output') && !this.#holds.has('room')) return;
    if (this.outputBytes > this.#owner.outputSoftBytes / 2) return;
    this.release('output');
    this.#maybeReportRoom();
  }

  /** Reports in a later turn: the handler is never called from within its own call. */
  #maybeReportRoom(): void {
    if (!this.#holds.has('room') || this.#isRoomDue) return;
    this.#isRoomDue = true;
    this.#owner.timers.defer(() => {
      this.#isRoomDue = false;
      if (this.#holds.has('room') && this.#phase === 'open') this.#giveRoom();
    });
  }

  /** Lets the handler continue, and counts its answers in this turn's share. */
  #giveRoom(): void {
    this.#owner.handler.onRoom(this);
    this.#tally();
  }

  /** Reports unread input to its budget, if it has changed. */
  #countInput(): void {
    const bytes = this.#reader.heldBytes + this.#keptBytes;
    if (bytes === this.#inputBytes) return;
    this.#owner.input.add(bytes - this.#inputBytes);
    this.#inputBytes = bytes;
  }

  #dropInput(): void {
    this.#owner.pace.forget(this);
    this.#reader.clear();
    this.#keptBytes = 0;
    this.#countInput();
  }

  /** Identifies the connection in log lines. */
  facts(facts: Record<string, unknown>): Record<string, unknown> {
    return {
      connection: this.id,
      remote: addressText(this.remoteAddress, this.remotePort),
      session: prefixedHex(this.stats.sessionId),
      ...facts,
    };
  }
}

const NOTHING = new Uint8Array(0);

/**
 * Output that one client has not taken yet, and how it is counted.
 *
 * Frames are appended to `writer`; `writeOut` hands them to the stream in one write. The budget of
 * all clients together learns how much this client owes.
 */
class ClientOutput {
  readonly writer: JuteWriter;
  readonly #stream: ByteStream;
  readonly #owner: ConnectionOwner;
  /** How many bytes of `writer` have been counted in the clients' share of the turn. */
  #talliedBytes = 0;
  /** Bytes buffered in the stream after the last write; the number can only have fallen since. */
  #bufferedBytesMax = 0;
  /** The bytes last reported to the budget of output. */
  #owedBytes = 0;
  #largestBytes = 0;
  #kept: Uint8Array = NOTHING;

  constructor(stream: ByteStream, owner: ConnectionOwner) {
    this.#stream = stream;
    this.#owner = owner;
    this.writer = new JuteWriter(owner.slabs);
  }

  /** Bytes not yet taken by the kernel. */
  get bytes(): number {
    return this.writer.length + this.#stream.bufferedBytes;
  }

  /** The memory of what the kernel has not taken after its turn, in bytes: see `count`. */
  get owedBytes(): number {
    if (this.#owedBytes > 0) this.count();
    return this.#owedBytes;
  }

  /** The largest of the large answers since the output was last empty, in bytes. */
  get largestBytes(): number {
    return this.#largestBytes;
  }

  /** Whether more waits than this client should have in memory. */
  get isChoked(): boolean {
    const { outputSoftBytes } = this.#owner;
    // The stream is asked only where it matters, because this runs for each frame.
    if (this.writer.length + this.#bufferedBytesMax <= outputSoftBytes) return false;
    return this.bytes > outputSoftBytes;
  }

  /** Bytes written since the last call. */
  takeUntallied(): number {
    const bytes = this.writer.length - this.#talliedBytes;
    this.#talliedBytes += bytes;
    return bytes;
  }

  /** Writes everything out. Returns the bytes that the stream buffers. */
  flush(): number {
    if (this.#stream.bufferedBytes === 0) this.#largestBytes = 0;
    this.writeOut();
    this.count();
    const buffered = this.#stream.bufferedBytes;
    // Output for a slow client keeps its whole slab in memory, so others get a new slab.
    if (buffered === 0) this.writer.recycle();
    return buffered;
  }

  writeOut(): void {
    if (this.writer.length === 0) return;
    const bytes = this.writer.take();
    this.#talliedBytes = 0;
    this.#write(bytes);
  }

  /** Copies what is written so far for `writeKept`. Nothing written later is part of it. */
  keep(): void {
    this.#kept = this.writer.take().slice();
  }

  writeKept(): void {
    const kept = this.#kept;
    this.#kept = NOTHING;
    if (kept.length > 0) this.#write(kept);
  }

  #write(bytes: Uint8Array): void {
    if (bytes.length > Math.max(this.#largestBytes, LARGE_ANSWER_BYTES)) {
      this.#largestBytes = Math.max(this.#largestBytes, largestFrameBytes(bytes));
    }
    this.#owner.stats.bytesSent += bytes.length;
    // The replies of one turn count as one response.
    this.#owner.stats.responseSizes.record(bytes.length);
    if (this.#stream.secured === null) this.#stream.write(bytes);
    else this.#stream.write(bytes, lastFrameAt(bytes));
    this.#bufferedBytesMax = this.#stream.bufferedBytes;
  }

  /** As a flush, while nothing may leave. Returns the bytes that wait. */
  withhold(): number {
    const bytes = this.bytes;
    const { outputHardBytes } = this.#owner;
    // The frames are looked at only where it matters.
    if (bytes > outputHardBytes) {
      const largestBytes = largestFrameBytes(this.writer.untaken);
      this.#largestBytes = Math.max(this.#largestBytes, largestBytes);
    }
    this.count();
    return bytes;
  }

  /**
   * Tells the budget what the client owes: what the stream buffers, its slab as a whole, and what
   * is withheld.
   */
  count(): void {
    const buffered = this.#stream.bufferedBytes;
    const withheld = this.#kept.length + (this.#owner.isWithheld ? this.writer.length : 0);
    if (buffered + withheld + this.#owedBytes === 0) return;
    this.#report(withheld + (buffered === 0 ? 0 : buffered + this.writer.slabBytes));
  }

  /** The stream is gone: the client owes nothing any more. */
  countNone(): void {
    if (this.#owedBytes > 0) this.#report(0);
  }

  /** Forgets what has not been written out; what was kept stays. */
  drop(): void {
    this.writer.reset();
    this.writer.release();
    this.#talliedBytes = 0;
  }

  #report(bytes: number): void {
    this.#owner.output.add(bytes - this.#owedBytes);
    this.#owedBytes = bytes;
  }
}

const LENGTH_BYTES = 4;

/** The size of the largest whole frame, its length field included, in bytes. */
function largestFrameBytes(frames: Uint8Array): number {
  const view = viewOf(frames);
  let largest = 0;
  for (let at = 0; at + LENGTH_BYTES <= frames.length; ) {
    const bytes = LENGTH_BYTES + view.getUint32(at);
    largest = Math.max(largest, bytes);
    at += bytes;
  }
  return largest;
}

/** Where the last frame begins; 0 for a single one. */
function lastFrameAt(frames: Uint8Array): number {
  const view = viewOf(frames);
  let last = 0;
  for (let at = 0; at + LENGTH_BYTES <= frames.length; at += LENGTH_BYTES + view.getUint32(at)) {
    last = at;
  }
  return last;
}
