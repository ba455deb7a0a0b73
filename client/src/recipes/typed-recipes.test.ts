/**
 * Goal: recipes that hold values of the application read and write them by its schema; what others
 * have left there that the schema refuses hides nothing else, and is told.
 */
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { InvalidDataError } from '../api/errors.js';
import { json } from '../helpers/codecs.js';
import { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { ChildrenCache } from './children-cache.js';
import { Configuration } from './configuration.js';
import { DelayQueue } from './delay-queue.js';
import { NodeCache } from './node-cache.js';
import { PriorityQueue } from './priority-queue.js';
import { Queue } from './queue.js';
import { ServiceDiscovery } from './service-discovery.js';
import { TreeCache } from './tree-cache.js';

const Job = z.object({ id: z.number(), tries: z.number().default(0) });
const codec = json(Job);
type Read = { id: number; tries: number };

it('a cache of children gives values by name, without what cannot be read', async () => {
  const { server } = newWorld();
  const warnings: object[] = [];
  const ignore = () => undefined;
  const warn = (fields: object) => warnings.push(fields);
  const logger = { debug: ignore, info: ignore, error: ignore, warn };
  const client = new FakeClient(server, { logger });
  await client.create('/jobs', 'of no kind');
  await client.create('/jobs/a', '{"id":1}');
  await client.create('/jobs/b', '{"id":"x"}');
  const cache = new ChildrenCache(client, '/jobs', { codec });
  await cache.ready();
  expectTypeOf(cache.value('a')).toEqualTypeOf<Read | null>();
  expect(cache.values()).toEqual(new Map([['a', { id: 1, tries: 0 }]]));
  expect(cache.value('a')).toBe(cache.value('a'));
  expect(cache.value('c')).toBeNull();
  expect(() => cache.value('b')).toThrow(InvalidDataError);
  expect(cache.get('b')?.data?.toString()).toBe('{"id":"x"}');
  expect(warnings).toMatchObject([{ event: 'cache.invalid_data', path: '/jobs/b' }]);
  await client.setData('/jobs/b', '{"id":2}');
  await until(() => cache.values().size === 2);
  await cache.close();
});

it('caches of a node and of a tree give values, and bytes without a codec', async () => {
  const { one } = newWorld();
  await one.create('/a', '{"id":1}');
  await one.create('/a/b', '{"id":2}');
  const node = new NodeCache(one, '/a', { codec });
  const tree = new TreeCache(one, '/a', { codec });
  const plain = new NodeCache(one, '/a');
  await Promise.all([node.ready(), tree.ready(), plain.ready()]);
  expectTypeOf(plain.value).toEqualTypeOf<Buffer | null>();
  expect(node.value?.id).toBe(1);
  expect(tree.value('/a/b')?.id).toBe(2);
  expect([...tree.values().keys()]).toEqual(['/a', '/a/b']);
  expect(plain.value?.toString()).toBe('{"id":1}');
  const events: number[] = [];
  node.listen((event) => {
    if (event.type === 'nodeChanged')
      events.push(node.decode(event.old).id, node.decode(event.node).id);
  });
  await one.setData('/a', '{"id":3}');
  await until(() => events.length > 0);
  expect(events).toEqual([1, 3]);
  await Promise.all([node.close(), tree.close(), plain.close()]);
});

it('queues put and give values, in the format of Curator', async () => {
  const { one } = newWorld();
  const queue = new Queue(one, '/q', { codec, lockPath: '/locks' });
  await queue.put({ id: 1 });
  await queue.putAll([{ id: 2, tries: 5 }, { id: 3 }]);
  const entry = await queue.take();
  expectTypeOf(entry.items).toEqualTypeOf<readonly Read[]>();
  expect(entry.items).toEqual([{ id: 1, tries: 0 }]);
  await entry.done();
  const bare = await new Queue(one, '/q', { lockPath: '/locks' }).take();
  expect(bare.items.map(String)).toEqual(['{"id":2,"tries":5}', '{"id":3}']);
  await bare.release();
  await expect(queue.put({ id: 'x' as never })).rejects.toThrow(InvalidDataError);
  expect(await queue.size()).toBe(1);
});

it('queues of every kind take a codec', async () => {
  const { one } = newWorld();
  const urgent = new PriorityQueue(one, '/p', { codec });
  await urgent.put({ id: 1 }, { priority: 5 });
  expect((await urgent.take()).items[0]?.id).toBe(1);
  const later = new DelayQueue(one, '/d', { codec, now: () => 10 });
  await later.put({ id: 2 }, 10);
  expect((await later.take()).items[0]?.id).toBe(2);
});

it('an entry that cannot be read is put aside after its attempts, and does not block the queue', async () => {
  const { one, surroundings } = newWorld();
  await new Queue(one, '/q').put('broken');
  const queue = new Queue(one, '/q', { codec, lockPath: '/locks' });
  await queue.put({ id: 2 });
  const end = new AbortController();
  const seen: number[] = [];
  const consuming = queue.consume(
    ({ items }) => {
      for (const { id } of items) seen.push(id);
    },
    { signal: end.signal, attempts: { deadLetterPath: '/dead', max: 2, backoff: () => 5 } },
  );
  for (let round = 0; round < 50 && seen.length === 0; round++) {
    await turns(20);
    surroundings.advance(5);
  }
  end.abort();
  await consuming;
  expect(seen).toEqual([2]);
  expect((await new Queue(one, '/dead').take()).items.map(String)).toEqual(['broken']);
});

it('a configuration takes a codec of JSON, and says what is wrong with it', async () => {
  const { one } = newWorld();
  const limits = new Configuration(one, '/limits', json(z.object({ max: z.number().max(9) })));
  await limits.update((present) => ({ max: (present?.max ?? 0) + 1 }));
  expect(await limits.whenValid()).toEqual({ max: 1 });
  await expect(limits.update(() => ({ max: 10 }))).rejects.toThrow(/value for \/limits .*max/);
  await one.setData('/limits', '{"max":"x"}');
  await until(() => limits.state?.kind === 'invalid');
  expect(limits.state).toMatchObject({ error: { name: 'InvalidDataError', path: '/limits' } });
  expect(limits.value).toEqual({ max: 1 });
  await limits.close();
});

it('service discovery checks payloads, both ways', async () => {
  const { one } = newWorld();
  const payload = z.object({ weight: z.number().default(1) });
  const discovery = new ServiceDiscovery(one, '/services', { payload });
  await discovery.register({ name: 'web', id: 'a', payload: {} });
  const bad = discovery.register({ name: 'web', id: 'b', payload: { weight: 'x' as never } });
  await expect(bad).rejects.toMatchObject({ path: '/services/web/b', direction: 'write' });
  await expect(discovery.register({ name: 'web', id: 'c' })).rejects.toThrow(InvalidDataError);
  expect((await discovery.instance('web', 'a'))?.payload.weight).toBe(1);
  await new ServiceDiscovery(one, '/services').register({ name: 'web', id: 'other', payload: 7 });
  await expect(discovery.instance('web', 'other')).rejects.toThrow(InvalidDataError);
  expect((await discovery.instances('web')).map(({ id }) => id)).toEqual(['a']);
  const provider = discovery.provider('web', { filter: (instance) => instance.payload.weight > 0 });
  await provider.ready();
  expect(provider.instances.map(({ id }) => id)).toEqual(['a']);
  await provider.close();
  await discovery.close();
});
