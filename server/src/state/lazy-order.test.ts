/**
 * Goal: an order that is sorted only where it is read equals a full sort. Method: enough names for
 * several runs are read from random places between random changes, and compared with a sorted set.
 */
import { describe, expect, it } from 'vitest';
import { LazyOrder } from './lazy-order.js';

/** A generator of its own, so that a seed gives the same run everywhere. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
function take(order: LazyOrder, after: string, count: number): string[] {
  const names: string[] = [];
  for (const name of order.above(after)) {
    if (names.length === count) break;
    names.push(name);
  }
  return names;
}
function expected(names: Iterable<string>, after: string, count: number): string[] {
  return [...names]
    .filter((name) => name > after)
    .sort()
    .slice(0, count);
}

describe('an order made where it is read', () => {
  it('equals a full sort, wherever it is read and whatever changes', () => {
    for (const seed of [1, 2, 3, 4]) {
      const random = randomOf(seed);
      const nameOf = () => `n${random(1 << 30).toString(36)}`;
      const names = new Set(Array.from({ length: 20_000 }, nameOf));
      const order = new LazyOrder([...names]);
      for (let round = 0; round < 12; round++) {
        for (let change = random(60); change > 0; change--) {
          const name = change % 2 === 0 ? nameOf() : (take(order, nameOf(), 1)[0] ?? nameOf());
          const exists = !names.has(name);
          if (exists) names.add(name);
          else names.delete(name);
          order.change(name, exists);
        }
        const after = nameOf();
        const count = random(9_000);
        expect(take(order, after, count), `seed ${seed}`).toEqual(expected(names, after, count));
      }
      expect(take(order, '', 30_000), `seed ${seed}`).toEqual(expected(names, '', 30_000));
      expect(order.count).toBe(names.size);
      expect(order.pendingCount).toBe(0);
      const bytes = [...names].reduce((sum, name) => sum + 40 + name.length, 0);
      expect(order.bytes).toBe(bytes);
    }
  });

  it('equals a full sort for names that defeat its pivot guesses', () => {
    // The smallest names are where the pivot candidates are taken: each cut takes off very few.
    const names = Array.from({ length: 31 * 1_000 }, (_, index) =>
      index % 1_000 === 0 ? `a${index}` : `b${(index * 7_919) % 31_000}`,
    );
    const order = new LazyOrder([...names]);
    expect(take(order, 'b15', 5_000)).toEqual(expected(names, 'b15', 5_000));
    expect(take(order, '', 40_000)).toEqual([...names].sort());
  });

  it('accepts changes where nothing was read yet, and undoes them', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
    const order = new LazyOrder([...names]);
    order.change('n5', false);
    order.change('n5', true);
    order.change('n5000', false);
    expect(order.pendingCount).toBe(2);
    expect(take(order, 'n4999', 4)).toEqual(['n5', 'n50', 'n500', 'n5001']);
    expect(order.pendingCount).toBe(0);
  });

  it('keeps no memory for names that are long gone', () => {
    let made = 0;
    const nextName = () => `n${String(made++).padStart(9, '0')}`;
    const order = new LazyOrder(Array.from({ length: 20_000 }, nextName));
    for (let round = 0; round < 60; round++) {
      const all = take(order, '', 30_000);
      expect(all.length).toBe(20_000);
      expect(all).toEqual([...all].sort());
      for (const name of all.slice(0, 5_000)) order.change(name, false);
      for (let count = 0; count < 5_000; count++) order.change(nextName(), true);
      if (round % 7 === 0) take(order, all[5_000 + round] ?? '', 10);
    }
    expect(take(order, '', 30_000).at(-1)).toBe(`n${String(made - 1).padStart(9, '0')}`);
    // Each run holds more than a sixteenth of 4096 names when it is made, and there are 20,000.
    expect(order.runCount).toBeLessThan(80);
  });
});
