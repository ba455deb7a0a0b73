/**
 * Tests the plan that follows from a seed.
 */
import { expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { NEMESES } from './nemeses/index.js';
import { Plan, type Step } from './plan.js';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

it('the same seed gives the same plan', () => {
  for (const seed of SEEDS) {
    const [a, b] = [stepsOf(seed, 60), stepsOf(seed, 60)];
    expect(a.map(drawn)).toEqual(b.map(drawn));
  }
  expect(stepsOf(1, 60).map(drawn)).not.toEqual(stepsOf(2, 60).map(drawn));
});

it('each nemesis comes once before any comes again', () => {
  for (const seed of SEEDS) {
    const steps = stepsOf(seed, 2 * NEMESES.length);
    for (const round of [steps.slice(0, NEMESES.length), steps.slice(NEMESES.length)]) {
      const names = round.map(({ strikes }) => strikes[0]?.nemesis);
      expect([...names].sort()).toEqual(NEMESES.map(({ name }) => name).sort());
    }
  }
});

it('what destroys data strikes alone', () => {
  const alone = NEMESES.filter((nemesis) => nemesis.isAlone === true).map(({ name }) => name);
  expect(alone).toEqual(['flipped-bit', 'flipped-while-serving', 'truncated-file', 'wiped-member']);
  const pairs = SEEDS.flatMap((seed) => stepsOf(seed, 100)).filter((s) => s.strikes.length > 1);
  expect(pairs.length).toBeGreaterThan(0);
  for (const { strikes } of pairs) {
    expect(strikes.filter(({ nemesis }) => alone.includes(nemesis))).toEqual([]);
    expect(strikes[0]?.nemesis).not.toBe(strikes[1]?.nemesis);
  }
});

it('every nemesis is struck once within ten minutes, if members come back within ten seconds', () => {
  const RECOVERY_MS = 10_000;
  for (const seed of SEEDS) {
    const steps = stepsOf(seed, NEMESES.length);
    const lengths = steps.map(({ calmMs, strikes }) => {
      return calmMs + Math.max(...strikes.map(({ holdMs }) => holdMs)) + RECOVERY_MS;
    });
    expect(lengths.reduce((sum, lengthMs) => sum + lengthMs, 0)).toBeLessThan(600_000);
  }
});

it('a single nemesis is a plan, too', () => {
  const plan = new Plan([{ name: 'kill-one' }], new Random(1));
  for (let i = 0; i < 20; i++) {
    expect(plan.next().strikes.map(({ nemesis }) => nemesis)).toEqual(['kill-one']);
  }
});

function stepsOf(seed: number, count: number): Step[] {
  const plan = new Plan(NEMESES, new Random(seed));
  return Array.from({ length: count }, () => plan.next());
}

function drawn({ calmMs, strikes }: Step) {
  return [calmMs, strikes.map(({ nemesis, holdMs, random }) => [nemesis, holdMs, random.next()])];
}
