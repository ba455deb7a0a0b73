/**
 * Decides when a leader proposes what it has prepared: at once, or together with what comes next.
 *
 * Each batch costs a message to every follower, and mostly a sync and an acknowledgement there,
 * whatever its size. So a small batch lingers while an earlier one still has to be committed and
 * applied here, and grows meanwhile. That costs little, because a disk makes one synced write at a
 * time: the small batch would mostly have waited for an earlier one anyway. It lingers for at most
 * LINGER_MS, because a commit between distant members takes long. A batch of BATCH_MIN proposals
 * never lingers.
 */
import type { Timers } from '../net/timers.js';

/** The number of proposals in a batch from which on waiting for more saves little. */
export const BATCH_MIN = 64;
export const LINGER_MS = 2;

export interface Prepared {
  /** The number of prepared proposals. */
  readonly proposals: number;
  /** Whether an earlier proposal still has to be committed and applied here. */
  readonly hasUnapplied: boolean;
}

export class ProposalBatcher {
  readonly #timers: Timers;
  readonly #wake: () => void;
  #heldSinceMs: number | null = null;
  #willWake = false;

  /** `wake` runs a turn, at whose end `isDue` is asked again. */
  constructor(timers: Timers, wake: () => void) {
    this.#timers = timers;
    this.#wake = wake;
  }

  /** Whether to propose at the end of this turn. The caller then does so. */
  isDue({ proposals, hasUnapplied }: Prepared, nowMs: number): boolean {
    const since = this.#heldSinceMs ?? nowMs;
    const leftMs = LINGER_MS - (nowMs - since);
    const holds = hasUnapplied && proposals > 0 && proposals < BATCH_MIN && leftMs > 0;
    this.#heldSinceMs = holds ? since : null;
    // Timers count in whole milliseconds.
    if (holds) this.#wakeIn(Math.ceil(leftMs));
    return !holds;
  }

  /** Keeps one timer at a time. One of an earlier batch may fire early, which does no harm. */
  #wakeIn(ms: number): void {
    if (this.#willWake) return;
    this.#willWake = true;
    this.#timers.after(ms, () => {
      this.#willWake = false;
      if (this.#heldSinceMs !== null) this.#wake();
    });
  }
}
