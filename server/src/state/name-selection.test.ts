/** Goal: a selection is what sorting all names would give, whatever characters they have. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IGNORE_CHANGES } from './change-sink.js';
import { ReplicatedState } from './replicated-state.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const ROOMY = 1 << 20;
const SEVERAL = 1_050;

const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'Z', 'ä', '日', '\u{1f600}'),
  minLength: 1,
});

function treeOf(names: readonly string[]) {
  const state = new ReplicatedState();
  let zxid = 0;
  for (const path of ['/d', ...names.map((one) => `/d/${one}`)]) {
    const op = { kind: 'create', path, data: null, acl: OPEN, mode: 'persistent' } as const;
    const txn = { origin: 1, request: 1, session: 0, time: 5, op: { ...op, ttlMs: 0, opcode: 1 } };
    state.apply(++zxid, txn, IGNORE_CHANGES);
  }
  return state.tree;
}

it('gives the first names behind the given one', () => {
  const numbered = Array.from({ length: SEVERAL }, (_, index) => `m${(index * 7919) % SEVERAL}`);
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { maxLength: 40 }),
      fc.option(name, { nil: '' }),
      fc.integer({ min: 1, max: 300 }),
      fc.constantFrom('as made', 'ascending', 'descending'),
      (some, startAfter, limit, order) => {
        const all = [...new Set([...some, ...numbered])];
        if (order !== 'as made') all.sort();
        if (order === 'descending') all.reverse();
        const tree = treeOf(all);
        const behind = all.toSorted().filter((one) => one > startAfter);
        const page = tree.childPage(tree.find('/d'), { startAfter, limit, bytesMax: ROOMY });
        expect(page.names).toEqual(behind.slice(0, limit));
        expect(page.more).toBe(behind.length > limit);
      },
    ),
    { numRuns: 25 },
  );
});
