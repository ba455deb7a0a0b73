/** What a scan of a tree by a client keeps while it runs, whatever the form of the tree. */
import { type Client, NoAuthError, type Stat } from '@rookery/client';
import { expect, it } from 'vitest';
import { type Scanned, scan } from './client-scan.js';

/** The names of the children of a path; null where the ACL closes it. */
type Tree = (path: string) => readonly string[] | null;

/** A client of such a tree, which counts the listings that are under way at the same time. */
function clientOf(tree: Tree) {
  const listings = { open: 0, most: 0 };
  async function* listChildren(path: string): AsyncGenerator<string> {
    const names = tree(path);
    if (names === null) throw new NoAuthError(path);
    listings.open += 1;
    listings.most = Math.max(listings.most, listings.open);
    yield* names;
    listings.open -= 1;
  }
  const exists = async (path: string) => {
    const names = tree(path);
    return { numChildren: names?.length ?? 1 } as unknown as Stat;
  };
  const client = { exists, listChildren } as unknown as Client;
  return { client, listings };
}

async function scanned(tree: Tree, waitingCharactersMax?: number) {
  const { client, listings } = clientOf(tree);
  const found: Scanned[] = [];
  const { signal } = new AbortController();
  const bound = waitingCharactersMax === undefined ? {} : { waitingCharactersMax };
  for await (const one of scan(client, { path: '/', signal, ...bound })) found.push(one);
  const paths = found.flatMap((one) => (one.kind === 'nodes' ? one.nodes : []));
  const directories = found.flatMap((one) => (one.kind === 'directory' ? [one.directory] : []));
  const isLeftOut = found.at(-1)?.kind === 'leftOut';
  return { paths: paths.map(({ path }) => path), directories, isLeftOut, listings };
}

it('finds all that a client may list, in the order of a walk, and the children of each', async () => {
  const children = new Map<string, readonly string[] | null>([
    ...([
      ['/', ['a', 'b', 'c']],
      ['/a', ['x', 'y']],
      ['/a/y', ['z']],
    ] as const),
    ...([
      ['/b', null],
      ['/c', ['w']],
    ] as const),
  ]);
  const namesIn: Tree = (path) => (children.has(path) ? (children.get(path) ?? null) : []);
  const { paths, directories, isLeftOut } = await scanned(namesIn);
  expect(paths).toEqual(['/', '/a', '/b', '/c', '/a/x', '/a/y', '/a/y/z', '/c/w']);
  expect(directories.map(({ path }) => path)).toEqual(['/', '/a', '/a/y', '/c']);
  expect(directories[1]?.children.map(({ name }) => name)).toEqual(['x', 'y']);
  expect(isLeftOut).toBe(false);
});

it('passes over a child whose Stat may not be read, and finds its siblings', async () => {
  const { client } = clientOf((path) => (path === '/' ? ['a', 'closed', 'z'] : []));
  const exists = async (path: string) => {
    if (path === '/closed') throw new NoAuthError(path);
    return await client.exists(path);
  };
  const found: string[] = [];
  const { signal } = new AbortController();
  const source = { exists, listChildren: client.listChildren };
  for await (const one of scan(source, { path: '/', signal })) {
    if (one.kind === 'nodes') found.push(...one.nodes.map(({ path }) => path));
  }
  expect(found).toEqual(['/', '/a', '/z']);
});

it('keeps one directory open, however deep the tree is', async () => {
  const depth = 500;
  // Each directory has one more and a leaf.
  const isSpine = (path: string) => /^(\/|(\/d)+)$/.test(path) && path.length < 2 * depth;
  const { paths, listings } = await scanned((path) => (isSpine(path) ? ['d', 'e'] : []));
  expect(paths.length).toBeGreaterThan(depth);
  expect(listings.most).toBe(1);
});

it('lets a bounded number of directories wait, and says that it has left out others', async () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `d${index}`);
  const tree: Tree = (path) => (path === '/' ? names : path.length < 6 ? ['leaf'] : []);
  const all = await scanned(tree);
  expect([all.directories.length, all.isLeftOut]).toEqual([1_001, false]);
  const some = await scanned(tree, 3_600);
  expect(some.isLeftOut).toBe(true);
  expect(some.paths.length).toBeGreaterThan(1_050);
  expect(some.directories.length).toBeLessThan(110);
});
