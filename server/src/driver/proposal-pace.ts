/**
 * When a leader proposes what it has prepared: at once, or together with what comes next.
 *
 * Each batch costs every member a sync and both ways a message, whatever its size. So a small one
 * waits while another is undecided, and takes along what comes meanwhile; as the disk syncs one
 * batch at a time, it would mostly have waited there. It waits a few ms at most: between distant
 * members a decision takes long. Never holds back a batch that is large enough to pay.
 */
import type { Timers } from '../net/timers.js';

/** From so many on, more company saves little: proposals. */
export const LARGE = 64;
export const HOLD_MS = 2;

export interface Prepared {
  /** Proposals that could be made. */
  readonly proposals: number;
  /** Something that was proposed is not committed and applied here yet. */
  readonly isUndecided: boolean;
}

export class ProposalPace {
  readonly #timers: Timers;
  readonly #wake: () => void;
  #heldSinceMs: number | null = null;
  #willWake = false;

  /** `wake` runs a turn, at whose end the question is asked again. */
  constructor(timers: Timers, wake: () => void) {
    this.#timers = timers;
    this.#wake = wake;
  }

  /** Whether to propose now, at the end of a turn; whoever is told so does it. */
  isDue({ proposals, isUndecided }: Prepared, nowMs: number): boolean {
    const since = this.#heldSinceMs ?? nowMs;
    const leftMs = HOLD_MS - (nowMs - since);
    const holds = isUndecided && proposals > 0 && proposals < LARGE && leftMs > 0;
    this.#heldSinceMs = holds ? since : null;
    // Timers count in whole ms.
    if (holds) this.#wakeIn(Math.ceil(leftMs));
    return !holds;
  }

  /** One timer at a time: it may be that of a batch that has gone, and asks too early for this. */
  #wakeIn(ms: number): void {
    if (this.#willWake) return;
    this.#willWake = true;
    this.#timers.after(ms, () => {
      this.#willWake = false;
      if (this.#heldSinceMs !== null) this.#wake();
    });
  }
}
