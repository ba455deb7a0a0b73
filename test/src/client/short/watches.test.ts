/**
 * One-shot watches against real members: each kind with the right event, never before its read has
 * settled, never after newer data, put back after a lost connection with what was missed, and every
 * watcher told how it ends. `watchCount` is 0 whenever nobody waits.
 */
import { connect, type Watcher } from '@rookery/client';
import { NoWatcherError, WatcherType } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { productUnderTest } from '../../harness/product.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { Heard } from '../heard.js';
import { caughtUp, sharedEnsemble } from '../shared-ensemble.js';

const ROOKERY = productUnderTest().name === 'rookery';
const LONG_PATHS = 20_000;
const TEST_DEADLINE_MS = 120_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

/** Rookery tells the zxid of the change with the event, ZooKeeper before 3.9 does not. */
function told(zxid: bigint): bigint | null {
  return ROOKERY ? zxid : null;
}

test('each kind of one-shot watch is called once, with its type, path and zxid', async () => {
  const client = await useDirectClient(ensemble());
  const path = '/kinds';
  const [missing, present, data, children, removed] = Array.from({ length: 5 }, () => new Heard());
  if (!missing || !present || !data || !children || !removed) throw new Error('five were made');

  expect(await client.exists(path, { watcher: missing.watcher })).toBeNull();
  const created = await client.create(path, 'one');
  expect(await missing.count(1)).toEqual([
    { type: 'created', path, zxid: told(created.stat.czxid) },
  ]);

  await client.exists(path, { watcher: present.watcher });
  await client.getData(path, { watcher: data.watcher });
  const set = await client.setData(path, 'two');
  const change = { type: 'dataChanged', path, zxid: told(set.mzxid) };
  expect(await present.count(1)).toEqual([change]);
  expect(await data.count(1)).toEqual([change]);

  await client.getChildren(path, { watcher: children.watcher });
  const child = await client.create(`${path}/child`);
  const childrenChanged = { type: 'childrenChanged', path, zxid: told(child.stat.czxid) };
  expect(await children.count(1)).toEqual([childrenChanged]);

  await client.delete(`${path}/child`);
  await client.exists(path, { watcher: removed.watcher });
  await client.getChildren(path, { watcher: removed.watcher });
  expect(client.watchCount).toBe(2);
  await client.delete(path);
  const deletedAt = (await client.exists('/'))?.pzxid ?? 0n;
  // There are watches of two kinds and one event: a watcher hears of a change once.
  expect(await removed.count(1)).toEqual([{ type: 'deleted', path, zxid: told(deletedAt) }]);

  await client.create(path);
  await client.setData(path, 'three');
  await client.create(`${path}/child`);
  for (const heard of [missing, present, data, children, removed]) {
    expect(heard.events).toHaveLength(1);
  }
  expect(client.watchCount).toBe(0);
});

test('a read that fails leaves no watch', async () => {
  const client = await useDirectClient(ensemble());
  const heard = new Heard();
  const { watcher } = heard;
  await expect(client.getData('/failed', { watcher })).rejects.toThrow();
  await expect(client.getChildren('/failed', { watcher })).rejects.toThrow();
  expect(client.watchCount).toBe(0);
  await client.create('/failed');
  await client.sync('/');
  expect(heard.events).toEqual([]);
});

test('one watcher for several reads of a path is called once, several are each', async () => {
  const client = await useDirectClient(ensemble());
  await client.create('/shared');
  const [one, two] = [new Heard(), new Heard()];
  await Promise.all([
    client.getData('/shared', { watcher: one.watcher }),
    client.getData('/shared', { watcher: one.watcher }),
    client.getData('/shared', { watcher: two.watcher }),
  ]);
  expect(client.watchCount).toBe(2);
  await client.setData('/shared', 'new');
  await client.sync('/');
  expect([one.events.length, two.events.length, client.watchCount]).toEqual([1, 1, 0]);
});

