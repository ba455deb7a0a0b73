import { NoAuthError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError } from '../api/errors.js';
import { CacheMirror } from '../testing/cache-mirror.js';
import type { FakeClient } from '../testing/fake-client.js';
import type { FakeServer } from '../testing/fake-server.js';
import { newWorld, takeAwayNextWatch, turns, until } from '../testing/lock-world.js';
import { ChildrenCache } from './children-cache.js';
import { NodeCache } from './node-cache.js';
import { PersistentWatcher } from './persistent-watcher.js';

const PATH = '/node';

function put(server: FakeServer, path: string, data: string | null): void {
  if (server.stat(path) !== null) server.setData(path, data);
  else server.create({ path, data, mode: 'persistent', acl: undefined, session: 0n });
}

function expectNothingLeft(...clients: FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a node cache', () => {
  function setUp() {
    const world = newWorld();
    const cache = new NodeCache(world.one, PATH);
    const mirror = new CacheMirror(null);
    cache.listen(mirror.take);
    return { ...world, cache, mirror };
  }

  it('is started by whoever asks for its events, which end with the client', async () => {
    const { one, cache } = setUp();
    const events = cache.events();
    expect((await events.next()).value).toMatchObject({ type: 'snapshot' });
    expect((await events.next()).value).toEqual({ type: 'initialized' });
    const next = events.next();
    await one.close();
    await expect(next).rejects.toThrow(ClientClosedError);
  });

  it('holds the znode, missing or not, and tells each change', async () => {
    const { server, one, cache, mirror } = setUp();
    await cache.ready();
    expect(cache.get()).toBeNull();
    put(server, PATH, 'one');
    await until(() => cache.get()?.data?.toString() === 'one');
    put(server, PATH, 'two');
    await until(() => cache.get()?.data?.toString() === 'two');
    server.delete(PATH);
    await until(() => cache.get() === null);
    const changes = ['nodeCreated', 'nodeChanged', 'nodeDeleted'].map((type) => `${type} ${PATH}`);
    expect(mirror.told).toEqual(['initialized', ...changes]);
    expect(mirror.violations).toEqual([]);
    await cache.close();
    await cache.close();
    expectNothingLeft(one);
  });

  it('tells of a znode that was deleted and created again at once', async () => {
    const { server, cache, mirror } = setUp();
    put(server, PATH, 'one');
    await cache.ready();
    server.delete(PATH);
    put(server, PATH, 'one');
    await until(() => mirror.count('nodeDeleted') === 1);
    expect(mirror.told.slice(-2)).toEqual([`nodeDeleted ${PATH}`, `nodeCreated ${PATH}`]);
  });

  it.each(['loseConnection', 'expire'] as const)('catches up after %s', async (lose) => {
    const { server, one, cache, mirror } = setUp();
    put(server, PATH, 'one');
    await cache.ready();
    one.comesBack = false;
    one[lose]();
    put(server, PATH, 'two');
    one.comeBack();
    await until(() => mirror.count('resynced') === 1);
    expect(cache.get()?.data?.toString()).toBe('two');
    put(server, PATH, 'three');
    await until(() => cache.get()?.data?.toString() === 'three');
    expect([mirror.count('resynced'), mirror.count('initialized')]).toEqual([1, 1]);
    await cache.close();
    expectNothingLeft(one);
  });

  it('ends when it may not read the znode', async () => {
    const { one, cache } = setUp();
    one.failNext('getData', new NoAuthError(PATH));
    await expect(cache.ready()).rejects.toThrow(NoAuthError);
    await cache.close();
    expectNothingLeft(one);
  });

  it('can be closed at any moment of its start', async () => {
    for (let after = 0; after < 6; after++) {
      const { one, cache } = setUp();
      cache.start();
      await turns(after);
      await cache.close();
      await turns(10);
      expectNothingLeft(one);
    }
    const { one, cache } = setUp();
    await cache.close();
    expectNothingLeft(one);
  });
});

