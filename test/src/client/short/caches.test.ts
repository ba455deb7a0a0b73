/**
 * The caches against real members: each ends equal to the tree, and its events replayed give what
 * it holds, while the tree changes at random, the leader dies, connections are cut and sessions
 * end. Seeded; what is random is what changes and between which changes the faults come.
 */
import {
  type CachedNode,
  type CacheEvent,
  ChildrenCache,
  type Client,
  NodeCache,
  NodeExistsError,
  NoNodeError,
  NotEmptyError,
  PersistentWatcher,
  replayCacheEvent,
  TreeCache,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { Random } from '../../harness/random.js';
import { until } from '../../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const BELOW = ['', '/a', '/b', '/a/x', '/a/y', '/b/x', '/a/x/deep', '/a/x/deep/er'];

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

/** What its events have given, and what was wrong with them. */
class Mirror {
  readonly nodes = new Map<string, CachedNode>();
  readonly types: string[] = [];
  readonly violations: string[] = [];

  readonly take = (event: CacheEvent): void => {
    this.types.push(event.type);
    if ('path' in event) {
      const { type, path, old, node } = event;
      if ((this.nodes.get(path) ?? null) !== old) this.violations.push(`${type} ${path}`);
      if (old !== null && node !== null && node.stat.mzxid <= old.stat.mzxid) {
        this.violations.push(`${path} goes back`);
      }
    }
    replayCacheEvent(this.nodes, event);
  };
}

/** Path to the zxid of the last write of each znode. */
function zxidsOf(nodes: ReadonlyMap<string, CachedNode>): Record<string, bigint> {
  const sorted = [...nodes].sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([path, { stat }]) => [path, stat.mzxid]));
}

async function truthOf(client: Client, root: string): Promise<Record<string, bigint>> {
  await client.sync('/');
  const truth: Record<string, bigint> = {};
  for (const path of BELOW.map((below) => `${root}${below}`).sort()) {
    const stat = await client.exists(path);
    if (stat !== null) truth[path] = stat.mzxid;
  }
  return truth;
}

/** Half of what is tried at random cannot be. */
async function attempt(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    const cannotBe = [NodeExistsError, NoNodeError, NotEmptyError];
    if (!cannotBe.some((Kind) => error instanceof Kind)) throw error;
  }
}

async function change(writer: Client, root: string, random: Random, count: number): Promise<void> {
  const writes = Array.from({ length: count }, () => {
    const path = `${root}${random.pick(BELOW)}`;
    const roll = random.below(5);
    if (roll < 2) return attempt(writer.create(path, `${roll}`));
    return attempt(roll === 2 ? writer.delete(path) : writer.setData(path, `${roll}`));
  });
  await Promise.all(writes);
}

