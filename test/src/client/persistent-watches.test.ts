/**
 * Persistent and recursive watches and their stream against real members: each change of what they
 * cover once and in order, 'resync' after a reconnect and after a new session, nothing once they
 * are removed, and `watchCount` back to 0.
 */
import { type Client, ClientClosedError, type WatchEvent } from '@rookery/client';
import { AddWatchMode, NoWatcherError, WatcherType } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { productUnderTest } from '../harness/product.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { Heard } from './heard.js';
import { caughtUp, sharedEnsemble } from './shared-ensemble.js';

const ROOKERY = productUnderTest().name === 'rookery';

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

/** All that was told so far has come: events precede the reply. */
async function barrier(client: Client): Promise<void> {
  await client.sync('/');
  await client.exists('/');
}

function summary(events: readonly WatchEvent[]): string[] {
  return events.map(({ type, path }) => `${type} ${path}`);
}

test('a persistent watch hears each change of its path, data and children, again and again', async () => {
  const client = await useDirectClient(ensemble());
  const heard = new Heard();
  const path = '/persistent';
  const handle = await client.addWatch(path, heard.watcher);
  expect([handle.path, handle.mode]).toEqual([path, AddWatchMode.persistent]);
  const created = await client.create(path);
  const set = await client.setData(path, 'one');
  const child = await client.create(`${path}/child`);
  await client.setData(`${path}/child`, 'not of the path');
  const again = await client.setData(path, 'two');
  await client.delete(`${path}/child`);
  await client.delete(path);
  await client.create(path);
  await barrier(client);
  expect(summary(heard.events)).toEqual([
    `created ${path}`,
    `dataChanged ${path}`,
    `childrenChanged ${path}`,
    `dataChanged ${path}`,
    `childrenChanged ${path}`,
    `deleted ${path}`,
    `created ${path}`,
  ]);
  const zxids = heard.events.map((event) => ('zxid' in event ? event.zxid : undefined));
  if (ROOKERY) {
    const [first, second, third, fourth] = zxids;
    const known = [created.stat.czxid, set.mzxid, child.stat.czxid, again.mzxid];
    expect([first, second, third, fourth]).toEqual(known);
    expect([...zxids].sort((a, b) => ((a ?? 0n) < (b ?? 0n) ? -1 : 1))).toEqual(zxids);
  } else {
    expect(zxids).toEqual(zxids.map(() => null));
  }
  await handle.remove();
  expect(client.watchCount).toBe(0);
});

test('a recursive watch hears of all below, of itself, and of no childrenChanged', async () => {
  const client = await useDirectClient(ensemble());
  const heard = new Heard();
  const path = '/recursive';
  const handle = await client.addWatch(path, heard.watcher, { recursive: true });
  expect(handle.mode).toBe(AddWatchMode.persistentRecursive);
  for (const below of ['', '/a', '/a/b', '/a/b/c']) await client.create(`${path}${below}`);
  await client.create(`${path}-sibling`);
  await client.setData(`${path}/a/b`, 'new');
  // A one-shot watch of a child brings childrenChanged to this client, which is not for this one.
  const children = new Heard();
  await client.getChildren(`${path}/a/b/c`, { watcher: children.watcher });
  await client.create(`${path}/a/b/c/d`);
  await client.delete(`${path}/a/b/c/d`);
  await client.setData(path, 'new');
  await barrier(client);
  expect(summary(heard.events)).toEqual([
    `created ${path}`,
    `created ${path}/a`,
    `created ${path}/a/b`,
    `created ${path}/a/b/c`,
    `dataChanged ${path}/a/b`,
    `created ${path}/a/b/c/d`,
    `deleted ${path}/a/b/c/d`,
    `dataChanged ${path}`,
  ]);
  expect(summary(children.events)).toEqual([`childrenChanged ${path}/a/b/c`]);
  await handle.remove();
  expect(client.watchCount).toBe(0);
});

test('persistent and one-shot watchers on one path hear of one change once each', async () => {
  const client = await useDirectClient(ensemble());
  const path = '/mixed';
  await client.create(path);
  const [persistent, first, second] = [new Heard(), new Heard(), new Heard()];
  const handle = await client.addWatch(path, persistent.watcher);
  await client.getData(path, { watcher: first.watcher });
  await client.getChildren(path, { watcher: second.watcher });
  await client.setData(path, 'one');
  await client.create(`${path}/child`);
  await client.setData(path, 'two');
  await client.create(`${path}/other`);
  await barrier(client);
  expect(persistent.types).toEqual([
    'dataChanged',
    'childrenChanged',
    'dataChanged',
    'childrenChanged',
  ]);
  expect([first.types, second.types]).toEqual([['dataChanged'], ['childrenChanged']]);
  await handle.remove();
  expect(client.watchCount).toBe(0);
});

