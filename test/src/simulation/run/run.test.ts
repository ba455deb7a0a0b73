/**
 * Small complete runs: each has the same digest twice and holds all properties, and a property that
 * is made to break is found, reported and replayed.
 */
import { describe, expect, it } from 'vitest';
import { type NewChecker, PropertyBroken } from '../contract/checker.js';
import { optionsOf } from './arguments.js';
import { runOne } from './run.js';

/** Every kind of fault is on; small enough for the unit tests. */
const SMALL = {
  durationMs: 3_000,
  clients: 2,
  set: ['spreadMs=3000', 'faults=8', 'clients.outstandingMax=4', 'clients.thinkMaxMs=5'],
};

/** Breaks the first time that anything is committed after this moment. */
const neverApplies: NewChecker = () => ({
  property: 'nothing is applied after a second',
  onApplied: ({ atMs, zxid }) => {
    if (atMs > 1000) throw new PropertyBroken('nothing is applied after a second', `${zxid} was`);
  },
});

describe('a run', () => {
  it.each([1, 2, 3, 5])('of seed %i is the same twice, and holds all properties', async (seed) => {
    const options = optionsOf({ ...SMALL, seed });
    const lines: string[] = [];
    const first = await runOne(options);
    const second = await runOne(options, { trace: (line) => void lines.push(line) });
    expect(first.failure).toBeNull();
    expect(second).toEqual(first);
    expect(first.requests).toBeGreaterThan(20);
    expect(lines.length).toBeGreaterThan(first.orders);
  });

  it('has the same trace twice, to the byte, whatever has run in between', async () => {
    const trace = async (seed: number) => {
      const lines: string[] = [];
      await runOne(optionsOf({ ...SMALL, seed }), { trace: (line) => void lines.push(line) });
      return lines.join('\n');
    };
    const first = await trace(4);
    await trace(3);
    // Not toBe, because nobody reads a difference of megabytes.
    expect((await trace(4)) === first).toBe(true);
  });

  it('has another digest for another seed, and for one fault fewer', async () => {
    const options = optionsOf({ ...SMALL, seed: 3, members: 3 });
    const digests = [
      await runOne(options),
      await runOne({ ...options, only: [] }),
      await runOne({ ...options, seed: 4 }),
    ].map(({ digest }) => digest);
    expect(new Set(digests).size).toBe(3);
  });

  it('ends at the first broken property with its name', async () => {
    const options = optionsOf({ ...SMALL, seed: 3, members: 3, only: [] });
    const { failure, simulatedMs } = await runOne(options, { checkers: [neverApplies] });
    expect(failure?.property).toBe('nothing is applied after a second');
    expect(simulatedMs).toBeGreaterThan(1000);
    expect(simulatedMs).toBeLessThan(1500);
  });

  it('fails, and does not reject, where something throws that nobody catches', async () => {
    const options = optionsOf({ ...SMALL, seed: 3, members: 3, only: [] });
    const trace = (line: string) => {
      if (line.includes('all is healed')) throw new Error('thrown by hand 17');
    };
    const { failure } = await runOne(options, { trace });
    expect(failure?.property).toBe('invariant: thrown by hand #');
  });
});