test(
  'of pipelined reads: no event before its read has settled, none after newer data',
  async () => {
    const [reader, writer] = await Promise.all([
      useDirectClient(ensemble()),
      useDirectClient(ensemble()),
    ]);
    const path = '/pipelined';
    await writer.create(path, '0');
    await reader.sync(path);
    /** Reads whose watcher waits, with the mzxid they showed; undefined while they are pending. */
    const waiting = new Map<number, bigint | undefined>();
    const offences: string[] = [];
    let events = 0;
    let reads = 0;
    const read = async () => {
      const index = reads++;
      waiting.set(index, undefined);
      const watcher: Watcher = (event) => {
        events += 1;
        const shown = waiting.get(index);
        if (shown === undefined) offences.push(`read ${index}: called before it was settled`);
        if (event.type !== 'dataChanged') offences.push(`read ${index}: ${event.type}`);
        else if (event.zxid !== null && event.zxid <= (shown ?? 0n)) {
          offences.push(`read ${index}: told of ${event.zxid}, which it had shown`);
        }
        waiting.delete(index);
      };
      const { stat } = await reader.getData(path, { watcher });
      waiting.set(index, stat.mzxid);
      for (const [other, shown] of waiting) {
        if (shown !== undefined && shown < stat.mzxid) {
          offences.push(`read ${index} shows ${stat.mzxid}, read ${other} still waits at ${shown}`);
        }
      }
    };
    let writing = true;
    const written = (async () => {
      for (let round = 0; round < 100; round++) {
        await Promise.all(Array.from({ length: 5 }, () => writer.setData(path, `${round}`)));
      }
      writing = false;
    })();
    while (writing) await Promise.all(Array.from({ length: 20 }, read));
    await written;
    await writer.setData(path, 'last');
    await reader.sync(path);
    await reader.getData(path);
    expect(offences).toEqual([]);
    expect(events).toBe(reads);
    expect([...waiting.keys()]).toEqual([]);
    expect(reader.watchCount).toBe(0);
  },
  TEST_DEADLINE_MS,
);

test('after a lost connection watches stand again, and what was missed is told', async () => {
  const other = await useDirectClient(ensemble());
  const cuttable = await CuttableClient.use(ensemble());
  const { client } = cuttable;
  for (const name of ['', '/set', '/gone', '/parent', '/same']) await client.create(`/back${name}`);
  const heard = {
    set: new Heard(),
    gone: new Heard(),
    born: new Heard(),
    parent: new Heard(),
    same: new Heard(),
    never: new Heard(),
  };
  await client.getData('/back/set', { watcher: heard.set.watcher });
  await client.getData('/back/gone', { watcher: heard.gone.watcher });
  await client.exists('/back/born', { watcher: heard.born.watcher });
  await client.getChildren('/back/parent', { watcher: heard.parent.watcher });
  await client.getData('/back/same', { watcher: heard.same.watcher });
  await client.exists('/back/never', { watcher: heard.never.watcher });
  const sessionId = client.session?.id;

  await cuttable.cut();
  await other.setData('/back/set', 'new');
  await other.delete('/back/gone');
  await other.create('/back/born');
  await other.create('/back/parent/child');
  await caughtUp(ensemble());
  const change = await cuttable.heal();
  expect(change).toMatchObject({ newSession: false, sessionId });

  const zxid = null;
  expect(await heard.set.count(1)).toEqual([{ type: 'dataChanged', path: '/back/set', zxid }]);
  expect(await heard.gone.count(1)).toEqual([{ type: 'deleted', path: '/back/gone', zxid }]);
  expect(await heard.born.count(1)).toEqual([{ type: 'created', path: '/back/born', zxid }]);
  const children = { type: 'childrenChanged', path: '/back/parent', zxid };
  expect(await heard.parent.count(1)).toEqual([children]);
  expect(client.watchCount).toBe(2);

  const { mzxid } = await other.setData('/back/same', 'new');
  const same = { type: 'dataChanged', path: '/back/same', zxid: told(mzxid) };
  expect(await heard.same.count(1)).toEqual([same]);
  await other.create('/back/never');
  await heard.never.count(1);
  expect(client.watchCount).toBe(0);
});