// ZooKeeper 3.8 keeps one mode for each path: the later one displaces the other (ZOOKEEPER-4466).
test.runIf(ROOKERY)('all modes on one path hear of one change once each', async () => {
  const client = await useDirectClient(ensemble());
  const path = '/all-modes';
  await client.create(path);
  const [persistent, recursive, above, once] = [new Heard(), new Heard(), new Heard(), new Heard()];
  const handles = [
    await client.addWatch(path, persistent.watcher),
    await client.addWatch(path, recursive.watcher, { recursive: true }),
    await client.addWatch('/', above.watcher, { recursive: true }),
  ];
  await client.getData(path, { watcher: once.watcher });
  await client.setData(path, 'one');
  await client.create(`${path}/child`);
  await client.setData(path, 'two');
  await barrier(client);
  const changes = [`dataChanged ${path}`, `created ${path}/child`, `dataChanged ${path}`];
  expect(summary(recursive.events)).toEqual(changes);
  expect(summary(above.events)).toEqual(changes);
  expect(persistent.types).toEqual(['dataChanged', 'childrenChanged', 'dataChanged']);
  expect(once.types).toEqual(['dataChanged']);
  const [first, ...others] = handles;
  await first?.remove();
  await client.checkWatches(path, WatcherType.persistentRecursive);
  const check = client.checkWatches(path, WatcherType.persistent);
  await expect(check).rejects.toBeInstanceOf(NoWatcherError);
  await client.setData(path, 'three');
  await barrier(client);
  expect([persistent.events.length, recursive.events.length]).toEqual([3, 4]);
  for (const handle of others) await handle.remove();
  expect(client.watchCount).toBe(0);
});

test('handles on one path share the watch of the server, which goes with the last', async () => {
  const client = await useDirectClient(ensemble());
  const path = '/handles';
  await client.create(path);
  const [one, two] = [new Heard(), new Heard()];
  const first = await client.addWatch(path, one.watcher);
  const second = await client.addWatch(path, two.watcher);
  expect(client.watchCount).toBe(2);
  await client.setData(path, 'one');
  await barrier(client);
  expect([one.events.length, two.events.length]).toEqual([1, 1]);
  await first.remove();
  await first.remove();
  await client.setData(path, 'two');
  await barrier(client);
  expect([one.events.length, two.events.length]).toEqual([1, 2]);
  await client.checkWatches(path, WatcherType.any);
  await second.remove();
  await expect(client.checkWatches(path, WatcherType.any)).rejects.toThrow(NoWatcherError);
  await client.setData(path, 'three');
  await barrier(client);
  expect([one.events.length, two.events.length, client.watchCount]).toEqual([1, 2, 0]);
});

test('removeWatches tells a persistent watcher, which is then gone', async () => {
  const client = await useDirectClient(ensemble());
  const heard = new Heard();
  const handle = await client.addWatch('/taken', heard.watcher, { recursive: true });
  await client.removeWatches('/taken', WatcherType.any);
  expect(heard.events).toEqual([{ type: 'removed', path: '/taken' }]);
  expect(client.watchCount).toBe(0);
  await handle.remove();
  await client.create('/taken');
  await barrier(client);
  expect(heard.events).toHaveLength(1);
});

test('after a reconnect and after a new session: one resync each, then every change', async () => {
  const other = await useDirectClient(ensemble());
  const cuttable = await CuttableClient.use(ensemble());
  const { client } = cuttable;
  await other.create('/resync');
  await other.create('/resync/a');
  await client.sync('/');
  const [persistent, recursive] = [new Heard(), new Heard()];
  await client.addWatch('/resync/a', persistent.watcher);
  await client.addWatch('/resync', recursive.watcher, { recursive: true });
  const both = [persistent, recursive];

  await cuttable.cut();
  await other.setData('/resync/a', 'missed');
  await caughtUp(ensemble());
  await cuttable.heal();
  for (const heard of both) await heard.first('resync');
  expect(persistent.events).toEqual([{ type: 'resync', path: '/resync/a', reason: 'reconnected' }]);
  expect(recursive.events).toEqual([{ type: 'resync', path: '/resync', reason: 'reconnected' }]);
  // What a read shows that is called on the resync is followed by every later change.
  await client.getData('/resync/a');
  await other.setData('/resync/a', 'heard');
  for (const heard of both) await heard.count(2);

  await cuttable.cut();
  await cuttable.expireSession();
  await other.setData('/resync/a', 'missed as well');
  await caughtUp(ensemble());
  expect(await cuttable.heal()).toMatchObject({ newSession: true });
  for (const heard of both) await heard.count(3);
  await client.getData('/resync/a');
  await other.setData('/resync/a', 'heard again');
  for (const heard of both) await heard.count(4);
  const types = ['resync', 'dataChanged', 'resync', 'dataChanged'];
  for (const heard of both) {
    expect(heard.types).toEqual(types);
    expect(heard.events[2]).toMatchObject({ reason: 'new-session' });
  }
  expect(client.watchCount).toBe(2);
});

