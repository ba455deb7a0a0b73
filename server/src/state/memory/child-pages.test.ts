/**
 * Goal: a client that pages through a directory while it changes gets every name that stayed
 * exactly once, in order, and no name that was never there. Method: compare directories of each
 * size class with a sorted list. The class is forced by the count that the directory reports and by
 * how much may be kept.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NamedNodes } from '../../simulated/state/named-nodes.js';
import { ChildPages } from './child-pages.js';
import { KeyedRandom, KNOWN_PATH_KEY } from './path-hash.js';

const randomOfTests = () => new KeyedRandom(KNOWN_PATH_KEY);
const DIRECTORY = 7;
const ROOMY = 1 << 20;
/** What makes a directory small, kept, or too large to be kept. */
const CLASSES = [
  { count: 1, keptBytesMax: ROOMY },
  { count: 5_000, keptBytesMax: ROOMY },
  { count: 5_000, keptBytesMax: 0 },
] as const;

class Directory {
  readonly pages: ChildPages;
  readonly nodes: NamedNodes;
  /** How often all children were listed, with their keys and as names alone. */
  listed = 0;
  namesListed = 0;
  readonly #count: number;

  constructor(names: Iterable<string>, of: (typeof CLASSES)[number]) {
    this.nodes = new NamedNodes(names);
    this.#count = of.count;
    this.pages = new ChildPages(this.nodes, randomOfTests(), of.keptBytesMax);
  }

  page(startAfter: string, limit: number, bytesMax = ROOMY) {
    const list = () => {
      this.listed += 1;
      return this.nodes.children();
    };
    const listNames = () => {
      this.namesListed += 1;
      return this.nodes.names();
    };
    const directory = { node: DIRECTORY, count: this.#count, list, listNames };
    return this.pages.page(directory, { startAfter, limit, bytesMax });
  }

  change(name: string, exists: boolean): void {
    if (this.nodes.has(name) === exists) return;
    if (exists) this.nodes.add(name);
    const node = this.nodes.node(name);
    if (this.pages.keeps(DIRECTORY)) this.pages.changed(DIRECTORY, node, exists);
    if (!exists) this.nodes.remove(name);
  }
}

const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'Z', 'ä', '日', '\u{1f600}'),
  minLength: 1,
});
const names = fc.uniqueArray(name, { maxLength: 40, size: 'max' });

describe('a page', () => {
  it('has the names after the given one, in code-unit order, and says whether there are more', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CLASSES),
        names,
        fc.option(name, { nil: '' }),
        fc.integer({ min: 1, max: 12 }),
        (size, all, startAfter, limit) => {
          const behind = [...all].sort().filter((one) => one > startAfter);
          const page = new Directory(all, size).page(startAfter, limit);
          expect(page.names).toEqual(behind.slice(0, limit));
          expect(page.more).toBe(behind.length > limit);
        },
      ),
    );
  });

  it('ends before its names take too many bytes, but has at least one', () => {
    for (const size of CLASSES) {
      const directory = new Directory(['aaaa', 'bbbb', 'ää'], size);
      expect(directory.page('', 9, 16)).toEqual({ names: ['aaaa', 'bbbb'], more: true });
      expect(directory.page('', 9, 15)).toEqual({ names: ['aaaa'], more: true });
      expect(directory.page('', 9, 1)).toEqual({ names: ['aaaa'], more: true });
      expect(directory.page('bbbb', 9, 8)).toEqual({ names: ['ää'], more: false });
    }
  });
});

describe('paging through a directory that changes', () => {
  it('gives each name that stays exactly once', () => {
    const change = fc.record({ name, exists: fc.boolean() });
    const changesBetweenPages = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 30 });
    fc.assert(
      fc.property(
        fc.constantFrom(...CLASSES),
        names,
        changesBetweenPages,
        fc.integer({ min: 1, max: 5 }),
        (size, before, changes, limit) => {
          const directory = new Directory(before, size);
          const stayed = new Set(before);
          const ever = new Set(before);
          const got: string[] = [];
          let pending = [...changes];
          for (let more = true; more; ) {
            const page = directory.page(got.at(-1) ?? '', limit);
            got.push(...page.names);
            more = page.more;
            for (const one of pending[0] ?? []) {
              directory.change(one.name, one.exists);
              stayed.delete(one.name);
              ever.add(one.name);
            }
            pending = pending.slice(1);
          }
          expect(got).toEqual([...new Set(got)].sort());
          expect([...stayed].filter((one) => !got.includes(one))).toEqual([]);
          expect(got.filter((one) => !ever.has(one))).toEqual([]);
        },
      ),
    );
  });

  it('lists the children once for all pages of a large directory that fits', () => {
    const counts = CLASSES.map((size) => {
      const directory = new Directory(['a', 'b', 'c'], size);
      for (const startAfter of ['b', '', 'a']) directory.page(startAfter, 2);
      return directory.listed;
    });
    expect(counts).toEqual([0, 1, 3]);
  });

  it('takes no more of a small directory than its names, for each page', () => {
    const directory = new Directory(['a', 'b', 'c'], CLASSES[0]);
    for (const startAfter of ['b', '', 'a']) directory.page(startAfter, 2);
    expect([directory.namesListed, directory.listed, directory.nodes.looked]).toEqual([3, 0, 0]);
  });

  it('drops an order that has changed too much, and that of a deleted directory', () => {
    const directory = new Directory(['a', 'b'], CLASSES[1]);
    directory.page('', 1);
    expect(directory.pages.keeps(DIRECTORY)).toBe(true);
    for (let index = 0; index < 1_400; index++) directory.change(`n${index}`, true);
    expect(directory.pages.keeps(DIRECTORY)).toBe(false);
    expect(directory.page('b', 2)).toEqual({ names: ['n0', 'n1'], more: true });
    directory.pages.forget(DIRECTORY);
    expect(directory.pages.keeps(DIRECTORY)).toBe(false);
  });
});

const listNames = (): readonly string[] => [];

function firstOf(all: NamedNodes, count: number) {
  const { nodes, keys, ...others } = all.children();
  return { ...others, nodes: nodes.slice(0, count), keys: keys.slice(0, count) };
}

describe('what is kept', () => {
  const asked = { startAfter: '', limit: 1, bytesMax: ROOMY };

  it('is no more than fits, the most recently used', () => {
    const children = new NamedNodes(Array.from({ length: 3_000 }, (_, index) => `n${index}`));
    // Two orders of 1,500 children.
    const pages = new ChildPages(children, randomOfTests(), 2 * 16 * 1_500);
    const page = (node: number, count: number) =>
      pages.page({ node, count, list: () => firstOf(children, count), listNames }, asked);
    for (const node of [1, 2, 1, 3]) page(node, 1_500);
    expect([1, 2, 3].filter((node) => pages.keeps(node))).toEqual([1, 3]);
    // It takes all the room, and one child more has none.
    expect(page(4, 3_000).names).toHaveLength(1);
    expect([1, 3, 4].filter((node) => pages.keeps(node))).toEqual([4]);
    pages.changed(4, children.add('more'), true);
    page(4, 3_001);
    expect(pages.keeps(4)).toBe(false);
  });

  it('is of few directories', () => {
    const children = new NamedNodes(['a']);
    const pages = new ChildPages(children, randomOfTests());
    for (const node of [1, 2, 3, 4, 1, 5]) {
      pages.page({ node, count: 5_000, list: () => children.children(), listNames }, asked);
    }
    expect([1, 2, 3, 4, 5].filter((node) => pages.keeps(node))).toEqual([1, 3, 4, 5]);
  });
});
