import { NoAuthError, WatcherType } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError } from '../api/errors.js';
import { CacheMirror, dataOf } from '../testing/cache-mirror.js';
import type { FakeClient } from '../testing/fake-client.js';
import type { FakeServer } from '../testing/fake-server.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { RecipeStateError } from './shared/errors.js';
import { TreeCache, type TreeCacheOptions } from './tree-cache.js';

const ROOT = '/tree';

function put(server: FakeServer, path: string, data: string | null = path): void {
  if (server.stat(path) !== null) server.setData(path, data);
  else server.create({ path, data, mode: 'persistent', acl: undefined, session: 0n });
}

function setUp(options: TreeCacheOptions = {}, paths = ['', '/a', '/a/b', '/c']) {
  const world = newWorld();
  for (const path of paths) put(world.server, `${ROOT}${path}`);
  const cache = new TreeCache(world.one, ROOT, options);
  const mirror = new CacheMirror(ROOT);
  cache.listen(mirror.take);
  return { ...world, cache, mirror };
}

/** The data of the subtree as it is. */
function truthOf(server: FakeServer, root = ROOT): Record<string, string | null> {
  const paths = server.paths().filter((path) => path === root || path.startsWith(`${root}/`));
  const read = (path: string) => server.read(path).data?.toString() ?? null;
  return Object.fromEntries(paths.map((path) => [path, read(path)]));
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

function expectFaithful(cache: TreeCache, mirror: CacheMirror): void {
  expect(mirror.violations).toEqual([]);
  expect(mirror.data).toEqual(dataOf(cache.snapshot()));
}

describe('a tree cache', () => {
  it('holds what stands there, parents told before children, then each change', async () => {
    const { server, one, cache, mirror } = setUp();
    await cache.ready();
    expect(mirror.told).toEqual([
      `nodeCreated ${ROOT}`,
      ...['/a', '/c', '/a/b'].map((path) => `nodeCreated ${ROOT}${path}`),
      'initialized',
    ]);
    put(server, `${ROOT}/a/b`, 'new');
    put(server, `${ROOT}/c/d`);
    server.delete(`${ROOT}/a/b`);
    await until(() => cache.get(`${ROOT}/a/b`) === null && cache.size === 4);
    expect(cache.get(`${ROOT}/c/d`)?.data?.toString()).toBe(`${ROOT}/c/d`);
    expect([...(cache.children(ROOT)?.keys() ?? [])]).toEqual(['a', 'c']);
    expect([cache.children(`${ROOT}/a`)?.size, cache.children(`${ROOT}/x`)]).toEqual([0, null]);
    expectFaithful(cache, mirror);
    await cache.close();
    await cache.close();
    expect(() => cache.start()).toThrow(RecipeStateError);
    expectNothingLeft(one);
  });

  it('tells old and new data of a change', async () => {
    const { server, cache, mirror } = setUp({}, ['']);
    await cache.ready();
    put(server, ROOT, 'new');
    await until(() => mirror.count('nodeChanged') === 1);
    const change = mirror.events.at(-1);
    if (change?.type !== 'nodeChanged') throw new Error('the last event is a change');
    expect([change.old.data?.toString(), change.node.data?.toString()]).toEqual([ROOT, 'new']);
  });

  it('leaves nothing behind when its root never was (CURATOR-240)', async () => {
    const { one, cache, mirror } = setUp({}, []);
    await cache.ready();
    expect([cache.size, cache.get(ROOT), mirror.told]).toEqual([0, null, ['initialized']]);
    expect(one.watchCount).toBe(1);
    await cache.close();
    expectNothingLeft(one);
  });

  it('follows a root that is deleted and comes again (CURATOR-182, CURATOR-183)', async () => {
    const { server, cache, mirror } = setUp({}, ['', '/a']);
    await cache.ready();
    for (let round = 0; round < 3; round++) {
      server.delete(`${ROOT}/a`);
      server.delete(ROOT);
      await until(() => cache.size === 0);
      put(server, ROOT, `${round}`);
      put(server, `${ROOT}/a`, `${round}`);
      await until(() => cache.size === 2);
    }
    expect(dataOf(cache.snapshot())).toEqual({ [ROOT]: '2', [`${ROOT}/a`]: '2' });
    expectFaithful(cache, mirror);
  });

  it('tells of a subtree that was deleted and created between two readings', async () => {
    const { server, cache, mirror } = setUp();
    await cache.ready();
    const before = mirror.events.length;
    for (const path of ['/a/b', '/a']) server.delete(`${ROOT}${path}`);
    for (const path of ['/a', '/a/x']) put(server, `${ROOT}${path}`);
    await until(() => cache.get(`${ROOT}/a/x`) !== null);
    await turns(20);
    expect(mirror.told.slice(before)).toEqual([
      `nodeDeleted ${ROOT}/a/b`,
      `nodeDeleted ${ROOT}/a`,
      `nodeCreated ${ROOT}/a`,
      `nodeCreated ${ROOT}/a/x`,
    ]);
    expectFaithful(cache, mirror);
  });

  it('tells parents before children and the other way round (CURATOR-324)', async () => {
    const { server, cache, mirror } = setUp({}, ['']);
    await cache.ready();
    const paths = ['/a', '/a/b', '/a/b/c', '/a/b/c/d'].map((path) => `${ROOT}${path}`);
    for (const path of paths) put(server, path);
    await until(() => cache.size === 5);
    for (const path of [...paths].reverse()) server.delete(path);
    await until(() => cache.size === 1);
    expectFaithful(cache, mirror);
  });

  it.each(['connection', 'session'] as const)(
    'tells all that it missed while its %s was lost (CURATOR-391)',
    async (what) => {
      const { server, one, cache, mirror } = setUp();
      await cache.ready();
      one.comesBack = false;
      if (what === 'connection') one.loseConnection();
      else one.expire();
      put(server, `${ROOT}/a`, 'changed');
      server.delete(`${ROOT}/a/b`);
      put(server, `${ROOT}/c/new`);
      put(server, `${ROOT}/c/new/below`);
      server.delete(`${ROOT}/c/new/below`);
      put(server, `${ROOT}/c/new/below`, 'again');
      one.comeBack();
      await until(() => mirror.count('resynced') === 1);
      expect(dataOf(cache.snapshot())).toEqual(truthOf(server));
      expect(mirror.count('initialized')).toBe(1);
      expectFaithful(cache, mirror);
      put(server, `${ROOT}/later`);
      await until(() => cache.get(`${ROOT}/later`) !== null);
      await cache.close();
      expectNothingLeft(one);
    },
  );

  it('says that it has caught up, also when nothing was missed (CURATOR-296)', async () => {
    const { one, cache, mirror } = setUp();
    await cache.ready();
    one.loseConnection();
    await until(() => mirror.count('resynced') === 1);
    one.expire();
    await until(() => mirror.count('resynced') === 2);
    expect(mirror.count('nodeChanged')).toBe(0);
  });

  it('compares by one request for each znode, and reads only what differs', async () => {
    const { server, one, cache, mirror } = setUp();
    await cache.ready();
    one.comesBack = false;
    one.loseConnection();
    put(server, `${ROOT}/a/b`, 'changed');
    const before = one.sent.length;
    one.comeBack();
    await until(() => mirror.count('resynced') === 1);
    const requests = one.sent.slice(before).map(({ op, path }) => `${op} ${path}`);
    const listed = ['', '/a', '/c', '/a/b'].map((path) => `getChildren ${ROOT}${path}`);
    expect(requests).toEqual([...listed, `getData ${ROOT}/a/b`]);
  });

  it('is read in the next session when the first was lost on the way', async () => {
    const paths = ['', ...Array.from({ length: 300 }, (_, index) => `/n${index}`)];
    const { one, server, cache, mirror } = setUp({}, paths);
    cache.start();
    await until(() => one.sentCount('getData') > 50);
    one.expire();
    await cache.ready();
    expect(dataOf(cache.snapshot())).toEqual(truthOf(server));
    expectFaithful(cache, mirror);
  });

  it('stays right when its watch is taken away', async () => {
    const { server, one, cache, mirror } = setUp();
    await cache.ready();
    await one.removeWatches(ROOT, WatcherType.any);
    put(server, `${ROOT}/c`, 'missed');
    await until(() => mirror.count('resynced') === 1);
    expect(cache.get(`${ROOT}/c`)?.data?.toString()).toBe('missed');
    put(server, `${ROOT}/c`, 'heard');
    await until(() => cache.get(`${ROOT}/c`)?.data?.toString() === 'heard');
    await cache.close();
    expectNothingLeft(one);
  });

  it('asks for no znode of which an event tells nothing new', async () => {
    const { server, one, cache } = setUp();
    cache.start();
    await until(() => one.sentCount('addWatch') === 1);
    // Read by the first scan, and told by an event that comes before the reading does.
    put(server, `${ROOT}/c`, 'new');
    await cache.ready();
    await turns(20);
    const reads = one.sent.filter(({ op, path }) => op === 'getData' && path === `${ROOT}/c`);
    expect(reads).toHaveLength(1);
  });

  it('leaves out what may not be read, and ends when that is the root', async () => {
    const { one, cache } = setUp();
    one.onSend = ({ op, path }) => {
      if (op === 'getData' && path === `${ROOT}/a`) one.failNext('getData', new NoAuthError(path));
    };
    await cache.ready();
    expect([...cache.snapshot().keys()]).toEqual([ROOT, `${ROOT}/c`]);
    await cache.close();
    const other = new TreeCache(one, ROOT);
    one.onSend = null;
    one.failNext('getData', new NoAuthError(ROOT));
    await expect(other.ready()).rejects.toThrow(NoAuthError);
    expect(other.failure).toBeInstanceOf(NoAuthError);
    await other.close();
    expectNothingLeft(one);
  });

  it('ends with the client', async () => {
    const { one, cache } = setUp();
    await cache.ready();
    const events = cache.events();
    await events.next();
    const next = events.next();
    await one.close();
    await expect(next).rejects.toThrow(ClientClosedError);
    expect(cache.failure).toBeInstanceOf(ClientClosedError);
    expect(cache.size).toBe(4);
    await cache.close();
    expectNothingLeft(one);
  });

  it('can be closed while its watch is being set', async () => {
    const { one, cache } = setUp();
    cache.start();
    await until(() => one.sentCount('addWatch') === 1);
    await cache.close();
    await turns(20);
    expectNothingLeft(one);
  });
});

describe('a part of a tree', () => {
  it.each([0, 1, 2])('is held down to depth %i', async (maxDepth) => {
    const { server, one, cache, mirror } = setUp({ maxDepth });
    await cache.ready();
    put(server, `${ROOT}/c/d`);
    put(server, `${ROOT}/c/d/e`);
    put(server, `${ROOT}/f`);
    one.loseConnection();
    await until(() => mirror.count('resynced') === 1);
    const all = ['', '/a', '/c', '/f', '/a/b', '/c/d', '/c/d/e'].map((path) => `${ROOT}${path}`);
    const held = all.filter((path) => path.split('/').length - 2 <= maxDepth);
    expect([...cache.snapshot().keys()].sort()).toEqual(held.sort());
    expectFaithful(cache, mirror);
  });

  it('is chosen by a selector, and nothing else is asked for', async () => {
    const selector = {
      accepts: (path: string) => !path.endsWith('/c'),
      traverses: (path: string) => !path.endsWith('/a'),
    };
    const { server, one, cache } = setUp({ selector });
    await cache.ready();
    for (const path of ['/a/b', '/a/x', '/c', '/c/d']) put(server, `${ROOT}${path}`, 'new');
    put(server, `${ROOT}/seen`);
    await until(() => cache.get(`${ROOT}/seen`) !== null);
    expect([...cache.snapshot().keys()]).toEqual(['', '/a', '/seen'].map((path) => ROOT + path));
    const asked = new Set(one.sent.filter(({ op }) => op !== 'addWatch').map(({ path }) => path));
    expect([...asked]).toEqual(['/', ...['', '/a', '/seen'].map((path) => ROOT + path)]);
  });

  it.each([0, 2])('ends with what its selector throws (%i znodes later)', async (count) => {
    let asked = 0;
    const accepts = () => {
      if (asked++ < count) return true;
      throw new Error('mine');
    };
    const { server, one, cache } = setUp({ selector: { accepts } }, ['', '/a', '/c']);
    cache.start();
    if (count > 0) {
      // The initial reading asks for two; the third is asked for by an event.
      await until(() => asked === count);
      put(server, `${ROOT}/new`);
    }
    await until(() => cache.failure !== null);
    expect(cache.failure).toEqual(new Error('mine'));
    if (!cache.isInitialized) await expect(cache.ready()).rejects.toThrow('mine');
    await cache.close();
    expectNothingLeft(one);
  });

  it('can do without data', async () => {
    const { server, one, cache, mirror } = setUp({ withData: false });
    await cache.ready();
    const before = cache.get(`${ROOT}/c`)?.stat.version;
    put(server, `${ROOT}/c`, 'new');
    await until(() => mirror.count('nodeChanged') === 1);
    expect([before, cache.get(`${ROOT}/c`)?.stat.version]).toEqual([0, 1]);
    expect([cache.get(`${ROOT}/c`)?.data, one.sentCount('getData')]).toEqual([null, 0]);
  });

  it('of the root of all', async () => {
    const world = newWorld();
    put(world.server, '/a');
    const cache = new TreeCache(world.one, '/', { maxDepth: 1 });
    await cache.ready();
    put(world.server, '/b');
    await until(() => cache.get('/b') !== null);
    expect([...cache.snapshot().keys()].sort()).toEqual(['/', '/a', '/b', '/zookeeper']);
  });

  it('holds more than 65,536 znodes', async () => {
    const count = 66_000;
    const { server, one, cache, mirror } = setUp({}, ['']);
    for (let index = 0; index < count; index++) put(server, `${ROOT}/${index}`, null);
    cache.start();
    await until(() => one.sentCount('getChildren') === 1);
    while (!cache.isInitialized) await new Promise(setImmediate);
    expect(cache.size).toBe(count + 1);
    server.delete(`${ROOT}/${count - 1}`);
    await until(() => mirror.count('nodeDeleted') === 1);
    expect(cache.children(ROOT)?.size).toBe(count - 1);
  }, 60_000);
});

describe('the events as an iterator', () => {
  it('begin with the whole, whenever it begins', async () => {
    const { server, cache } = setUp();
    await cache.ready();
    const late = new CacheMirror(ROOT);
    const events = cache.events();
    late.take((await events.next()).value ?? { type: 'initialized' });
    expect(late.data).toEqual(truthOf(server));
    put(server, `${ROOT}/c`, 'new');
    late.take((await events.next()).value ?? { type: 'initialized' });
    expect([late.data, late.told]).toEqual([
      truthOf(server),
      ['snapshot', `nodeChanged ${ROOT}/c`],
    ]);
    await events.return();
    await cache.close();
  });

  it('begin again with the whole when more than its queue holds were waiting', async () => {
    const { server, cache } = setUp({}, ['']);
    await cache.ready();
    const late = new CacheMirror(ROOT);
    const events = cache.events({ capacity: 3 });
    late.take((await events.next()).value ?? { type: 'initialized' });
    for (let index = 0; index < 10; index++) put(server, `${ROOT}/${index}`);
    await until(() => cache.size === 11);
    put(server, `${ROOT}/0`, 'new');
    await until(() => cache.get(`${ROOT}/0`)?.data?.toString() === 'new');
    late.take((await events.next()).value ?? { type: 'initialized' });
    expect([late.told, late.data]).toEqual([['snapshot', 'snapshot'], truthOf(server)]);
    put(server, `${ROOT}/1`, 'new');
    late.take((await events.next()).value ?? { type: 'initialized' });
    expect([late.told.at(-1), late.data]).toEqual([`nodeChanged ${ROOT}/1`, truthOf(server)]);
  });

  it('end with the signal and with close()', async () => {
    const { one, cache } = setUp();
    const controller = new AbortController();
    const collect = async (signal?: AbortSignal) => {
      const types: string[] = [];
      for await (const { type } of cache.events({ signal })) types.push(type);
      return types;
    };
    const [first, second] = [collect(controller.signal), collect()];
    await cache.ready();
    controller.abort();
    expect((await first)[0]).toBe('snapshot');
    await cache.close();
    expect((await second).at(-1)).toBe('initialized');
    expectNothingLeft(one);
  });
});
