/**
 * Makes client connections wait, so that none of them takes the memory or the turn of the others.
 *
 * InputHolds keeps the reasons for which a connection is not read from; all eight are in a table in
 * docs/architecture/sessions.md. ClientShare and InputPace set two of them: they divide the time,
 * output and large frames of a turn among all connections. SharedBudget bounds the memory that all
 * of them hold, and chooses which are closed when it is used up. Owned by the client port, which
 * renews the share at each flush, and used by its connections.
 */
import { assert } from '@rookery/protocol';
import type { HoldReason } from '../pipeline/client-channel.js';
import type { Timers } from './timers.js';
import type { ByteStream } from './transport.js';

/**
 * Besides the pipeline's reasons there are those of this folder: the client has not taken its
 * output (`output`), the clients' share of this turn is used up (`share`), or too many bytes of
 * large frames arrive at once (`pace`). `share` and `pace` pass within a few turns.
 */
export type Hold = HoldReason | 'output' | 'share' | 'pace';

/** One bit for each reason. */
const BITS: Readonly<Record<Hold, number>> = {
  handshake: 1,
  outstanding: 2,
  output: 4,
  room: 8,
  share: 16,
  pace: 32,
  login: 64,
  rate: 128,
};

/** Some hundred requests, which is enough for the pings of a client that waits for an answer. */
const READ_AHEAD_BYTES = 16 << 10;

/**
 * Why nothing of a connection is delivered at present, and whether its stream is read meanwhile.
 *
 * While there is any reason, the stream is paused, with one exception: a connection that waits only
 * because its client sends too many requests (`rate`) is read ahead up to a bound, so that a client
 * that is gone is noticed, and one that is still there is heard from.
 */
export class InputHolds {
  readonly #stream: ByteStream;
  #bits = 0;
  #isReading = true;

  constructor(stream: ByteStream) {
    this.#stream = stream;
  }

  /** Whether frames may be delivered. */
  get areNone(): boolean {
    return this.#bits === 0;
  }

  /** Whether the stream is read from. */
  get isReading(): boolean {
    return this.#isReading;
  }