test('a handle removed while cut off stays removed on the next connection', async () => {
  const cuttable = await CuttableClient.use(ensemble());
  const { client } = cuttable;
  const heard = new Heard();
  const handle = await client.addWatch('/while-cut', heard.watcher);
  await cuttable.cut();
  await handle.remove();
  expect(client.watchCount).toBe(0);
  await cuttable.heal();
  await client.create('/while-cut');
  await barrier(client);
  const check = client.checkWatches('/while-cut', WatcherType.any);
  await expect(check).rejects.toBeInstanceOf(NoWatcherError);
  expect(heard.events).toEqual([]);
});

test('an addWatch given up on leaves no watch, here or there', async () => {
  const client = await useDirectClient(ensemble());
  const heard = new Heard();
  const controller = new AbortController();
  const { signal } = controller;
  const adding = client.addWatch('/given-up', heard.watcher, { signal });
  // In a later turn it is on its way; the reply cannot have been handled in this one.
  await new Promise((resolve) => process.nextTick(resolve));
  controller.abort();
  await expect(adding).rejects.toMatchObject({ name: 'AbortError' });
  await client.create('/given-up');
  await barrier(client);
  const check = client.checkWatches('/given-up', WatcherType.any);
  await expect(check).rejects.toBeInstanceOf(NoWatcherError);
  expect([heard.events.length, client.watchCount]).toEqual([0, 0]);
});

test('a stream gives each change in order, with what a read called after it does not show', async () => {
  const client = await useDirectClient(ensemble());
  await client.create('/stream');
  const stream = client.watch('/stream', { recursive: true });
  const before = await client.getData('/stream');
  expect(before.stat.version).toBe(0);
  for (let at = 0; at < 50; at++) await client.create(`/stream/${at}`);
  const paths: string[] = [];
  for await (const event of stream) {
    expect(event.type).toBe('created');
    paths.push(event.path);
    if (paths.length === 50) break;
  }
  expect(paths).toEqual(Array.from({ length: 50 }, (_, at) => `/stream/${at}`));
  expect(client.watchCount).toBe(0);
  const check = client.checkWatches('/stream', WatcherType.any);
  await expect(check).rejects.toBeInstanceOf(NoWatcherError);
});

test('a stream that is not read makes one resync of what is too much', async () => {
  const client = await useDirectClient(ensemble());
  await client.create('/overflow');
  const controller = new AbortController();
  const { signal } = controller;
  const stream = client.watch('/overflow', { capacity: 4, signal })[Symbol.asyncIterator]();
  for (let at = 0; at < 5; at++) await client.setData('/overflow', `${at}`);
  await barrier(client);
  const resync = { type: 'resync', path: '/overflow', reason: 'overflow' };
  expect(await stream.next()).toEqual({ done: false, value: resync });
  const next = stream.next();
  await client.setData('/overflow', 'last');
  expect(await next).toMatchObject({ value: { type: 'dataChanged' } });

  const waiting = stream.next();
  controller.abort();
  expect(await waiting).toMatchObject({ done: true });
  expect(client.watchCount).toBe(0);
});

test('a stream ends with ClientClosedError when the client closes', async () => {
  const client = await useDirectClient(ensemble());
  await client.create('/closing');
  const stream = client.watch('/closing')[Symbol.asyncIterator]();
  await client.setData('/closing', 'new');
  await barrier(client);
  await client.close();
  expect(await stream.next()).toMatchObject({ value: { type: 'dataChanged' } });
  await expect(stream.next()).rejects.toBeInstanceOf(ClientClosedError);
  expect(await stream.next()).toMatchObject({ done: true });
  expect(client.watchCount).toBe(0);
});

test('a stream goes on over a reconnect, with a resync', async () => {
  const cuttable = await CuttableClient.use(ensemble());
  const { client } = cuttable;
  await client.create('/goes-on');
  const stream = client.watch('/goes-on', { recursive: true });
  await client.setData('/goes-on', 'new');
  const seen: string[] = [];
  for await (const { type } of stream) {
    seen.push(type);
    if (type === 'created') break;
    if (type === 'resync') {
      await client.create('/goes-on/child');
    } else {
      await cuttable.cut();
      await cuttable.heal();
    }
  }
  expect(seen).toEqual(['dataChanged', 'resync', 'created']);
  expect(client.watchCount).toBe(0);
});
