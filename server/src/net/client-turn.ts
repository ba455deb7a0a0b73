/**
 * How much of one turn the clients may take, so that peers and timers get theirs in between.
 *
 * A frame may cost a quarter of a second (the children of a huge directory); with many such clients
 * in one turn the member would miss its own heartbeats. Once the frames of a turn have made
 * `outputBytesMax` or taken `durationMsMax`, every other delivery is put off to the next turn, in
 * the order they came; those that made a large answer last wait behind all others, but not for
 * ever. Owned by the client port, which renews it at each flush; asked by its connections.
 */
import type { Timers } from './timers.js';

export interface TurnLimits {
  readonly outputBytesMax: number;
  readonly durationMsMax: number;
}

export const TURN_LIMITS: TurnLimits = { outputBytesMax: 4 << 20, durationMsMax: 25 };

/** A connection whose last answer had this size waits with its like. */
export const LARGE_ANSWER_BYTES = 64 << 10;
/** An answer of this size is worth a look at the clock: it may be that of hundreds of reads. */
const LOOK_BYTES = 4 << 10;
/** Deliveries between two looks at the clock. */
const DELIVERIES_PER_LOOK = 4;

/** A connection that was put off. */
export interface PutOff {
  /** Its last answer was a large one. */
  readonly isHeavy: boolean;
  /** One delivery at least, if there is anything to deliver. */
  takeTurn(): void;
}

export class ClientTurn {
  readonly #timers: Timers;
  readonly #limits: TurnLimits;
  #outputBytes = 0;
  #startedAtMs = Number.NaN;
  #untilLook = 0;
  #isOver = false;
  readonly #light = new Set<PutOff>();
  readonly #heavy = new Set<PutOff>();
  /** Heavy ones were left waiting when the others had their turn. */
  #isHeavyOwed = false;
  #isResumeDue = false;

  constructor(timers: Timers, limits: TurnLimits) {
    this.#timers = timers;
    this.#limits = limits;
  }

  /** Answers that can wait should not be written in this turn any more; asked before each. */
  get isFull(): boolean {
    return !this.mayGoOn();
  }

  /** Whether a connection may be given its next frame now, whoever waits. */
  mayGoOn(): boolean {
    if (this.#isOver) return false;
    if (this.#untilLook > 0) this.#untilLook -= 1;
    else this.#look();
    return !this.#isOver;
  }

  /** Whether a connection may begin: not past those that were put off before it. */
  mayBegin({ isHeavy }: PutOff): boolean {
    if (this.#light.size > 0 || (isHeavy && this.#heavy.size > 0)) return false;
    return this.mayGoOn();
  }

  /** Output of this turn. */
  spend(bytes: number): void {
    this.#outputBytes += bytes;
    if (this.#outputBytes >= this.#limits.outputBytesMax) this.#isOver = true;
    else if (bytes >= LOOK_BYTES) this.#untilLook = 0;
  }

  /** It is told to take its turn in a later one. */
  putOff(connection: PutOff): void {
    if (this.#light.has(connection) || this.#heavy.has(connection)) return;
    (connection.isHeavy ? this.#heavy : this.#light).add(connection);
  }

  /** It is gone. */
  forget(connection: PutOff): void {
    this.#light.delete(connection);
    this.#heavy.delete(connection);
  }

  /**
   * Everything of this turn is flushed. One that was over stays so until the sockets are polled
   * again: deliveries that are due before would make it twice as long.
   */
  renew(): void {
    if (!this.#isOver && this.#light.size + this.#heavy.size === 0) return this.#reset();
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

  /** What is still waiting then goes on behind the flush of this turn. */
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

  /** In their order while the turn lasts. Whoever is put off again comes behind. */
  #run(waiting: Set<PutOff>, countMax: number): void {
    let left = countMax;
    for (const connection of waiting) {
      if (left-- === 0 || !this.mayGoOn()) return;
      waiting.delete(connection);
      connection.takeTurn();
    }
  }
}
