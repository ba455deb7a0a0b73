/**
 * The share of one turn that clients may use, so that peers and timers get theirs.
 *
 * With many costly frames in one turn the member would miss its heartbeats, and others would wait
 * several times: a write passes through three turns of the member that its client uses. Once the
 * frames of a turn have produced `outputBytesMax` or taken `durationMsMax`, further deliveries are
 * deferred to the next turn, in their order. Connections whose last answer was large, or whose next
 * will be, wait in the heavy queue, which is served behind the light one of all others, but not for
 * ever. Owned by the client port, which renews it at each flush; asked by its connections.
 */
import type { Timers } from './timers.js';

export interface ShareLimits {
  readonly outputBytesMax: number;
  readonly durationMsMax: number;
}

export const SHARE_LIMITS: ShareLimits = { outputBytesMax: 4 << 20, durationMsMax: 10 };

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

export class ClientShare {
  readonly #timers: Timers;
  readonly #limits: ShareLimits;
  #outputBytes = 0;
  #startedAtMs = Number.NaN;
  #untilReading = 0;
  #isUsedUp = false;
  readonly #light = new Set<Deferrable>();
  readonly #heavy = new Set<Deferrable>();
  /** Whether heavy connections were left waiting while the light ones used up the share. */
  #isHeavyOwed = false;
  #isResumeDue = false;

  constructor(timers: Timers, limits: ShareLimits) {
    this.#timers = timers;
    this.#limits = limits;
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
    if (this.#outputBytes >= this.#limits.outputBytesMax) this.#isUsedUp = true;
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
    else if (nowMs - this.#startedAtMs >= this.#limits.durationMsMax) this.#isUsedUp = true;
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
