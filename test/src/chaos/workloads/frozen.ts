/**
 * A client's surroundings that can stand still: no timer fires while frozen, so that it sends no
 * heartbeat, as if its process had been stopped; its session then ends at the server.
 */
import { randomUUID } from 'node:crypto';
import type { Surroundings } from '@rookery/client';

interface Waiting {
  readonly callback: () => void;
}

export class FreezableSurroundings implements Surroundings {
  readonly #due = new Set<Waiting>();
  #isFrozen = false;

  nowMs(): number {
    return performance.now();
  }

  setTimer(delayMs: number, callback: () => void): () => void {
    const waiting = { callback };
    const timer = setTimeout(() => {
      if (this.#isFrozen) this.#due.add(waiting);
      else callback();
    }, delayMs);
    return () => {
      clearTimeout(timer);
      this.#due.delete(waiting);
    };
  }

  random(): number {
    return Math.random();
  }

  uuid(): string {
    return randomUUID();
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  /** What came due meanwhile happens now. */
  thaw(): void {
    this.#isFrozen = false;
    for (const waiting of [...this.#due]) {
      // An earlier one may have cancelled it.
      if (this.#due.delete(waiting)) waiting.callback();
    }
  }
}
