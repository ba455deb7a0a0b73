/**
 * Timers of a client that can be frozen. No timer fires meanwhile, so the client sends no
 * heartbeat, as if its process had been stopped, and its session expires at the server.
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

  /** Fires the timers that have become due meanwhile. */
  thaw(): void {
    this.#isFrozen = false;
    for (const waiting of [...this.#due]) {
      // An earlier timer may have cancelled this one.
      if (this.#due.delete(waiting)) waiting.callback();
    }
  }
}