test('a watcher whose read was answered before the cut is told once, however often it is cut', async () => {
  const other = await useDirectClient(ensemble());
  const cuttable = await CuttableClient.use(ensemble());
  await other.create('/often');
  const heard = new Heard();
  await cuttable.client.sync('/');
  await cuttable.client.getData('/often', { watcher: heard.watcher });
  for (let round = 0; round < 5; round++) {
    await cuttable.cut();
    if (round === 3) await other.setData('/often', 'new');
    await caughtUp(ensemble());
    await cuttable.heal();
  }
  await heard.count(1);
  await other.setData('/often', 'newer');
  await cuttable.client.sync('/');
  await cuttable.client.getData('/often');
  expect(heard.types).toEqual(['dataChanged']);
});

test(
  '20,000 watches on long paths stand again after a reconnect: chunk by chunk',
  async () => {
    const other = await useDirectClient(ensemble());
    const cuttable = await CuttableClient.use(ensemble());
    const { client } = cuttable;
    await client.create('/many');
    // 6 MB of paths: in one frame no server takes them.
    const paths = Array.from({ length: LONG_PATHS }, (_, at) => `/many/${at}`.padEnd(300, 'x'));
    const heard = new Heard();
    const persistent = new Heard();
    const { watcher } = heard;
    await Promise.all(paths.map((path) => client.exists(path, { watcher })));
    const standing = paths.filter((_, at) => at % 100 === 0);
    await Promise.all(standing.map((path) => client.addWatch(path, persistent.watcher)));
    expect(client.watchCount).toBe(LONG_PATHS + standing.length);

    await cuttable.cut();
    const missed = [0, 777, 10_000, 19_999].map((at) => paths[at] ?? '');
    for (const path of missed) await other.create(path);
    await caughtUp(ensemble());
    await cuttable.heal();
    await heard.count(missed.length);
    expect(heard.events.map(({ path }) => path).sort()).toEqual([...missed].sort());
    await persistent.until('a resync of each', () => {
      return persistent.types.filter((type) => type === 'resync').length === standing.length;
    });

    const later = [1, 5_000, 19_998].map((at) => paths[at] ?? '');
    for (const path of later) await other.create(path);
    await heard.count(missed.length + later.length);
    expect(heard.types).toEqual(Array(missed.length + later.length).fill('created'));
    await client.close();
    expect(client.watchCount).toBe(0);
    const ends = heard.types.filter((type) => type === 'closed').length;
    expect(ends).toBe(LONG_PATHS - missed.length - later.length);
    expect(persistent.types.filter((type) => type === 'closed')).toHaveLength(standing.length);
  },
  TEST_DEADLINE_MS,
);

test('a watcher taken back is not called, and the server forgets the watch with the last one', async () => {
  const client = await useDirectClient(ensemble());
  await client.create('/taken-back');
  const [one, two] = [new Heard(), new Heard()];
  await client.getData('/taken-back', { watcher: one.watcher });
  await client.getData('/taken-back', { watcher: two.watcher });
  client.removeWatcher('/taken-back', one.watcher);
  await client.checkWatches('/taken-back', WatcherType.data);
  client.removeWatcher('/taken-back', two.watcher);
  expect(client.watchCount).toBe(0);
  const check = client.checkWatches('/taken-back', WatcherType.data);
  await expect(check).rejects.toBeInstanceOf(NoWatcherError);
  await client.setData('/taken-back', 'new');
  await client.sync('/');
  expect([...one.events, ...two.events]).toEqual([]);
});

test('a watcher taken back while another read sets the same watch: the other is told', async () => {
  const client = await useDirectClient(ensemble());
  await client.create('/overlap');
  for (let round = 0; round < 20; round++) {
    const [one, two] = [new Heard(), new Heard()];
    await client.getData('/overlap', { watcher: one.watcher });
    const read = client.getData('/overlap', { watcher: two.watcher });
    client.removeWatcher('/overlap', one.watcher);
    await read;
    await client.setData('/overlap', `${round}`);
    await two.count(1);
    expect(one.events).toEqual([]);
  }
  expect(client.watchCount).toBe(0);
});

