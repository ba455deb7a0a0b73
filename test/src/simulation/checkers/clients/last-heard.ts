/**
 * Determines when a session was last heard from in time, for the checkers of expiry.
 *
 * A client that was silent for longer than its timeout may be answered by its member once more and
 * still expire: the member tells the leader with its next heartbeat, and the leader may have
 * decided by then. So a late request does not count until the leader must have been told and the
 * session still exists. A member that was stalled for so long answers nobody.
 */
export class LastHeard {
  readonly #timeoutMs: number;
  readonly #toldWithinMs: number;
  #atMs = 0;
  /** When the last answered request was sent, in time or not. */
  #sentAtMs = 0;
  /** Requests sent before this follow a late one, of which the leader may not know. */
  #doubtfulUntilMs = 0;

  constructor(setup: { readonly timeoutMs: number; readonly toldWithinMs: number }) {
    this.#timeoutMs = setup.timeoutMs;
    this.#toldWithinMs = setup.toldWithinMs;
  }

  /** When the last answered request was sent that was in time; 0 if there is none. */
  get atMs(): number {
    return this.#atMs;
  }

  /** Records that a request sent at this time has been answered. */
  hear(sentAtMs: number): void {
    if (sentAtMs <= this.#sentAtMs) return;
    const isLate = this.#sentAtMs > 0 && sentAtMs - this.#sentAtMs > this.#timeoutMs;
    this.#sentAtMs = sentAtMs;
    if (isLate) this.#doubtfulUntilMs = sentAtMs + this.#toldWithinMs;
    if (sentAtMs >= this.#doubtfulUntilMs) this.#atMs = sentAtMs;
  }
}
