/**
 * Every recipe that works in the background fails in the same way: its status says so, whoever
 * listens is told once, and if nobody does and no call waits, a process warning says it. The table
 * names each recipe; the last test finds one without a row.
 */
import { NoAuthError } from '@rookery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as library from '../index.js';
import type { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';

const PATH = '/a';
const OPERATIONS = ['addWatch', 'create', 'exists', 'getChildren', 'getData', 'multi', 'setData'];
const parse = (data: Uint8Array | null) => String(data);

interface Row {
  /** Not yet started, or joined and registered. */
  make(client: FakeClient): library.BackgroundRecipe | Promise<library.BackgroundRecipe>;
  /** Whether it works from the moment it was made. */
  readonly isMadeRunning?: boolean;
}

interface Startable {
  start(): void;
}

const ROWS: Record<string, Row> = {
  ChildrenCache: { make: (client) => new library.ChildrenCache(client, PATH) },
  Configuration: {
    make: (client) => new library.Configuration(client, PATH, { parse, format: String }),
  },
  GroupMember: { make: (client) => new library.GroupMember(client, PATH, 'one') },
  LeaderLatch: { make: (client) => new library.LeaderLatch(client, PATH) },
  NodeCache: { make: (client) => new library.NodeCache(client, PATH) },
  Party: {
    isMadeRunning: true,
    make: async (client) => {
      const party = new library.Party(client, PATH);
      await party.join();
      return party;
    },
  },
  PersistentNode: { make: (client) => new library.PersistentNode(client, PATH) },
  PersistentWatcher: { make: (client) => new library.PersistentWatcher(client, PATH) },
  ServiceCache: { make: (client) => new library.ServiceCache(client, PATH) },
  ServiceDiscovery: {
    isMadeRunning: true,
    make: async (client) => {
      const discovery = new library.ServiceDiscovery(client, PATH);
      await discovery.register({ name: 'web', id: 'one' });
      return discovery;
    },
  },
  ServiceProvider: { make: (client) => new library.ServiceProvider(client, PATH) },
  ShallowParty: {
    isMadeRunning: true,
    make: async (client) => {
      const party = new library.ShallowParty(client, PATH, { identifier: 'one' });
      await party.join();
      return party;
    },
  },
  SharedCount: { make: (client) => new library.SharedCount(client, PATH, 1) },
  SharedValue: { make: (client) => new library.SharedValue(client, PATH, 'seed') },
  TreeCache: { make: (client) => new library.TreeCache(client, PATH) },
  TtlNode: { make: (client) => new library.TtlNode(client, PATH, { ttlMs: 1_000 }) },
};

const warnings: string[] = [];
const onWarning = ({ message }: Error) => warnings.push(message);

beforeEach(() => {
  warnings.length = 0;
  process.on('warning', onWarning);
});

afterEach(() => process.off('warning', onWarning));

function isStartable(recipe: object): recipe is Startable {
  return 'start' in recipe;
}

/** It works, and then the server refuses whatever it asks next. */
async function refused(row: Row, client: FakeClient, listener?: (error: unknown) => void) {
  const recipe = await row.make(client);
  expect(recipe.status).toBe(row.isMadeRunning === true ? 'running' : 'idle');
  expect(recipe.failure).toBeNull();
  if (listener !== undefined) recipe.onFailure(listener);
  for (const operation of OPERATIONS) client.failNext(operation, new NoAuthError(PATH), 5);
  if (row.isMadeRunning === true) client.expire();
  else if (isStartable(recipe)) recipe.start();
  await until(() => recipe.status === 'failed');
  expect(recipe.failure).toBeInstanceOf(NoAuthError);
  // Warnings are told in a later turn.
  await turns(5);
  return recipe;
}

describe.each(Object.entries(ROWS))('a failed %s', (name, row) => {
  it('tells each listener once, also one that comes later', async () => {
    const told: unknown[] = [];
    const recipe = await refused(row, newWorld().one, (error) => told.push(error));
    recipe.onFailure((error) => told.push(error));
    recipe.onFailure(() => told.push('was taken back'))();
    await turns(1);
    expect(told).toEqual([recipe.failure, recipe.failure]);
    expect(warnings).toEqual([]);
  });

  it('says so by a warning when nobody listens', async () => {
    await refused(row, newWorld().one);
    expect(warnings).toHaveLength(1);
    const of = name.endsWith('Party') || name === 'ServiceDiscovery' ? name : '\\w+';
    expect(warnings[0]).toMatch(new RegExp(`^the ${of} of ${PATH}\\S* has ended by NoAuthError: `));
  });
});

it('is no warning when a call that waits rejects with it', async () => {
  const { one } = newWorld();
  const latch = new library.LeaderLatch(one, PATH);
  one.failNext('create', new NoAuthError(PATH));
  await expect(latch.waitForLeadership()).rejects.toThrow(NoAuthError);
  const looping = new library.LeaderLatch(one, PATH);
  one.failNext('create', new NoAuthError(PATH));
  await expect(looping.leadership().next()).rejects.toThrow(NoAuthError);
  await turns(5);
  expect(warnings).toEqual([]);
});

it('is no warning when the application has closed the client, or the recipe', async () => {
  const { one } = newWorld();
  const cache = new library.NodeCache(one, PATH);
  const other = new library.NodeCache(one, PATH);
  await cache.ready();
  await other.ready();
  await other.close();
  expect(other.status).toBe('closed');
  await one.close();
  await until(() => cache.status === 'failed');
  await turns(5);
  expect(warnings).toEqual([]);
});

it('lets an instance be registered again whose registration has failed', async () => {
  const { one } = newWorld();
  const discovery = new library.ServiceDiscovery(one, PATH);
  const instance = { name: 'web', id: 'one' };
  await discovery.register(instance);
  const failed = new Promise((resolve) => discovery.onFailure(resolve));
  one.failNext('getData', new NoAuthError(PATH));
  one.expire();
  expect(await failed).toBeInstanceOf(NoAuthError);
  await discovery.register(instance);
  expect(await discovery.instances('web')).toHaveLength(1);
  await discovery.close();
});

it('has a row for each recipe that works in the background', () => {
  const names = Object.entries(library)
    .filter(([, value]) => {
      return typeof value === 'function' && value.prototype instanceof library.BackgroundRecipe;
    })
    .map(([name]) => name);
  expect(Object.keys(ROWS)).toEqual(names.sort());
});