  has(hold: Hold): boolean {
    return (this.#bits & BITS[hold]) !== 0;
  }

  /** The stream is paused at once, unless it is read ahead: `adjust` decides that. */
  add(hold: Hold): void {
    this.#bits |= BITS[hold];
    if (this.#bits !== BITS.rate) this.#read(false);
  }

  /** The stream stays as it is until `adjust`. Returns whether there was such a reason. */
  delete(hold: Hold): boolean {
    const had = this.has(hold);
    this.#bits &= ~BITS[hold];
    return had;
  }

  /** Reads or pauses, now that so many bytes have been read and not delivered. */
  adjust(inputBytes: number): void {
    this.#read(this.areNone || (this.#bits === BITS.rate && inputBytes <= READ_AHEAD_BYTES));
  }

  #read(isReading: boolean): void {
    if (isReading === this.#isReading) return;
    this.#isReading = isReading;
    if (isReading) this.#stream.resume();
    else this.#stream.pause();
  }
}

/** The part of one turn that clients may use. */
export interface TurnShare {
  readonly outputBytesMax: number;
  readonly durationMsMax: number;
}

export const TURN_SHARE: TurnShare = { outputBytesMax: 4 << 20, durationMsMax: 10 };

/** A connection whose last answer, or the one that waits, has at least this size is heavy. */
export const LARGE_ANSWER_BYTES = 64 << 10;
/** After this much output the clock is read: it may be the answers to hundreds of queued reads. */
const CLOCK_READING_BYTES = 4 << 10;
/** Deliveries between two readings of the clock. */
const DELIVERIES_PER_READING = 4;

/** A connection whose next delivery can be deferred. */
export interface Deferrable {
  /** Whether its last answer was large, or the one that waits is. */
  readonly isHeavy: boolean;
  /** Ends the deferral: makes at least one delivery if there is one. */
  continueDelivery(): void;
}

/**
 * The share of one turn that clients may use, so that peers and timers get theirs.
 *
 * With many costly frames in one turn the member would miss its heartbeats, and others would wait
 * several times: a write passes through three turns of the member that its client uses. Once the
 * frames of a turn have produced `outputBytesMax` or taken `durationMsMax`, further deliveries are
 * deferred to the next turn, in their order. Connections whose last answer was large, or whose next
 * will be, wait in the heavy queue, which is served behind the light one of all others and does not
 * starve.
 */
export class ClientShare {
  readonly #timers: Timers;
  readonly #whole: TurnShare;
  #outputBytes = 0;
  #startedAtMs = Number.NaN;
  #untilReading = 0;
  #isUsedUp = false;
  readonly #light = new Set<Deferrable>();
  readonly #heavy = new Set<Deferrable>();
  /** Whether heavy connections were left waiting while the light ones used up the share. */
  #isHeavyOwed = false;
  #isResumeDue = false;

  constructor(timers: Timers, whole: TurnShare) {
    this.#timers = timers;
    this.#whole = whole;
  }

  /** Whether connections were deferred. */
  get hasWaiting(): boolean {
    return this.#light.size + this.#heavy.size > 0;
  }

  /**
   * Whether a connection may get its next frame now, or an answer that can wait, regardless of who
   * waits. Asked before each of them.
   */
  mayContinue(): boolean {
    if (this.#isUsedUp) return false;
    if (this.#untilReading > 0) this.#untilReading -= 1;
    else this.#readClock();
    return !this.#isUsedUp;
  }

  /**
   * Whether a connection may begin. It may not overtake those that were deferred before it, but a
   * light one may overtake heavy ones.
   */
  mayBegin({ isHeavy }: Deferrable): boolean {
    if (this.#light.size > 0 || (isHeavy && this.#heavy.size > 0)) return false;
    return this.mayContinue();
  }

  /** Counts output of this turn. */
  spend(bytes: number): void {
    this.#outputBytes += bytes;
    if (this.#outputBytes >= this.#whole.outputBytesMax) this.#isUsedUp = true;
    else if (bytes >= CLOCK_READING_BYTES) this.#untilReading = 0;
  }

  /** What comes next may take long, whatever its answer: the clock is read after it. */
  expectLong(): void {
    this.#untilReading = 0;
  }

  /** Defers a connection to a later turn. */
  defer(connection: Deferrable): void {
    if (this.#light.has(connection) || this.#heavy.has(connection)) return;
    (connection.isHeavy ? this.#heavy : this.#light).add(connection);
  }

  /** Forgets a connection that is gone. */
  forget(connection: Deferrable): void {
    this.#light.delete(connection);
    this.#heavy.delete(connection);
  }

  /**
   * Called after the flush. A share that was used up stays used up until the sockets have been
   * polled again; otherwise deliveries that are due before would double it.
   */
  renew(): void {
    if (!this.#isUsedUp && !this.hasWaiting) return this.#reset();
    if (this.#isResumeDue) return;
    this.#isResumeDue = true;
    this.#timers.defer(() => this.#resume());
  }

  #reset(): void {
    this.#outputBytes = 0;
    this.#startedAtMs = Number.NaN;
    this.#untilReading = 0;
    this.#isUsedUp = false;
  }

  #readClock(): void {
    this.#untilReading = DELIVERIES_PER_READING - 1;
    const nowMs = this.#timers.nowMs();
    if (Number.isNaN(this.#startedAtMs)) this.#startedAtMs = nowMs;
    else if (nowMs - this.#startedAtMs >= this.#whole.durationMsMax) this.#isUsedUp = true;
  }

  /** Continues what was deferred. Runs in the turn after the one in which it was deferred. */
  #resume(): void {
    this.#isResumeDue = false;
    this.#reset();
    const heavyBefore = this.#heavy.size;
    if (this.#isHeavyOwed) this.#run(this.#heavy, 1);
    this.#run(this.#light, this.#light.size);
    const isLeftOut = !this.#isHeavyOwed && this.#isUsedUp && heavyBefore > 0;
    this.#run(this.#heavy, this.#heavy.size);
    this.#isHeavyOwed = isLeftOut;
  }

  /** Runs deferred connections in their order while the share lasts. */
  #run(waiting: Set<Deferrable>, countMax: number): void {
    let left = countMax;
    for (const connection of waiting) {
      if (left-- === 0 || !this.mayContinue()) return;
      waiting.delete(connection);
      connection.continueDelivery();
    }
  }
}

/** A connection with fewer bytes of a frame is neither counted nor paused. */
export const SMALL_UNFINISHED_BYTES = 32 << 10;
const ROUND_BYTES = 4 << 20;
/** Connections resumed at a time; each mostly brings one read of 64 KB. */
const READERS_PER_ROUND = 64;

export interface PacedReader {
  /** Resumes reading. */
  resumeReading(): void;
}

/**
 * Bounds how many bytes of unfinished frames are read in one iteration of the event loop, over all
 * clients.
 *
 * Thousands of connections that send large requests at once bring more bytes than can be copied
 * while heartbeats and other clients wait. Once 4 MB of unfinished frames have arrived in an
 * iteration, further connections are paused and resumed in order, as many at a time as can bring 4
 * MB. A connection with at most 32 KB of a frame is never paused.
 */
export class InputPace {
  readonly #timers: Timers;
  readonly #waiting = new Set<PacedReader>();
  #bytes = 0;
  #isRoundEndDue = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Counts bytes of an unfinished frame. Returns true if the connection must pause. */
  mustWait(reader: PacedReader, bytes: number): boolean {
    this.#bytes += bytes;
    this.#endRoundLater();
    if (this.#bytes <= ROUND_BYTES && this.#waiting.size === 0) return false;
    this.#waiting.add(reader);
    return true;
  }

  /** Forgets a connection that is gone. */
  forget(reader: PacedReader): void {
    this.#waiting.delete(reader);
  }

  #endRoundLater(): void {
    if (this.#isRoundEndDue) return;
    this.#isRoundEndDue = true;
    this.#timers.defer(() => this.#endRound());
  }

  #endRound(): void {
    this.#isRoundEndDue = false;
    this.#bytes = 0;
    let left = READERS_PER_ROUND;
    for (const reader of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(reader);
      reader.resumeReading();
    }
    if (this.#waiting.size > 0) this.#endRoundLater();
  }
}

/** The part of the budget that is free after connections were closed. */
const SPARE_PART = 1 / 8;

interface Held<Holder> {
  readonly holder: Holder;
  readonly bytes: number;
  readonly group: unknown;
}

/**
 * A budget of memory that all connections of a member share, and the choice of which connections
 * are closed when it is used up.
 *
 * It keeps only the sum: holders report how much more or less they hold. The largest holder does
 * not count, so that a single client gets an answer of any size: the memory is bounded by the
 * budget plus one holder. When the others exceed the budget, holders are closed until an eighth of
 * it is free, so that the search for them is rare: the largest ones of the group that holds most,
 * so that many small holders of one address close no others. Of those that stay, the largest does
 * not count either.
 */
export class SharedBudget<Holder> {
  readonly bytesMax: number;
  #bytes = 0;
  /** If only the largest holder is beyond the budget, no search is made up to this sum. */
  #searchAboveBytes: number;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.#searchAboveBytes = bytesMax;
  }

  /** The bytes of all holders together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether `excess` should be asked now. */
  get isExceeded(): boolean {
    return this.#bytes > this.#searchAboveBytes;
  }

  /** A holder has `bytes` more, or fewer if negative. */
  add(bytes: number): void {
    this.#bytes += bytes;
    assert(this.#bytes >= 0, () => `${this.#bytes} bytes are held`);
    if (this.#bytes <= this.bytesMax) this.#searchAboveBytes = this.bytesMax;
  }

  /**
   * The holders to close: those of the group that holds most, such as an address, before others,
   * and in each group the largest first. Each reports what it gives back.
   */
  excess(
    holders: Iterable<Holder>,
    bytesOf: (holder: Holder) => number,
    groupOf: (holder: Holder) => unknown,
  ): readonly Holder[] {
    const held: Held<Holder>[] = [];
    const sums = new Map<unknown, number>();
    for (const holder of holders) {
      const bytes = bytesOf(holder);
      if (bytes <= 0) continue;
      const group = groupOf(holder);
      held.push({ holder, bytes, group });
      sums.set(group, (sums.get(group) ?? 0) + bytes);
    }
    const sumOf = ({ group }: Held<Holder>): number => sums.get(group) ?? 0;
    held.sort((one, other) => sumOf(other) - sumOf(one) || other.bytes - one.bytes);
    const largest = largestFromEach(held);
    if (this.#bytes - (largest[0] ?? 0) <= this.bytesMax) {
      this.#searchAboveBytes = this.bytesMax + (largest[0] ?? 0);
      return [];
    }
    const keptMax = this.bytesMax * (1 - SPARE_PART);
    let leftBytes = this.#bytes;
    const closed = held.findIndex(({ bytes }, index) => {
      if (leftBytes - (largest[index] ?? 0) <= keptMax) return true;
      leftBytes -= bytes;
      return false;
    });
    return held.slice(0, closed < 0 ? held.length : closed).map(({ holder }) => holder);
  }
}

/** The bytes of the largest holder from each index on. */
function largestFromEach<Holder>(held: readonly Held<Holder>[]): readonly number[] {
  let largest = 0;
  return held
    .toReversed()
    .map(({ bytes }) => {
      largest = Math.max(largest, bytes);
      return largest;
    })
    .toReversed();
}
