/**
 * When a session was last heard of in time, for the checkers of expiry.
 *
 * Who was silent for longer than its timeout may be answered by its member once more and expire all
 * the same: the member tells the leader with its next heartbeat, and the leader may have decided by
 * then. So what is late counts for nothing until the leader must have been told and the session has
 * lived on. A member that stood still for so long answers nobody.
 */
export class LastHeard {
  readonly #timeoutMs: number;
  readonly #toldWithinMs: number;
  #atMs = 0;
  /** When the last answered request was sent, in time or not. */
  #sentAtMs = 0;
  /** What is sent before this follows one that was late, of which the leader may not know. */
  #doubtfulUntilMs = 0;

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
    if (sentAtMs <= this.#sentAtMs) return;
    const isLate = this.#sentAtMs > 0 && sentAtMs - this.#sentAtMs > this.#timeoutMs;
    this.#sentAtMs = sentAtMs;
    if (isLate) this.#doubtfulUntilMs = sentAtMs + this.#toldWithinMs;
    if (sentAtMs >= this.#doubtfulUntilMs) this.#atMs = sentAtMs;
  }
}
