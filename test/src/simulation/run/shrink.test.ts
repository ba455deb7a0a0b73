/** Shrinking, with runs that are made up: the test determines which of them fail. */
import { describe, expect, it } from 'vitest';
import { drawOptions, type RunOptions } from './options.js';
import { planOf } from './plan.js';
import { shrink } from './shrink.js';
import type { RunResult } from './verdict.js';

/** A draw with many faults, clients and members. */
const START: RunOptions = {
  ...drawOptions(3),
  members: 7,
  faults: 40,
  durationMs: 20_000,
  spreadMs: 20_000,
  clients: { ...drawOptions(3).clients, count: 9 },
};

function resultOf(property: string | null, simulatedMs = 15_000): RunResult {
  return {
    failure: property === null ? null : { property, message: property },
    requests: 0,
    simulatedMs,
    convergedAfterMs: 0,
    quorumServedAfterMs: 0,
    orders: 0,
    digest: '',
    counts: {
      invocations: 0,
      replies: 0,
      unanswered: 0,
      watchEvents: 0,
      overheard: 0,
      sessions: 0,
      steps: 0,
      applied: 0,
    },
    begun: new Map(),
    leftOut: new Map(),
    marks: new Map(),
  };
}

async function shrunk(propertyOf: (options: RunOptions) => string | null, runsMax = 1000) {
  const tried: RunOptions[] = [];
  const run = async (options: RunOptions) => {
    tried.push(options);
    return resultOf(propertyOf(options));
  };
  const { options, result, runs } = await shrink(START, resultOf(propertyOf(START)), {
    run,
    runsMax,
  });
  expect(result.failure?.property).toBe('p');
  expect(runs).toBe(tried.length);
  return { options, runs };
}

function indicesOf(options: RunOptions): number[] {
  return planOf(options)
    .map(({ index }) => index)
    .sort((a, b) => a - b);
}

describe('shrinking', () => {
  it('keeps exactly the faults that the failure needs', async () => {
    const needed = indicesOf({ ...START, durationMs: 15_000 }).filter((_, at) => at % 7 === 2);
    expect(needed.length).toBeGreaterThan(2);
    const { options } = await shrunk((tried) => {
      const there = new Set(indicesOf(tried));
      return needed.every((index) => there.has(index)) ? 'p' : null;
    });
    expect(indicesOf(options)).toEqual(needed);
    expect(options.clients.count).toBe(1);
    expect(options.members).toBe(1);
  });

  it('leaves no fault, one client and one member if no more is needed', async () => {
    const { options } = await shrunk(() => 'p');
    expect(indicesOf(options)).toEqual([]);
    expect([options.clients.count, options.members, options.durationMs]).toEqual([1, 1, 100]);
  });

  it('does not accept a different failure as the same', async () => {
    const { options } = await shrunk((tried) => {
      if (tried.members < 5 || tried.clients.count < 4) return 'another';
      return tried.durationMs < 7_000 ? null : 'p';
    });
    expect([options.members, options.clients.count]).toEqual([5, 4]);
    expect(options.durationMs).toBeGreaterThanOrEqual(7_000);
    expect(options.durationMs).toBeLessThan(8_000);
  });

  it('stops after the given number of runs with the smallest run that failed', async () => {
    const { runs, options } = await shrunk((tried) => (tried.members === 7 ? 'p' : null), 5);
    expect(runs).toBe(5);
    expect(indicesOf(options)).toEqual([]);
  });

  it('refuses a run that has passed', async () => {
    const setup = { run: async () => resultOf(null), runsMax: 1 };
    await expect(shrink(START, resultOf(null), setup)).rejects.toThrow('cannot be shrunk');
  });
});