async function untilEqual(cache: { snapshot(): Map<string, CachedNode> }, to: object) {
  const wanted = JSON.stringify(to, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  await until(`the cache is ${wanted}`, DEADLINE_MS, () => {
    const held = zxidsOf(cache.snapshot());
    const text = JSON.stringify(held, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    return text === wanted ? true : undefined;
  });
}

function cachesOf(client: Client, root: string) {
  const tree = new TreeCache(client, root);
  const children = new ChildrenCache(client, root);
  const node = new NodeCache(client, `${root}/a`);
  const mirrors = [new Mirror(), new Mirror(), new Mirror()];
  for (const [index, cache] of [tree, children, node].entries()) {
    cache.listen(mirrors[index]?.take ?? (() => {}));
  }
  return { tree, children, node, mirrors };
}

test('caches end equal to the tree through cuts, lost sessions and a killed leader', async () => {
  const root = '/caches/random';
  const random = Random.forTest('caches');
  const writer = await useDirectClient(ensemble());
  await writer.create('/caches');
  const cuttable = await CuttableClient.use(ensemble());
  const { tree, children, node, mirrors } = cachesOf(cuttable.client, root);
  await Promise.all([tree.ready(), children.ready(), node.ready()]);
  for (let round = 0; round < 8; round++) {
    await change(writer, root, random, 20);
    await cuttable.cut();
    await change(writer, root, random, random.below(10));
    if (round % 3 === 2) await cuttable.expireSession();
    await cuttable.heal();
    await change(writer, root, random, 5);
  }
  const leader = await ensemble().leader();
  await leader.kill();
  await writer.connected();
  for (let round = 0; round < 3; round++) {
    // What is in flight as the leader dies may fail; what comes after it does not.
    await change(writer, root, random, 20).catch(() => {});
  }
  ensemble().start([leader.id]);
  await ensemble().serving();
  await change(writer, root, random, 10);

  const truth = await truthOf(writer, root);
  await untilEqual(tree, truth);
  const isChild = ([path]: [string, bigint]) =>
    path.split('/').length === root.split('/').length + 1;
  const ofChildren = Object.fromEntries(Object.entries(truth).filter(isChild));
  const byPath = () =>
    new Map([...children.children().values()].map((child) => [child.path, child]));
  await untilEqual({ snapshot: byPath }, ofChildren);
  const ofNode = Object.entries(truth).filter(([path]) => path === `${root}/a`);
  await untilEqual(node, Object.fromEntries(ofNode));
  const held = [tree.snapshot(), byPath(), node.snapshot()];
  expect(mirrors.map(({ nodes }) => zxidsOf(nodes))).toEqual(held.map(zxidsOf));
  expect(mirrors.map(({ violations }) => violations)).toEqual([[], [], []]);
  for (const { types } of mirrors) {
    expect(types.filter((type) => type === 'initialized')).toHaveLength(1);
    expect(types.filter((type) => type === 'resynced').length).toBeGreaterThan(0);
  }
  for (const cache of [tree, children, node]) await cache.close();
  expect(cuttable.client.watchCount).toBe(0);
});

test('a tree cache hears of each change though others of its client watch its root', async () => {
  // Servers before 3.9 have one mode of watch for a path, the last one asked for.
  const root = '/cached-and-watched';
  const writer = await useDirectClient(ensemble());
  const client = await useDirectClient(ensemble());
  await writer.create(root);
  await client.sync(root);
  const cache = new TreeCache(client, root);
  await cache.ready();
  const mine = new PersistentWatcher(client, root);
  await mine.whenStanding();
  await writer.create(`${root}/after-persistent`);
  await until(
    'the first change',
    DEADLINE_MS,
    () => cache.get(`${root}/after-persistent`) ?? undefined,
  );
  const seen: string[] = [];
  for (let round = 0; round < 20; round++) {
    const watcher = () => seen.push(`${round}`);
    await client.getData(root, { watcher });
    await writer.create(`${root}/${round}`);
    await until(`change ${round}`, DEADLINE_MS, () => cache.get(`${root}/${round}`) ?? undefined);
    client.removeWatcher(root, watcher);
  }
  await mine.close();
  await writer.create(`${root}/after-removal`);
  await until(
    'the last change',
    DEADLINE_MS,
    () => cache.get(`${root}/after-removal`) ?? undefined,
  );
  expect(seen).toEqual([]);
  await cache.close();
  expect(client.watchCount).toBe(0);
});

test('a cache of 2,000 znodes finds the few that changed while it was cut off', async () => {
  const root = '/wide';
  const writer = await useDirectClient(ensemble());
  await writer.create(root);
  const names = Array.from({ length: 2_000 }, (_, index) => `${index}`);
  await Promise.all(names.map((name) => writer.create(`${root}/${name}`, name)));
  const cuttable = await CuttableClient.use(ensemble());
  const { client } = cuttable;
  await client.sync(root);
  const cache = new TreeCache(client, root);
  await cache.ready();
  expect(cache.size).toBe(names.length + 1);
  const told: string[] = [];
  cache.listen((event) => told.push('path' in event ? `${event.type} ${event.path}` : event.type));
  await cuttable.cut();
  await writer.setData(`${root}/7`, 'changed');
  await writer.delete(`${root}/8`);
  await writer.create(`${root}/new`);
  await cuttable.heal();
  await until('it has caught up', DEADLINE_MS, () => told.at(-1) === 'resynced' || undefined);
  const changes = [`nodeChanged ${root}/7`, `nodeCreated ${root}/new`, `nodeDeleted ${root}/8`];
  expect(told.sort()).toEqual([...changes, 'resynced']);
  await cache.close();
  expect(client.watchCount).toBe(0);
});
