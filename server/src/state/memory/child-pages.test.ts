/**
 * Goal: a client that pages through a large directory while it changes gets every name that stays
 * exactly once, in order, and pages in a row cost one pass over the directory. Method: rows of a
 * directory larger than a window, compared with a sorted set; comparisons of names are counted.
 */
import { describe, expect, it, vi } from 'vitest';
import { ChildPages } from './child-pages.js';
import { INT, linkChild, NONE, NodeStore, unlinkChild } from './node-store.js';
import { KeyedRandom, KNOWN_PATH_KEY } from './path-hash.js';
import { Payloads } from './payloads.js';

const ROOMY = 1 << 20;
/** More than two windows. */
const MANY = 50_000;

class Directory {
  readonly names = new Set<string>();
  readonly payloads: Payloads;
  readonly node: number;
  readonly #store = new NodeStore();
  readonly #pages: ChildPages;
  readonly #nodes = new Map<string, number>();

  constructor(names: Iterable<string>) {
    this.payloads = new Payloads(this.#store);
    this.#pages = new ChildPages(this.#store, this.payloads, new KeyedRandom(KNOWN_PATH_KEY));
    this.node = this.#newRow();
    for (const name of names) this.add(name);
  }

  add(name: string): void {
    const child = this.#newRow();
    this.payloads.write(child, `/d/${name}`, null);
    linkChild(this.#store, this.node, child);
    this.#nodes.set(name, child);
    this.names.add(name);
    this.#pages.changed(this.node, child, true);
  }

  remove(name: string): void {
    const child = this.#nodes.get(name) ?? NONE;
    unlinkChild(this.#store, this.node, child);
    this.#pages.changed(this.node, child, false);
    this.payloads.free(child);
    this.#store.release(child);
    this.names.delete(name);
  }

  page(startAfter: string, limit: number, bytesMax = ROOMY) {
    return this.#pages.page(this.node, { startAfter, limit, bytesMax });
  }

  forget(): void {
    this.#pages.forget(this.node);
  }

  expectPage(startAfter: string, limit: number): void {
    const behind = [...this.names].filter((name) => name > startAfter).sort();
    const page = this.page(startAfter, limit, 8 * ROOMY);
    expect(page).toEqual({ names: behind.slice(0, limit), more: behind.length > limit });
  }

  #newRow(): number {
    const node = this.#store.allocate();
    this.#store.setInt(node, INT.parent, NONE);
    this.#store.setInt(node, INT.firstChild, NONE);
    return node;
  }
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `n${String(index).padStart(6, '0')}`);
}

const ORDERS = {
  ascending: (names: string[]) => names,
  descending: (names: string[]) => names.reverse(),
  mixed: (names: string[]) => names.map((_, at) => names[(at * 7_919) % names.length] ?? ''),
} as const;

describe.each(Object.entries(ORDERS))('a directory made in %s order', (_, inOrder) => {
  it('is listed in order, each name that stays once, while others come and go', () => {
    const all = numbered(MANY);
    const directory = new Directory(inOrder([...all]));
    const changed = new Set<string>();
    const got: string[] = [];
    for (let more = true; more; ) {
      const page = directory.page(got.at(-1) ?? '', 3_000);
      got.push(...page.names);
      more = page.more;
      for (const distance of [-5, 7, 30_000]) {
        const name = all[got.length + distance];
        if (name === undefined || changed.has(name)) continue;
        directory.remove(name);
        directory.add(`${name}x`);
        changed.add(name).add(`${name}x`);
      }
    }
    expect(got).toEqual([...new Set(got)].sort());
    const unchanged = (names: readonly string[]) => names.filter((name) => !changed.has(name));
    expect(unchanged(got)).toEqual(unchanged(all));
  });
});

describe('a page', () => {
  it('ends before its names take too many bytes, but has at least one', () => {
    for (const others of [0, 2_000]) {
      const directory = new Directory(['aaaa', 'bbbb', 'ää', ...numbered(others)]);
      expect(directory.page('', 9, 16)).toEqual({ names: ['aaaa', 'bbbb'], more: true });
      expect(directory.page('', 9, 15)).toEqual({ names: ['aaaa'], more: true });
      expect(directory.page('', 9, 1)).toEqual({ names: ['aaaa'], more: true });
      expect(directory.page('n999999', 9, 8)).toEqual({ names: ['ää'], more: false });
    }
  });

  it('may be larger than a window', () => {
    new Directory(numbered(MANY)).expectPage('n000010', 45_000);
  });

  it('is right where names are so long that few of them fill a window', () => {
    const long = numbered(1_200).map((name) => name.padEnd(8_000, '-'));
    const directory = new Directory(ORDERS.descending(long));
    for (const startAfter of ['', 'n000400', 'n001190']) directory.expectPage(startAfter, 100);
  });

  it('is right where most names come behind those that were looked at to guess its end', () => {
    const directory = new Directory([
      ...numbered(1_500),
      ...numbered(30).map((name) => `z${name}`),
    ]);
    for (const name of numbered(1_500).slice(10)) directory.remove(name);
    for (const name of numbered(2_000)) directory.add(`y${name}`);
    directory.expectPage('', 1_000);
    directory.expectPage('n000005', 2_000);
  });
});

describe('the pages of a large directory', () => {
  it('cost one pass over its names for each window', () => {
    const directory = new Directory(numbered(MANY));
    const compared = vi.spyOn(directory.payloads, 'compareName');
    directory.page('', 1_000);
    expect(compared).toHaveBeenCalled();
    compared.mockClear();
    for (const startAfter of ['n000999', 'n001999', 'n000500']) directory.page(startAfter, 1_000);
    expect(compared).not.toHaveBeenCalled();
    // Far behind the window there is another one; both stay.
    directory.page('n045000', 1_000);
    expect(compared).toHaveBeenCalled();
    compared.mockClear();
    directory.page('n000000', 1_000);
    directory.page('n046000', 1_000);
    expect(compared).not.toHaveBeenCalled();
  });

  it('cost a change nothing once a thousand came without a page, or the directory is gone', () => {
    const directory = new Directory(numbered(2_000));
    const named = vi.spyOn(directory.payloads, 'name');
    const costs = (name: string) => {
      named.mockClear();
      directory.add(name);
      return named.mock.calls.length;
    };
    directory.page('', 1);
    expect(costs('a')).toBe(1);
    for (const name of numbered(1_000)) directory.add(`${name}x`);
    expect(costs('b')).toBe(0);
    directory.expectPage('', 100);
    expect(costs('c')).toBe(1);
    directory.forget();
    expect(costs('d')).toBe(0);
  });
});
