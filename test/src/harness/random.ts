/**
 * Repeatable randomness: every test that makes random choices takes its seed from here.
 *
 * The seed is printed; it is the one of the test run (test-seed.ts). The choices are repeated, but
 * not the timing of the processes under test.
 */
import { randomInt } from 'node:crypto';
import { testSeed } from './test-seed.js';

export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** Uses the seed of the test run, which is printed with the name of the test. */
  static forTest(name: string): Random {
    const seed = testSeed();
    console.log(`${name}: seed ${seed} (ROOKERY_TEST_SEED=${seed} repeats its choices)`);
    return new Random(seed);
  }

  /** For commands that search for new failures: a different seed each time, unless one is given. */
  static forSearch(name: string): Random {
    process.env['ROOKERY_TEST_SEED'] ??= `${randomInt(2 ** 32)}`;
    return Random.forTest(name);
  }

  /** An integer from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor(this.#next() * limit);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const left = [...items];
    const shuffled: T[] = [];
    while (left.length > 0) shuffled.push(...left.splice(this.below(left.length), 1));
    return shuffled;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** mulberry32: a number in [0, 1). */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
}
