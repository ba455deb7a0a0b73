/**
 * When a client next does, without being asked, what real clients do at times: it vanishes, moves,
 * or closes.
 */
import type { Timers } from '../../simulated.js';
import type { Random } from '../random.js';
import type { ClientOptions } from './options.js';

const RANDOM_ACTS = ['vanish', 'move', 'close'] as const;
export type RandomAct = (typeof RANDOM_ACTS)[number];

export class RandomActs {
  readonly #timers: Timers;
  readonly #random: Random;
  readonly #everyMs: Readonly<Record<RandomAct, number>>;
  readonly #nextAtMs = { vanish: 0, move: 0, close: 0 };

  constructor(timers: Timers, random: Random, options: ClientOptions) {
    this.#timers = timers;
    this.#random = random;
    const { vanishEveryMs, moveEveryMs, closeEveryMs } = options;
    this.#everyMs = { vanish: vanishEveryMs, move: moveEveryMs, close: closeEveryMs };
  }

  planAll(): void {
    for (const act of RANDOM_ACTS) this.plan(act);
  }

  /** Draws the next time of this kind. */
  plan(act: RandomAct): void {
    const everyMs = this.#everyMs[act];
    const inMs = everyMs === 0 ? Number.POSITIVE_INFINITY : this.#random.between(0, 2 * everyMs);
    this.#nextAtMs[act] = this.#timers.nowMs() + inMs;
  }

  get due(): RandomAct | undefined {
    const nowMs = this.#timers.nowMs();
    return RANDOM_ACTS.find((act) => nowMs >= this.#nextAtMs[act]);
  }
}
