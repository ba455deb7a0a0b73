/** The draw of a run: a function of the seed that overrides do not affect. */
import { describe, expect, it } from 'vitest';
import { FAULT_KINDS } from '../faults/index.js';
import { argumentsOf, optionsOf, readOnly } from './arguments.js';
import { drawOptions, type RunOptions } from './options.js';
import { planOf } from './plan.js';

const SEEDS = Array.from({ length: 500 }, (_, at) => at + 1);

describe('the draw of a run', () => {
  it('is the same for the same seed, and different for another', () => {
    expect(drawOptions(7)).toEqual(drawOptions(7));
    expect(planOf(drawOptions(7))).toEqual(planOf(drawOptions(7)));
    expect(planOf(drawOptions(7))).not.toEqual(planOf(drawOptions(8)));
  });

  it('uses every kind of fault and every size of ensemble, and stays within bounds', () => {
    const all = SEEDS.map(drawOptions);
    const kinds = new Set(all.flatMap((options) => planOf(options).map(({ kind }) => kind)));
    expect([...kinds].sort()).toEqual([...FAULT_KINDS.keys()].sort());
    expect(new Set(all.map(({ members }) => members))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7]));
    const authenticated = all.filter(({ settings }) => settings.peerAuth !== null).length;
    expect(authenticated / all.length).toBeCloseTo(0.25, 1);
    for (const options of all) {
      const { settings, faults, durationMs } = options;
      expect(settings.peerTimeoutMs).toBeGreaterThan(2 * settings.peerHeartbeatMs);
      expect(settings.minSessionTimeoutMs).toBeLessThanOrEqual(settings.maxSessionTimeoutMs);
      expect(faults).toBeLessThanOrEqual(60);
      expect(durationMs).toBeLessThanOrEqual(100_000);
      expect(planOf(options)).toHaveLength(faults);
    }
  });

  it('begins faults in the order of time and ends each of them', () => {
    for (const seed of SEEDS.slice(0, 50)) {
      const plan = planOf(drawOptions(seed));
      const begins = plan.map(({ atMs }) => atMs);
      expect(begins).toEqual(begins.toSorted((a, b) => a - b));
      for (const { forMs } of plan) expect(forMs).toBeGreaterThan(0);
    }
  });
});

describe('overrides', () => {
  const options = drawOptions(11);
  const plan = planOf(options);

  it('leave the other faults of a plan as they are', () => {
    const kept = plan.filter((_, at) => at % 2 === 0);
    expect(planOf({ ...options, only: kept.map(({ index }) => index) })).toEqual(kept);
    const half = options.durationMs / 2;
    const early = plan.filter(({ atMs }) => atMs < half);
    expect(planOf({ ...options, durationMs: half })).toEqual(early);
    expect(planOf({ ...options, members: 1, clients: { ...options.clients, count: 1 } })).toEqual(
      plan,
    );
    expect(planOf({ ...options, only: [] })).toEqual([]);
  });
});

describe('the arguments of a run', () => {
  it('consist of the seed if nothing was changed', () => {
    expect(argumentsOf(drawOptions(42))).toEqual(['--seed', '42']);
  });

  it('name what was changed', () => {
    const drawn = drawOptions(7);
    const changed: RunOptions = {
      ...drawn,
      only: [3, 5],
      members: 7,
      clients: { ...drawn.clients, count: 99 },
      durationMs: 1234,
    };
    const words = '--seed 7 --only 3,5 --members 7 --clients 99 --duration 1234';
    expect(argumentsOf({ ...changed, members: 7 }).join(' ')).toBe(
      drawn.members === 7 ? words.replace(' --members 7', '') : words,
    );
  });

  it('result in the same options again, whatever was changed', () => {
    for (const seed of SEEDS.slice(0, 50)) {
      const drawn = drawOptions(seed);
      const changed: RunOptions = {
        ...drawn,
        only: seed % 2 === 0 ? [] : [1, 2],
        kinds: ['crash', 'wipe'],
        clients: { ...drawn.clients, count: 3, readShare: 0.25, works: ['registers'] },
        tuning: { firstCounter: 2 ** 32 - 9 },
        network: { latencyMinMs: 1, latencyMaxMs: 2 },
      };
      expect(optionsOf(read(argumentsOf(changed)))).toEqual(changed);
    }
  });

  it('are refused when they name no option', () => {
    expect(() => optionsOf({ seed: 1, set: ['nothing=1'] })).toThrow('no option nothing');
    expect(() => optionsOf({ seed: 1, set: ['seed.x=1'] })).toThrow('seed has no fields');
    expect(() => readOnly('1,x')).toThrow('x is not the number of a fault');
    expect(readOnly('-')).toEqual([]);
  });
});

/** In the same way as main.ts does through commander. */
function read(words: readonly string[]) {
  const wordAfter = (name: string) => {
    const at = words.indexOf(name);
    return at < 0 ? undefined : words[at + 1];
  };
  const numberOf = (name: string) => {
    const value = wordAfter(name);
    return value === undefined ? undefined : Number(value);
  };
  const only = wordAfter('--only');
  return {
    seed: Number(wordAfter('--seed')),
    only: only === undefined ? undefined : readOnly(only),
    members: numberOf('--members'),
    clients: numberOf('--clients'),
    durationMs: numberOf('--duration'),
    set: words.flatMap((word, at) => (words[at - 1] === '--set' ? [word.slice(1, -1)] : [])),
  };
}
