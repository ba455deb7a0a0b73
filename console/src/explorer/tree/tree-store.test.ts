import { expect, it } from 'vitest';
import type { Api, Query } from '../../api/api.js';
import { ApiProblem } from '../../api/problem.js';
import { TreeStore } from './tree-store.js';

/** An API whose directories are lists of names, and what was asked of it. */
function fakeApi(directories: Record<string, string[]>) {
  const asked: string[] = [];
  const get = async (_path: string, query: Query) => {
    const path = String(query['path']);
    asked.push(`${path} ${query['after'] ?? ''} ${query['limit']}`);
    const names = directories[path];
    if (names === undefined) throw new ApiProblem({ status: 404, detail: 'There is none.' });
    const rest = names.filter((name) => name > String(query['after'] ?? ''));
    const listed = rest.slice(0, Number(query['limit']));
    const children = listed.map((name) => ({ name, mode: null, stat: null }));
    const next = rest.length > listed.length ? (listed.at(-1) ?? null) : null;
    return { path, numChildren: names.length, cversion: 0, children, next };
  };
  return { api: { get } as unknown as Api, asked };
}

const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `n${String(index).padStart(6, '0')}`);

it('loads pages up to what is looked at, each once, and no more', async () => {
  const { api, asked } = fakeApi({ '/': numbered(5_000) });
  const store = new TreeStore(api);
  await store.open('/');
  expect(asked).toEqual(['/  200']);
  await Promise.all([store.need('/', 1_300), store.need('/', 900), store.need('/', 1_500)]);
  expect(asked).toEqual(['/  200', '/ n000199 1000', '/ n001199 1000']);
  expect(store.model.rowCount).toBe(5_001);
});

it('opens what is above a path until its row is there', async () => {
  const { api } = fakeApi({ '/': ['a', 'b'], '/b': numbered(700), '/b/n000650': ['x'] });
  const store = new TreeStore(api);
  await store.reveal('/b/n000650/x');
  expect(store.model.rowAt(store.model.indexOf('/b/n000650/x'))).toMatchObject({ depth: 3 });
});

it('keeps what is loaded when a page fails, and goes on where it was asked to', async () => {
  const directories: Record<string, string[]> = { '/': numbered(300) };
  const { api } = fakeApi(directories);
  const store = new TreeStore(api);
  await store.open('/');
  delete directories['/'];
  await store.need('/', 250);
  expect(store.model.rowAt(201)?.kind).toBe('problem');
  directories['/'] = numbered(300);
  await store.retry('/');
  expect(store.model.rowAt(251)).toMatchObject({ path: '/n000250' });
});

it('shows a list that has changed once all of it is read, and closes what is gone', async () => {
  const directories: Record<string, string[]> = { '/': ['a', 'b'], '/a': ['x'], '/b': ['y'] };
  const { api } = fakeApi(directories);
  const store = new TreeStore(api);
  await store.open('/');
  await Promise.all([store.open('/a'), store.open('/b')]);
  directories['/'] = ['b', 'c'];
  await store.refresh('/');
  const rows = [1, 2, 3].map((index) => store.model.rowAt(index));
  expect(rows).toMatchObject([{ path: '/b' }, { path: '/b/y' }, { path: '/c' }]);
});
