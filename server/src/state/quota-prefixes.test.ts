// Compares with the definition: of all prefixes that are the path or an ancestor of it, the
// longest.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QuotaPrefixes } from './quota-prefixes.js';

const DEPTH = 2000;

const name = fc.constantFrom('a', 'b', 'ab', 'ä');
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => `/${names.join('/')}`);
const step = fc.record({ does: fc.constantFrom('add', 'add', 'delete', 'ask'), path });

describe('the paths that have a quota', () => {
  it('govern what is at them and below them, the longest first', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const prefixes = new QuotaPrefixes();
        const model = new Set<string>();
        for (const { does, path: one } of steps) {
          if (does === 'add') {
            prefixes.add(one);
            model.add(one);
          } else if (does === 'delete') {
            prefixes.delete(one);
            model.delete(one);
          }
          expect(prefixes.count).toBe(model.size);
          const above = [...model].filter((other) => `${one}/`.startsWith(`${other}/`));
          const longest = above.sort((x, y) => y.length - x.length)[0] ?? null;
          expect(prefixes.governing(one)).toBe(longest);
          expect(prefixes.governing('/')).toBe(null);
        }
      }),
    );
  });

  it('are found by reading each segment once, however deep the path is', () => {
    const prefixes = new QuotaPrefixes();
    const deep = '/n'.repeat(DEPTH);
    for (let depth = 1; depth < DEPTH; depth += 2) prefixes.add(deep.slice(0, 2 * depth));
    let asked = 0;
    const get = Map.prototype.get;
    Map.prototype.get = function counted(key) {
      asked += 1;
      return get.call(this, key);
    };
    try {
      prefixes.governing(deep);
    } finally {
      Map.prototype.get = get;
    }
    expect(asked).toBeLessThanOrEqual(DEPTH);
    expect(prefixes.governing(deep)).toBe(deep.slice(0, 2 * (DEPTH - 1)));
  });
});
