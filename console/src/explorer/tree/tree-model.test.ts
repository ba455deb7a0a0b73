/**
 * The rows of the model are compared with those of a naive one, which walks the whole tree.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChildFacts, ChildrenPage } from '../../api/types.js';
import { childOf } from '../paths.js';
import { type Directory, TreeModel } from './tree-model.js';

const facts = (name: string): ChildFacts => ({ name, mode: null, stat: null });

function page(names: readonly string[], { total = names.length, next = null as string | null }) {
  const children = names.map(facts);
  return { path: '', numChildren: total, cversion: 0, children, next } satisfies ChildrenPage;
}

/** Every row as a line of text, by a walk of everything that is open. */
function naive(directory: Directory): string[] {
  const rows = directory.entries.flatMap(({ name }) => {
    const path = childOf(directory.path, name);
    const open = directory.open.find((child) => child.path === path);
    return [path, ...(open === undefined ? [] : naive(open))];
  });
  const pending =
    directory.next === null ? 0 : Math.max(1, directory.total - directory.entries.length);
  return [...rows, ...Array.from({ length: pending }, () => `${directory.path} pending`)];
}

function rowsOf(model: TreeModel): string[] {
  return Array.from({ length: model.rowCount }, (_, index) => {
    const row = model.rowAt(index);
    if (row === null) return 'no row';
    return row.kind === 'node' ? row.path : `${row.directory} ${row.kind}`;
  });
}

it('has the rows that a walk of everything open has, in the same order', () => {
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 });
  const step = fc.record({
    names,
    more: fc.integer({ min: 0, max: 3 }),
    opened: fc.constantFrom('/', '/a', '/b', '/c', '/a/b', '/a/f', '/c/c', '/a/b/d'),
    closes: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const model = new TreeModel();
      for (const { names: children, more, opened, closes } of steps) {
        const directory = model.open(opened);
        if (directory === null) continue;
        const sorted = children.toSorted();
        const next = more === 0 ? null : (sorted.at(-1) ?? '');
        const total = sorted.length + more;
        const last = page(sorted, { total, next });
        model.replace(directory, sorted.map(facts), last);
        if (closes) model.close(opened);
      }
      // A directory that is open without being listed by its parent is in no row.
      const prune = (directory: Directory): void => {
        directory.open = directory.open.filter(({ path }) =>
          directory.entries.some(({ name }) => childOf(directory.path, name) === path),
        );
        directory.open.forEach(prune);
      };
      const shown = rowsOf(model);
      prune(model.root);
      expect(shown).toEqual(['/', ...naive(model.root)]);
      for (const [index, row] of shown.entries()) {
        if (!row.endsWith('pending')) expect(model.indexOf(row)).toBe(index);
      }
    }),
  );
});

it('knows the places of a hundred thousand children without a row for each', () => {
  const model = new TreeModel();
  model.append(model.root, page(['big'], {}));
  const big = model.open('/big');
  if (big === null) throw new Error('it is open');
  const names = Array.from({ length: 200 }, (_, index) => `n${String(index).padStart(6, '0')}`);
  model.append(big, page(names, { total: 100_000, next: names.at(-1) ?? '' }));
  expect(model.rowCount).toBe(100_002);
  expect(model.rowAt(100_001)).toMatchObject({ kind: 'pending', index: 99_999, depth: 2 });
  expect(model.rowAt(3)).toMatchObject({ path: '/big/n000001', place: 2, siblings: 100_000 });
  expect(model.rowAt(100_002)).toBeNull();
});

it('shows a problem in the place of what could not be loaded', () => {
  const model = new TreeModel();
  model.root.problem = new Error('refused');
  expect([model.rowCount, model.rowAt(1)?.kind]).toEqual([2, 'problem']);
});

it('shows at a directory how many children its newest page tells of', () => {
  const model = new TreeModel();
  const stat = { numChildren: 1 } as NonNullable<ChildFacts['stat']>;
  model.append(model.root, { ...page([], {}), children: [{ name: 'a', mode: null, stat }] });
  const opened = model.open('/a');
  if (opened === null) throw new Error('it is open');
  model.append(opened, page(['x', 'y'], {}));
  expect(model.rowAt(1)).toMatchObject({ path: '/a', facts: { stat: { numChildren: 2 } } });
});
