/**
 * When a client next does, without being asked, what real clients do at times: it vanishes, moves,
 * or closes.
 */
import type { Timers } from '../../simulated.js';
import type { Random } from '../random.js';
import type { ClientOptions } from './options.js';

const CAPRICES = ['vanish', 'move', 'close'] as const;
export type Caprice = (typeof CAPRICES)[number];

export class Caprices {
  readonly #timers: Timers;
  readonly #random: Random;
  readonly #everyMs: Readonly<Record<Caprice, number>>;
  readonly #nextAtMs = { vanish: 0, move: 0, close: 0 };

  constructor(timers: Timers, random: Random, options: ClientOptions) {
    this.#timers = timers;
    this.#random = random;
    const { vanishEveryMs, moveEveryMs, closeEveryMs } = options;
    this.#everyMs = { vanish: vanishEveryMs, move: moveEveryMs, close: closeEveryMs };
  }

  planAll(): void {
    for (const caprice of CAPRICES) this.plan(caprice);
  }

  /** Draws the next time of this kind. */
  plan(caprice: Caprice): void {
    const everyMs = this.#everyMs[caprice];
    const inMs = everyMs === 0 ? Number.POSITIVE_INFINITY : this.#random.between(0, 2 * everyMs);
    this.#nextAtMs[caprice] = this.#timers.nowMs() + inMs;
  }

  get due(): Caprice | undefined {
    const nowMs = this.#timers.nowMs();
    return CAPRICES.find((caprice) => nowMs >= this.#nextAtMs[caprice]);
  }
}
