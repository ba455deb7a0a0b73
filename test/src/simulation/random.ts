/**
 * The simulator's only source of randomness: numbers that depend on a seed alone.
 *
 * `fork` returns a stream of its own for each part of a run, so that omitting a fault does not
 * change what the network or the clients do.
 */
import { seededRandom } from '../simulated.js';

export class Random {
  readonly #seed: number;
  readonly #next: () => number;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
    this.#next = seededRandom(this.#seed);
  }

  /** The same stream for the same seed and label, whatever was drawn before. */
  fork(label: string): Random {
    let mixed = this.#seed ^ 0x811c9dc5;
    for (let i = 0; i < label.length; i++) {
      mixed = Math.imul(mixed ^ label.charCodeAt(i), 0x01000193);
    }
    return new Random(mixed ^ (mixed >>> 15));
  }

  /** A number in [0, 1). */
  next(): number {
    return this.#next();
  }

  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  /** A number in [low, high). */
  between(low: number, high: number): number {
    return low + this.#next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }
}
