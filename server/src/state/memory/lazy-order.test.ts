/**
 * Goal: an order that is sorted only where it is read equals a full sort, and the first read looks
 * at each name a few times only. Method: enough names for several runs are read from random places
 * between random changes, and compared with a sorted set.
 */
import { describe, expect, it } from 'vitest';
import { NamedNodes } from '../../simulated/state/named-nodes.js';
import { LazyOrder } from './lazy-order.js';
import { KeyedRandom, KNOWN_PATH_KEY } from './path-hash.js';

/** A generator of its own, so that a seed gives the same run everywhere. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
function orderOf(names: Iterable<string>) {
  const nodes = new NamedNodes(names);
  return { nodes, order: new LazyOrder(nodes, nodes.children(), new KeyedRandom(KNOWN_PATH_KEY)) };
}
type Ordered = ReturnType<typeof orderOf>;

function add({ nodes, order }: Ordered, name: string): void {
  order.change(nodes.add(name), true);
}
function remove({ nodes, order }: Ordered, name: string): void {
  order.change(nodes.node(name), false);
  nodes.remove(name);
}
function take({ order }: Ordered, after: string, count: number): string[] {
  const names: string[] = [];
  for (const name of order.above(after)) {
    if (names.length === count) break;
    names.push(name);
  }
  return names;
}
function expected({ nodes }: Ordered, after: string, count: number): string[] {
  return nodes
    .names()
    .filter((name) => name > after)
    .sort()
    .slice(0, count);
}

describe('an order made where it is read', () => {
  it('equals a full sort, wherever it is read and whatever changes', () => {
    for (const seed of [1, 2, 3, 4]) {
      const random = randomOf(seed);
      const nameOf = () => `n${random(1 << 30).toString(36)}`;
      const ordered = orderOf(new Set(Array.from({ length: 20_000 }, nameOf)));
      const { nodes, order } = ordered;
      const first = order.count;
      for (let round = 0; round < 12; round++) {
        for (let change = random(60); change > 0; change--) {
          const name = change % 2 === 0 ? nameOf() : (take(ordered, nameOf(), 1)[0] ?? nameOf());
          if (nodes.has(name)) remove(ordered, name);
          else add(ordered, name);
        }
        const after = nameOf();
        const count = random(9_000);
        expect(take(ordered, after, count), `seed ${seed}`).toEqual(
          expected(ordered, after, count),
        );
      }
      expect(take(ordered, '', 30_000), `seed ${seed}`).toEqual(expected(ordered, '', 30_000));
      expect(order.count).toBe(nodes.names().length);
      expect(order.pendingCount).toBe(0);
      expect(order.bytes).toBe(16 * Math.max(first, order.count));
    }
  });

  it('equals a full sort where every sample is the smallest name that is left', () => {
    const nodes = new NamedNodes(Array.from({ length: 31 * 1_000 }, (_, index) => `n${index}`));
    const random = Object.assign(new KeyedRandom(KNOWN_PATH_KEY), { below: () => 0 });
    const ordered = { nodes, order: new LazyOrder(nodes, nodes.children(), random) };
    expect(take(ordered, 'n15', 5_000)).toEqual(expected(ordered, 'n15', 5_000));
    expect(take(ordered, '', 40_000)).toEqual(expected(ordered, '', 40_000));
  });

  it('accepts changes where nothing was read yet, and undoes them', () => {
    const ordered = orderOf(Array.from({ length: 10_000 }, (_, index) => `n${index}`));
    remove(ordered, 'n5');
    // It gets the number of the one that is gone, before anybody has read.
    add(ordered, 'n5');
    remove(ordered, 'n5000');
    expect(ordered.order.pendingCount).toBe(2);
    expect(take(ordered, 'n4999', 4)).toEqual(['n5', 'n50', 'n500', 'n5001']);
    expect(ordered.order.pendingCount).toBe(0);
  });

  it('keeps no memory for names that are long gone', () => {
    let made = 0;
    const nextName = () => `n${String(made++).padStart(9, '0')}`;
    const ordered = orderOf(Array.from({ length: 20_000 }, nextName));
    for (let round = 0; round < 60; round++) {
      const all = take(ordered, '', 30_000);
      expect(all.length).toBe(20_000);
      expect(all).toEqual([...all].sort());
      for (const name of all.slice(0, 5_000)) remove(ordered, name);
      for (let count = 0; count < 5_000; count++) add(ordered, nextName());
      if (round % 7 === 0) take(ordered, all[5_000 + round] ?? '', 10);
    }
    expect(take(ordered, '', 30_000).at(-1)).toBe(`n${String(made - 1).padStart(9, '0')}`);
    // Each run holds more than a sixteenth of 1024 names when it is made, and there are 20,000.
    expect(ordered.order.runCount).toBeLessThan(320);
  });
});

describe('the memory of an order', () => {
  it('is never told as less than that of its children at first', () => {
    const ordered = orderOf(Array.from({ length: 20_000 }, (_, n) => `n${n}`));
    const { order, nodes } = ordered;
    expect(order.bytes).toBe(16 * 20_000);
    for (const name of take(ordered, '', 19_000)) remove(ordered, name);
    // Those that are left were read and not replaced, so they lie where all the others did.
    expect([order.count, take(ordered, '', 1).length]).toEqual([1_000, 1]);
    expect(order.bytes - 40 * order.pendingCount).toBe(16 * 20_000);
    const more = Array.from({ length: 30_000 }, (_, n) => `more${n}`);
    for (const name of more) add(ordered, name);
    expect(order.bytes - 40 * order.pendingCount).toBe(16 * nodes.names().length);
  });
});

describe('the work of a read', () => {
  const NAMES = 40_000;
  /** Names in an order that is far from theirs: 40,000 and 7,919 have no common divisor. */
  const scattered = () =>
    Array.from({ length: NAMES }, (_, n) => `n${String((n * 7_919) % NAMES).padStart(7, '0')}`);

  it('is one look at each name at first, and at few of them later', () => {
    const ordered = orderOf(scattered());
    const { nodes } = ordered;
    // The keys are made of all names.
    expect(nodes.looked).toBe(NAMES);
    expect(take(ordered, 'n0020', 101)[0]).toBe('n0020000');
    expect(nodes.looked).toBeLessThan(1.1 * NAMES);
    nodes.looked = 0;
    expect(take(ordered, 'n0020', 101)[100]).toBe('n0020100');
    expect(nodes.looked).toBeLessThan(100);
    remove(ordered, 'n0020050');
    add(ordered, 'n0020x');
    nodes.looked = 0;
    expect(take(ordered, 'n0020049', 1)).toEqual(['n0020051']);
    expect(nodes.looked).toBeLessThan(100);
  });

  it('is a few looks at each name, although the names were chosen for where they lie', () => {
    // Those at the places of 31 even steps are the smallest ones; keys decide nothing of others.
    const step = Math.floor(NAMES / 31);
    const ordered = orderOf(
      scattered().map((name, at) => (at % step === 0 ? `a${name}` : `b${'x'.repeat(20)}${name}`)),
    );
    ordered.nodes.looked = 0;
    expect(take(ordered, 'b', 101)).toEqual(expected(ordered, 'b', 101));
    expect(ordered.nodes.looked).toBeLessThan(5 * NAMES);
  });

  it('is never more than that of one sort, also where keys decide nothing', () => {
    // All names begin alike, but for one that a sample meets.
    const names = ['a', ...scattered().map((name) => `${'x'.repeat(20)}${name}`)];
    const ordered = orderOf(names);
    for (let at = 0; at < NAMES; at += 5_000) {
      take(ordered, `${'x'.repeat(20)}n${String(at).padStart(7, '0')}`, 10);
    }
    expect(take(ordered, '', names.length + 1)).toEqual([...names].sort());
    // Two looks in each comparison, and 16 of those for a name in a sort of 40,000.
    expect(ordered.nodes.looked).toBeLessThan(2 * 16 * NAMES);
    expect(ordered.nodes.looked).toBeGreaterThan(2 * NAMES);
  });
});
