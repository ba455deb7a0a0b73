/**
 * Bounds the share of one turn that clients may use, so that peers and timers get theirs.
 *
 * One frame may cost a quarter of a second (the children of a huge directory), and with many such
 * clients in one turn the member would miss its heartbeats. Once the frames of a turn have produced
 * `outputBytesMax` or taken `durationMsMax`, further deliveries are deferred to the next turn, in
 * their order. Connections whose last answer was large, or whose next will be, wait behind all
 * others, but not for ever.
 * Owned by the client port, which renews it at each flush; asked by its connections.
 */
import type { Timers } from './timers.js';

export interface TurnLimits {
  readonly outputBytesMax: number;
  readonly durationMsMax: number;
}

export const TURN_LIMITS: TurnLimits = { outputBytesMax: 4 << 20, durationMsMax: 25 };

/** A connection whose last answer had at least this size counts as heavy. */
export const LARGE_ANSWER_BYTES = 64 << 10;
/** After an answer of this size the clock is read: it may answer hundreds of reads. */
const LOOK_BYTES = 4 << 10;
/** Deliveries between two readings of the clock. */
const DELIVERIES_PER_LOOK = 4;

/** A connection that can be deferred. */
export interface Deferrable {
  /** Whether its last answer was large. */
  readonly isHeavy: boolean;
  /** Makes at least one delivery if there is one. */
  takeTurn(): void;
}

export class ClientTurn {
  readonly #timers: Timers;
  readonly #limits: TurnLimits;
  #outputBytes = 0;
  #startedAtMs = Number.NaN;
  #untilLook = 0;
  #isOver = false;
  readonly #light = new Set<Deferrable>();
  readonly #heavy = new Set<Deferrable>();
  /** Whether heavy connections were left waiting while the others had their turn. */
  #isHeavyOwed = false;
  #isResumeDue = false;

  constructor(timers: Timers, limits: TurnLimits) {
    this.#timers = timers;
    this.#limits = limits;
  }

  /** Whether answers that can wait should wait for a later turn. Asked before each of them. */
  get isFull(): boolean {
    return !this.mayContinue();
  }

  /** Whether connections were deferred. */
  get hasWaiting(): boolean {
    return this.#light.size + this.#heavy.size > 0;
  }

  /** Whether a connection may get its next frame now, regardless of who waits. */
  mayContinue(): boolean {
    if (this.#isOver) return false;
    if (this.#untilLook > 0) this.#untilLook -= 1;
    else this.#look();
    return !this.#isOver;
  }

  /** Whether a connection may begin. It may not overtake those that were deferred before it. */
  mayBegin({ isHeavy }: Deferrable): boolean {
    if (this.#light.size > 0 || (isHeavy && this.#heavy.size > 0)) return false;
    return this.mayContinue();
  }

  /** Counts output of this turn. */
  spend(bytes: number): void {
    this.#outputBytes += bytes;
    if (this.#outputBytes >= this.#limits.outputBytesMax) this.#isOver = true;
    else if (bytes >= LOOK_BYTES) this.#untilLook = 0;
  }

  /** Defers a connection to a later turn. */
  putOff(connection: Deferrable): void {
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
    if (!this.#isOver && !this.hasWaiting) return this.#reset();
    if (this.#isResumeDue) return;
    this.#isResumeDue = true;
    this.#timers.defer(() => this.#resume());
  }

  #reset(): void {
    this.#outputBytes = 0;
    this.#startedAtMs = Number.NaN;
    this.#untilLook = 0;
    this.#isOver = false;
  }

  #look(): void {
    this.#untilLook = DELIVERIES_PER_LOOK - 1;
    const nowMs = this.#timers.nowMs();
    if (Number.isNaN(this.#startedAtMs)) this.#startedAtMs = nowMs;
    else if (nowMs - this.#startedAtMs >= this.#limits.durationMsMax) this.#isOver = true;
  }

  /** Schedules what still waits, after the flush of this turn. */
  #resume(): void {
    this.#isResumeDue = false;
    this.#reset();
    const heavyBefore = this.#heavy.size;
    if (this.#isHeavyOwed) this.#run(this.#heavy, 1);
    this.#run(this.#light, this.#light.size);
    const isLeftOut = !this.#isHeavyOwed && this.#isOver && heavyBefore > 0;
    this.#run(this.#heavy, this.#heavy.size);
    this.#isHeavyOwed = isLeftOut;
  }

  /** Runs deferred connections in their order while the share lasts. */
  #run(waiting: Set<Deferrable>, countMax: number): void {
    let left = countMax;
    for (const connection of waiting) {
      if (left-- === 0 || !this.mayContinue()) return;
      waiting.delete(connection);
      connection.takeTurn();
    }
  }
}
