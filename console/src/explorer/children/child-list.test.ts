import { expect, it } from 'vitest';
import type { ChildFacts, Stat } from '../../api/types.js';
import { loadedTo, NOTHING, sequenceOf, sorted } from './child-list.js';

const child = (name: string, dataLength: number | null): ChildFacts => ({
  name,
  mode: null,
  stat: dataLength === null ? null : ({ dataLength } as Stat),
});
const names = (children: readonly ChildFacts[]) => children.map(({ name }) => name);

it('sorts by what is asked for, with the unreadable last and names among equals', () => {
  const children = [child('b', 1), child('a', 1), child('x', null), child('c', 3)];
  const by = (isDescending: boolean) => names(sorted(children, { column: 'size', isDescending }));
  expect(by(false)).toEqual(['a', 'b', 'c', 'x']);
  expect(by(true)).toEqual(['c', 'a', 'b', 'x']);
});

it('sorts by the numbers that the server appends, whatever is before them', () => {
  const children = ['_c_9-lock-0000000002', 'a-lock-0000000010', 'ready', 'b-lock-0000000001'];
  const facts = children.map((name) => child(name, 0));
  expect(names(sorted(facts, { column: 'sequence', isDescending: false }))).toEqual([
    ...['b-lock-0000000001', '_c_9-lock-0000000002', 'a-lock-0000000010', 'ready'],
  ]);
  expect([sequenceOf('q--2147483647'), sequenceOf('q-1')]).toEqual([-2147483647, null]);
});

it('loads no more pages than are asked for', async () => {
  const asked: unknown[] = [];
  const get = async (_path: string, query: Record<string, unknown>) => {
    asked.push(query['after']);
    const first = asked.length * 1_000;
    const children = Array.from({ length: 500 }, (_, index) => child(`n${first + index}`, 0));
    return { numChildren: 2_000, children, next: asked.length === 4 ? null : `p${asked.length}` };
  };
  const api = { get } as unknown as Parameters<typeof loadedTo>[0];
  const { signal } = new AbortController();
  const some = await loadedTo(api, '/a', { from: NOTHING, count: 600, signal });
  expect([some.children.length, some.next, asked]).toEqual([1_000, 'p2', [null, 'p1']]);
  const all = await loadedTo(api, '/a', { from: some, count: 9_999, signal });
  expect([all.children.length, all.next, all.total]).toEqual([2_000, null, 2_000]);
});
