/**
 * Goal: a client that pages through a directory while it changes gets every name that stayed
 * exactly once, in order, and no name that was never there. Method: compare directories of each
 * size class with a sorted list. The class is forced by the count that the directory reports and by
 * how much may be kept.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChildPages } from './child-pages.js';
import type { NameSelection } from './name-selection.js';

const NODE = 7;
const ROOMY = 1 << 20;
/** A page of so many names is no short one. */
const LONG = 5_000;
/** What makes a directory small, kept, or too large to be kept. */
const CLASSES = [
  { count: 1, keptBytesMax: ROOMY },
  { count: 5_000, keptBytesMax: ROOMY },
  { count: 5_000, keptBytesMax: 60 },
] as const;

class Directory {
  readonly pages: ChildPages;
  readonly names: Set<string>;
  readonly #count: number;

  constructor(names: Iterable<string>, of: (typeof CLASSES)[number]) {
    this.names = new Set(names);
    this.#count = of.count;
    this.pages = new ChildPages(of.keptBytesMax);
  }

  page(startAfter: string, limit: number, bytesMax = ROOMY) {
    const list = () => [...this.names];
    const directory = { node: NODE, count: this.#count, list, select: selectFrom(list) };
    return this.pages.page(directory, { startAfter, limit, bytesMax });
  }

  change(name: string, exists: boolean): void {
    if (exists) this.names.add(name);
    else this.names.delete(name);
    if (this.pages.keeps(NODE)) this.pages.changed(NODE, name, exists);
  }
}

/** What the tree does without a string for every name. */
function selectFrom(list: () => string[]) {
  return ({ startAfter, limit }: NameSelection) => {
    const behind = list().filter((one) => one > startAfter);
    return behind.sort().slice(0, limit);
  };
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

describe('a short page of a large directory', () => {
  it('makes no list of all names, unless it is asked for again and again', () => {
    const { pages, listed } = counted();
    for (let asked = 1; asked <= 8; asked++) expect(pages('b', 1).names).toEqual(['c']);
    expect(listed()).toBe(0);
    for (let asked = 9; asked <= 12; asked++) expect(pages('b', 1).names).toEqual(['c']);
    expect(listed()).toBe(1);
  });

  it('is followed by an order of all names when somebody reads on from its end', () => {
    const { pages, listed } = counted();
    expect(pages('', 2).names).toEqual(['a', 'b']);
    expect(pages('b', 1)).toEqual({ names: ['c'], more: true });
    expect(pages('c', 2)).toEqual({ names: ['d'], more: false });
    expect(listed()).toBe(1);
  });

  it('is followed by an order of all names although others read the top meanwhile', () => {
    const { pages, listed } = counted();
    for (const startAfter of ['', '', 'a', '', 'b']) pages(startAfter, 2);
    expect(listed()).toBe(1);
  });

  function counted() {
    let lists = 0;
    const kept = new ChildPages();
    const names = () => ['d', 'b', 'a', 'c'];
    const list = () => {
      lists += 1;
      return names();
    };
    const directory = { node: NODE, count: 1_000_000, list, select: selectFrom(names) };
    const pages = (startAfter: string, limit: number) =>
      kept.page(directory, { startAfter, limit, bytesMax: ROOMY });
    return { pages, listed: () => lists };
  }
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

  it('drops a list that has changed too much, and that of a deleted directory', () => {
    const directory = new Directory(['a', 'b'], CLASSES[1]);
    directory.page('', LONG);
    expect(directory.pages.keeps(NODE)).toBe(true);
    for (let index = 0; index < 1_400; index++) directory.change(`n${index}`, true);
    expect(directory.pages.keeps(NODE)).toBe(false);
    expect(directory.page('b', 2)).toEqual({ names: ['n0', 'n1'], more: true });
    directory.pages.forget(NODE);
    expect(directory.pages.keeps(NODE)).toBe(false);
  });

  it('keeps no more than fits, the most recently used', () => {
    const pages = new ChildPages(40_000);
    const page = (node: number, name: string) =>
      pages.page(
        { node, count: 1_000, list: () => [name], select: selectFrom(() => [name]) },
        { startAfter: '', limit: LONG, bytesMax: ROOMY },
      );
    for (const node of [1, 2, 1, 3]) page(node, 'a'.repeat(19_000));
    expect([1, 2, 3].filter((node) => pages.keeps(node))).toEqual([1, 3]);
    expect(page(4, 'a'.repeat(40_000)).names).toHaveLength(1);
    expect([1, 3, 4].filter((node) => pages.keeps(node))).toEqual([1, 3]);
    // A directory that has grown too large meanwhile.
    pages.changed(1, 'b'.repeat(30_000), true);
    page(1, 'a');
    expect(pages.keeps(1)).toBe(false);
  });

  it('keeps the lists of few directories', () => {
    const pages = new ChildPages();
    const asked = { startAfter: '', limit: LONG, bytesMax: ROOMY };
    const list = () => ['a'];
    for (const node of [1, 2, 3, 4, 1, 5]) {
      pages.page({ node, count: 5_000, list, select: selectFrom(list) }, asked);
    }
    expect([1, 2, 3, 4, 5].filter((node) => pages.keeps(node))).toEqual([1, 3, 4, 5]);
  });
});