describe('a children cache', () => {
  it('holds the children only, and tells of nothing else', async () => {
    const { server, one } = newWorld();
    for (const path of ['/dir', '/dir/a', '/dir/a/below', '/dir/x-not']) put(server, path, path);
    const accepts = (name: string) => !name.startsWith('x-');
    const cache = new ChildrenCache(one, '/dir', { accepts });
    const mirror = new CacheMirror(null);
    cache.listen(mirror.take);
    await cache.ready();
    put(server, '/dir', 'of the directory');
    put(server, '/dir/a/below', 'of a grandchild');
    put(server, '/dir/b', 'b');
    await until(() => cache.get('b') !== null);
    expect([...cache.children().keys()]).toEqual(['a', 'b']);
    expect(mirror.told).toEqual(['nodeCreated /dir/a', 'initialized', 'nodeCreated /dir/b']);
    const events = cache.events();
    const first = (await events.next()).value;
    if (first?.type !== 'snapshot') throw new Error('the first event is the whole');
    expect([...first.nodes.keys()]).toEqual(['/dir/a', '/dir/b']);
    await events.return();
    await cache.close();
    expectNothingLeft(one);
  });

  it('is empty while the directory is missing, and sees it come and go', async () => {
    const { server, one } = newWorld();
    const cache = new ChildrenCache(one, '/dir');
    await cache.ready();
    expect(cache.children().size).toBe(0);
    put(server, '/dir', null);
    put(server, '/dir/a', 'a');
    await until(() => cache.children().size === 1);
    server.delete('/dir/a');
    server.delete('/dir');
    await until(() => cache.children().size === 0);
    await cache.close();
    expectNothingLeft(one);
  });
});

describe('a persistent watcher', () => {
  function setUp(recursive: boolean) {
    const world = newWorld();
    const watcher = new PersistentWatcher(world.one, PATH, { recursive });
    const told: string[] = [];
    watcher.listen(({ type, path }) => told.push(`${type} ${path}`));
    return { ...world, watcher, told };
  }

  it.each([false, true])('hears of every change, recursive: %s', async (recursive) => {
    const { server, one, watcher, told } = setUp(recursive);
    await watcher.whenStanding();
    put(server, PATH, 'one');
    put(server, `${PATH}/a`, 'one');
    put(server, PATH, 'two');
    await turns(10);
    const below = recursive ? `created ${PATH}/a` : `childrenChanged ${PATH}`;
    expect(told).toEqual([`created ${PATH}`, below, `dataChanged ${PATH}`]);
    await watcher.close();
    await watcher.close();
    put(server, PATH, 'three');
    await turns(10);
    expect(told).toHaveLength(3);
    expectNothingLeft(one);
  });

  it('hears that it may have missed something, then every change again', async () => {
    const { server, one, watcher, told } = setUp(true);
    await watcher.whenStanding();
    one.loseConnection();
    await until(() => told.length === 1);
    one.expire();
    await until(() => told.length === 2);
    put(server, PATH, 'one');
    await until(() => told.length === 3);
    expect(told).toEqual([`resync ${PATH}`, `resync ${PATH}`, `created ${PATH}`]);
  });

  it('stands again though it was taken away by a reply that came together with its own', async () => {
    const { server, one, watcher, told } = setUp(true);
    takeAwayNextWatch(one, PATH);
    watcher.start();
    await turns(10);
    put(server, PATH, 'one');
    await turns(10);
    expect(told).toEqual([`removed ${PATH}`, `resync ${PATH}`, `created ${PATH}`]);
    expect(watcher.isStanding).toBe(true);
    await watcher.close();
    expectNothingLeft(one);
  });

  it('stands in the end though its first requests, and the session, are lost', async () => {
    const { one, surroundings, watcher } = setUp(true);
    one.failNext('addWatch', 'reply-lost');
    one.failNext('addWatch', 'request-lost');
    watcher.start();
    await surroundings.settle();
    expect(watcher.isStanding).toBe(true);
    const other = new PersistentWatcher(one, '/other');
    one.onSend = ({ op }) => {
      if (op !== 'addWatch') return;
      one.onSend = null;
      setImmediate(() => one.expire());
    };
    other.start();
    await surroundings.settle();
    expect([other.isStanding, one.watchCount]).toEqual([true, 2]);
    await watcher.close();
    await other.close();
    expectNothingLeft(one);
  });

  it('leaves nothing when it is closed while connecting, or before', async () => {
    for (let after = 0; after < 6; after++) {
      const { one, watcher } = setUp(true);
      one.comesBack = false;
      if (after % 2 === 0) one.loseConnection();
      watcher.start();
      await turns(after);
      await watcher.close();
      one.comeBack();
      await turns(10);
      expectNothingLeft(one);
    }
  });
});