test('removeWatches ends watches by type and tells them; without one it fails', async () => {
  const client = await useDirectClient(ensemble());
  const path = '/removed';
  await client.create(path);
  const [data, child] = [new Heard(), new Heard()];
  await client.getData(path, { watcher: data.watcher });
  await client.getChildren(path, { watcher: child.watcher });
  await client.checkWatches(path, WatcherType.any);
  await client.removeWatches(path, WatcherType.data);
  expect(data.events).toEqual([{ type: 'removed', path }]);
  expect(client.watchCount).toBe(1);
  await expect(client.removeWatches(path, WatcherType.data)).rejects.toThrow(NoWatcherError);
  await client.checkWatches(path, WatcherType.children);
  await client.removeWatches(path, WatcherType.any);
  expect(child.events).toEqual([{ type: 'removed', path }]);
  await expect(client.checkWatches(path, WatcherType.any)).rejects.toThrow(NoWatcherError);
  await client.setData(path, 'new');
  await client.sync('/');
  expect([data.events.length, child.events.length, client.watchCount]).toEqual([1, 1, 0]);
});

test('a lost session ends one-shot watches with lost, once; those of the next are its own', async () => {
  const cuttable = await CuttableClient.use(ensemble());
  const { client } = cuttable;
  const [data, exist, child] = [new Heard(), new Heard(), new Heard()];
  await client.create('/ends');
  await client.getData('/ends', { watcher: data.watcher });
  await client.exists('/ends/none', { watcher: exist.watcher });
  await client.getChildren('/ends', { watcher: child.watcher });
  await cuttable.cut();
  await cuttable.expireSession();
  const lost = losingSession(client);
  expect(await cuttable.heal()).toMatchObject({ newSession: true });
  await lost;
  expect(data.events).toEqual([{ type: 'lost', path: '/ends' }]);
  expect(exist.events).toEqual([{ type: 'lost', path: '/ends/none' }]);
  expect(child.events).toEqual([{ type: 'lost', path: '/ends' }]);
  expect(client.watchCount).toBe(0);
  const next = new Heard();
  await client.getData('/ends', { watcher: next.watcher });
  await client.setData('/ends', 'new');
  await next.count(1);
  expect([data.types, next.types]).toEqual([['lost'], ['dataChanged']]);
});

test('close() ends every watch with closed, connected or cut off', async () => {
  for (const cut of [false, true]) {
    const cuttable = await CuttableClient.use(ensemble());
    const { client } = cuttable;
    const [once, persistent] = [new Heard(), new Heard()];
    await client.exists('/never-made', { watcher: once.watcher });
    await client.addWatch('/never-made', persistent.watcher, { recursive: true });
    if (cut) await cuttable.cut();
    await client.close();
    expect(once.events).toEqual([{ type: 'closed', path: '/never-made' }]);
    expect(persistent.events).toEqual([{ type: 'closed', path: '/never-made' }]);
    expect(client.watchCount).toBe(0);
  }
});

test('behind a chroot and a namespace events have the paths that reads were given', async () => {
  const plain = await useDirectClient(ensemble());
  await plain.create('/rooted');
  await plain.create('/rooted/space');
  const hosts = ensemble()
    .ports.map((port) => `127.0.0.1:${port}`)
    .join(',');
  const client = await connect(`${hosts}/rooted`);
  const view = client.namespace('/space');
  await view.sync('/');
  const heard = new Heard();
  const { watcher } = heard;
  await view.getChildren('/', { watcher });
  await view.exists('/a', { watcher });
  expect(plain.watchCount).toBe(0);
  await plain.create('/rooted/space/a');
  await heard.count(2);
  expect(heard.events.map(({ type, path }) => `${type} ${path}`).sort()).toEqual([
    'childrenChanged /',
    'created /a',
  ]);
  // The function that was given is the one that is taken back, wrapped or not.
  await view.getData('/a', { watcher });
  await view.getData('/a', { watcher });
  expect(client.watchCount).toBe(1);
  view.removeWatcher('/a', watcher);
  expect(client.watchCount).toBe(0);
  await client.close();
});
