/**
 * Which mutants a run takes: all, those that were named, or one of the numbered samples.
 * Pure.
 */
import { Random } from '../simulation/random.js';
import type { Mutant } from './mutant.js';

/** In the order of the catalogue; throws for a name that no mutant has. */
export function named(all: readonly Mutant[], names: readonly string[]): readonly Mutant[] {
  for (const name of names) {
    if (!all.some((mutant) => mutant.name === name)) throw new Error(`there is no mutant ${name}`);
  }
  return all.filter(({ name }) => names.includes(name));
}

/** This many of them; over the samples from 0 on, each comes once before any comes again. */
export function sampled(all: readonly Mutant[], count: number, sample: number): readonly Mutant[] {
  const shuffled = shuffle(all);
  const start = (sample * count) % Math.max(1, shuffled.length);
  return Array.from({ length: Math.min(count, all.length) }).flatMap(
    (_, index) => shuffled[(start + index) % shuffled.length] ?? [],
  );
}

/** The order is always the same: neighbours in the catalogue belong to one area. */
function shuffle(all: readonly Mutant[]): readonly Mutant[] {
  const random = new Random(1).fork('mutants');
  return all
    .map((mutant) => ({ mutant, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ mutant }) => mutant);
}
