/**
 * Caches under random schedules: a writer changes a small tree, connections, requests and sessions
 * of the cache's client are lost at random. Whatever happened, each ends equal to the tree, and its
 * events, applied one after the other, have given what it held at each moment, never a step back.
 */
import { NodeExistsError, NoNodeError, NotEmptyError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { CacheMirror, dataOf } from '../testing/cache-mirror.js';
import type { FakeServer } from '../testing/fake-server.js';
import { newWorld, until } from '../testing/lock-world.js';
import { pick, type Random, randomFrom, strike } from '../testing/random-faults.js';
import { ChildrenCache } from './children-cache.js';
import { NodeCache } from './node-cache.js';
import { TreeCache } from './tree-cache.js';

const ROOT = '/tree';
const BELOW = ['/a', '/b', '/a/x', '/a/y', '/b/x', '/a/x/deep', '/a/x/deep/er'];
const PATHS = [ROOT, ...BELOW.map((path) => `${ROOT}${path}`)];
const STEPS = 400;
/** Have failed: a child was read before its parent was known to be new; a listing was lost. */
const FAILED = [1134, 1212, 1325];
const SEEDS = [...Array.from({ length: 60 }, (_, index) => index + 1), ...FAILED];

function change(server: FakeServer, random: Random): void {
  const path = pick(PATHS, random) ?? ROOT;
  try {
    const data = `${Math.floor(random() * 1_000)}`;
    const draw = random();
    if (draw < 0.45) server.create({ path, data, mode: 'persistent', acl: undefined, session: 0n });
    else if (draw < 0.75) server.delete(path);
    else server.setData(path, data);
  } catch (error) {
    const cannotBe = [NodeExistsError, NoNodeError, NotEmptyError];
    if (!cannotBe.some((Kind) => error instanceof Kind)) throw error;
  }
}

function truthOf(server: FakeServer, isHeld: (path: string) => boolean) {
  const paths = PATHS.filter((path) => server.stat(path) !== null && isHeld(path)).sort();
  return Object.fromEntries(
    paths.map((path) => [path, server.read(path).data?.toString() ?? null]),
  );
}

it.each(SEEDS)('caches end equal to the tree, seed %i', async (seed) => {
  const random = randomFrom(seed);
  const { server, surroundings, one } = newWorld();
  const tree = new TreeCache(one, ROOT);
  const children = new ChildrenCache(one, ROOT);
  const node = new NodeCache(one, `${ROOT}/a`);
  const mirrors = [new CacheMirror(ROOT), new CacheMirror(null), new CacheMirror(null)] as const;
  const stream = new CacheMirror(null);
  tree.listen(mirrors[0].take);
  children.listen(mirrors[1].take);
  node.listen(mirrors[2].take);
  const streaming = (async () => {
    for await (const event of tree.events({ capacity: 4 })) {
      stream.take(event);
      // A consumer that is slow at times.
      if (random() < 0.2) for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    }
  })();
  for (const cache of [tree, children, node]) cache.start();

  for (let step = 0; step < STEPS; step++) {
    if (random() < 0.5) change(server, random);
    if (random() < 0.05) strike({ server, client: one, random });
    if (random() < 0.3) surroundings.advance(20);
    if (random() < 0.7) await new Promise(setImmediate);
    expect(mirrors[0].data).toEqual(dataOf(tree.snapshot()));
  }
  await surroundings.settle();
  await Promise.all([tree.ready(), children.ready(), node.ready()]);

  const all = truthOf(server, () => true);
  expect(dataOf(tree.snapshot())).toEqual(all);
  expect(mirrors[0].data).toEqual(all);
  expect(mirrors[1].data).toEqual(truthOf(server, (path) => path.split('/').length === 3));
  expect(mirrors[2].data).toEqual(truthOf(server, (path) => path === `${ROOT}/a`));
  expect(mirrors.flatMap(({ violations }) => violations)).toEqual([]);
  await until(() => JSON.stringify(stream.data) === JSON.stringify(all));
  for (const cache of [tree, children, node]) await cache.close();
  await streaming;
  expect([one.watchCount, one.listenerCount, surroundings.timerCount]).toEqual([0, 0, 0]);
});
