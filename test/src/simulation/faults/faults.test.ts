/**
 * Every kind of fault, on a world that records its calls: each fault undoes what it began, whatever
 * its random numbers, and strikes only where the design survives it. The random numbers are seeded;
 * the seed is in the message.
 */
import { describe, expect, it } from 'vitest';
import type { PlannedFault } from '../contract/fault.js';
import { Random } from '../random.js';
import { FakeStage, FakeWorld } from './fake-world.js';
import { minorityOf } from './guard.js';
import { CLOCK_DRIFT, DICE_COUNT, FAULT_KINDS } from './index.js';

const SEEDS = Array.from({ length: 40 }, (_, at) => at + 1);

function faultOf(kind: string, seed: number): PlannedFault {
  const random = new Random(seed).fork(kind);
  const dice = Array.from({ length: DICE_COUNT }, () => random.next());
  return { index: 1, kind, atMs: 0, forMs: 100, dice };
}

describe.each([...FAULT_KINDS.values()])('the fault $name', (kind) => {
  it('undoes what it began and restarts the members that it brought down', () => {
    for (const seed of SEEDS) {
      for (const members of [1, 2, 3, 5, 7]) {
        const world = new FakeWorld(members);
        const stage = new FakeStage(world);
        const ends = kind.begin(world, faultOf(kind.name, seed), stage);
        const where = `${kind.name} seed ${seed} members ${members}`;
        for (let i = 0; i < 3; i++) stage.runLater();
        expect(world.struck.size, where).toBeLessThanOrEqual(minorityOf(members));
        for (const rate of world.rates.values()) {
          expect(Math.abs(rate - 1), where).toBeLessThanOrEqual(CLOCK_DRIFT);
        }
        if (typeof ends === 'string') continue;
        ends();
        for (let i = 0; i < 5; i++) stage.runLater();
        expect([...world.up].sort(), where).toEqual(world.ids);
        expect([...world.cuts], where).toEqual([]);
        expect([...world.clientCuts], where).toEqual([]);
        expect([...world.full, ...world.low], where).toEqual([]);
        expect([...world.misconfigured, ...world.hanging], where).toEqual([]);
        expect(
          [...world.delays.values()].filter((ms) => ms !== 0),
          where,
        ).toEqual([]);
        expect(
          [...world.slow.values()].filter((ms) => ms !== 0),
          where,
        ).toEqual([]);
        expect(
          [...world.rates.values()].filter((rate) => rate !== 1),
          where,
        ).toEqual([]);
      }
    }
  });

  it('does something on three members with most random numbers', () => {
    const done = SEEDS.filter((seed) => {
      const world = new FakeWorld(3);
      return typeof kind.begin(world, faultOf(kind.name, seed), new FakeStage(world)) !== 'string';
    });
    expect(done.length).toBeGreaterThan(SEEDS.length / 2);
  });

  it('never names a member that does not exist, and none twice', () => {
    for (const seed of SEEDS) {
      const world = new FakeWorld(4);
      const ends = kind.begin(world, faultOf(kind.name, seed), new FakeStage(world));
      if (typeof ends !== 'string') ends();
      for (const call of world.calls) expect(call).not.toMatch(/undefined|NaN/);
      for (const link of world.cuts) expect(link).toMatch(/^([1-4])>(?!\1)[1-4]$/);
    }
  });
});

describe('strikes', () => {
  it.each(['wipe', 'flip-bit', 'cut-log'])(
    '%s strikes every victim after it was brought down',
    (name) => {
      for (const seed of SEEDS) {
        const world = new FakeWorld(7);
        const kind = FAULT_KINDS.get(name);
        expect(typeof kind?.begin(world, faultOf(name, seed), new FakeStage(world))).toBe(
          'function',
        );
        expect(world.struck.size).toBeGreaterThan(0);
        for (const id of world.struck) expect(world.calls).toContain(`crash ${id}`);
      }
    },
  );

  it('are omitted if none changes anything, and their victims come back', () => {
    class EmptyDisks extends FakeWorld {
      override flipBit(): boolean {
        return false;
      }
    }
    const world = new EmptyDisks(5);
    const stage = new FakeStage(world);
    const kind = FAULT_KINDS.get('flip-bit');
    expect(kind?.begin(world, faultOf('flip-bit', 1), stage)).toContain('no record');
    stage.runLater();
    expect([...world.up].sort()).toEqual(world.ids);
  });

  it('reach every member, alone and together with others', () => {
    const struck = SEEDS.map((seed) => {
      const world = new FakeWorld(5);
      FAULT_KINDS.get('wipe')?.begin(world, faultOf('wipe', seed), new FakeStage(world));
      return [...world.struck].sort();
    });
    expect(new Set(struck.flat()).size).toBe(5);
    expect(new Set(struck.map((ids) => ids.length))).toEqual(new Set([1, 2]));
  });
});
