/**
 * When a session was last heard of in time, for the checkers of expiry.
 *
 * Who was silent for longer than its timeout may be answered by its member once more and expire all
 * the same: the member tells the leader with its next heartbeat, and the leader may have decided by
 * then. So what is late counts for nothing until the leader must have been told and the session has
 * lived on.
 */
export class LastHeard {
  readonly #timeoutMs: number;
  readonly #toldWithinMs: number;
  #atMs = 0;
  /** The first one of those that were late; 0 for none. */
  #lateAtMs = 0;

  constructor(setup: { readonly timeoutMs: number; readonly toldWithinMs: number }) {
    this.#timeoutMs = setup.timeoutMs;
    this.#toldWithinMs = setup.toldWithinMs;
  }

  /** When the last answered request was sent that was in time; 0 for none. */
  get atMs(): number {
    return this.#atMs;
  }

  /** A request that was sent at this time has been answered. */
  hear(sentAtMs: number): void {
    if (sentAtMs <= this.#atMs) return;
    const isLate = this.#atMs > 0 && sentAtMs - this.#atMs > this.#timeoutMs;
    if (!isLate) this.#atMs = sentAtMs;
    else if (this.#lateAtMs === 0) this.#lateAtMs = sentAtMs;
    else if (sentAtMs - this.#lateAtMs >= this.#toldWithinMs) {
      this.#atMs = sentAtMs;
      this.#lateAtMs = 0;
    }
  }
}
