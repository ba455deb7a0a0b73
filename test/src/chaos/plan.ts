/**
 * Decides which nemesis strikes when, from the seed alone and without end.
 *
 * Each nemesis comes once before any comes again. Sometimes a second one strikes at the same time.
 * The plan is pure; how far a run gets with it depends on how long the members need to recover.
 */
import type { Random } from '../simulation/random.js';
import { shuffled } from './nemeses/victims.js';

export interface Strike {
  readonly nemesis: string;
  readonly holdMs: number;
  /** The source of the nemesis's own choices. */
  readonly random: Random;
}

export interface Step {
  /** How long all members are well before the step. */
  readonly calmMs: number;
  /** One strike, or two at the same time. */
  readonly strikes: readonly Strike[];
}

export interface Planned {
  readonly name: string;
  readonly isAlone?: true;
}

const CALM_MS = { min: 1_500, max: 4_000 } as const;
/**
 * How long a fault lasts: from less than members need to notice it, to more than a session lives.
 */
const LINGER_MS = { min: 700, max: 9_000 } as const;
const SECOND_STRIKE = 1 / 4;

export class Plan {
  readonly #nemeses: readonly Planned[];
  readonly #random: Random;
  #steps = 0;
  #bag: Planned[] = [];

  constructor(nemeses: readonly Planned[], random: Random) {
    if (nemeses.length === 0) throw new Error('no nemesis to plan with');
    this.#nemeses = nemeses;
    this.#random = random;
  }

  next(): Step {
    const random = this.#random.fork(`step ${this.#steps++}`);
    if (this.#bag.length === 0) this.#bag = shuffled(this.#nemeses, random);
    const first = this.#bag.pop();
    if (first === undefined) throw new Error('the bag was filled above');
    const names = [first.name];
    const seconds = this.#nemeses.filter((n) => n !== first && n.isAlone !== true);
    const hasSecond = first.isAlone !== true && seconds.length > 0;
    if (hasSecond && random.chance(SECOND_STRIKE)) names.push(random.pick(seconds).name);
    return {
      calmMs: random.between(CALM_MS.min, CALM_MS.max),
      strikes: names.map((nemesis, index) => ({
        nemesis,
        // A time between one second and two is as likely as one between four and eight.
        holdMs: LINGER_MS.min * (LINGER_MS.max / LINGER_MS.min) ** random.next(),
        random: random.fork(`strike ${index}`),
      })),
    };
  }
}
