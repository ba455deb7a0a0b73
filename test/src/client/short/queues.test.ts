/**
 * The queues against real members: each in its order, puts and takes whose replies are lost, those
 * with a bound and in shards. Under kills, cuts and expiry: queue-faults.test.ts.
 */
import {
  BoundedQueue,
  type Client,
  DelayQueue,
  IdQueue,
  PriorityQueue,
  Queue,
  type QueueEntry,
  ShardedQueue,
  SimpleQueue,
} from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import { useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { counted, type Traffic } from '../holders-ledger.js';
import { useReplyLosingClient } from '../reply-losing-client.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;

const ensemble = sharedEnsemble();

const textOf = ({ items }: QueueEntry) => items.map(String).join();

function useTwo(): Promise<Client[]> {
  return Promise.all([useDirectClient(ensemble()), useDirectClient(ensemble())]);
}

test.each([{}, { lockPath: '/queues/order-locks' }])(
  'entries are given in the order of the puts, once each (%o)',
  async (options) => {
    const path = '/queues/order';
    const [one, other] = await useTwo();
    if (one === undefined || other === undefined) throw new Error('there are two');
    const queue = new Queue(one, path, options);
    const taking = new Queue(other, path, options);
    const first = taking.take();
    await until('the take waits', DEADLINE_MS, () => other.watchCount > 0 || undefined);
    for (let index = 0; index < 30; index++) await queue.put(`${index}`);
    const given: string[] = [];
    const entry = await first;
    given.push(textOf(entry));
    await entry.done();
    for (let index = 1; index < 30; index++) {
      const next = await taking.take();
      given.push(textOf(next));
      await next.done();
    }
    expect(given).toEqual(Array.from({ length: 30 }, (_, index) => `${index}`));
    expect(await taking.poll()).toBeNull();
    await untilNames(one, `${path}-in-flight`, 0);
    expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
  },
);

test('a huge directory is not listed to take the first of it', async () => {
  const path = '/queues/huge';
  const [one, other] = await useTwo();
  if (one === undefined || other === undefined) throw new Error('there are two');
  await new Queue(one, path).put('first');
  const create = { kind: 'create', path: `${path}/queue-`, mode: 'persistentSequential' } as const;
  for (let count = 0; count < 6; count++) {
    await one.multi(Array.from({ length: 1_000 }, () => ({ ...create, data: null })));
  }
  const traffic: Traffic = { events: 0, listings: 0 };
  const queue = new Queue(counted(other, traffic), path);
  expect(await queue.size()).toBe(6_001);
  expect(textOf(await queue.take())).toBe('first');
  for (let count = 0; count < 5; count++) expect((await queue.take()).data).toBeNull();
  expect(traffic).toEqual({ events: 0, listings: 0 });
});

test('a put and a take whose replies are lost happen once', async () => {
  const path = '/queues/lost-replies';
  const control = await useDirectClient(ensemble());
  const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
  const queue = new Queue(client, path);
  await queue.put('first');
  const putLost = loseReplyTo(OpCode.multi);
  await queue.put('second');
  await putLost;
  await untilNames(control, path, 2);
  const takeLost = loseReplyTo(OpCode.multi);
  expect(textOf(await queue.take())).toBe('first');
  await takeLost;
  expect(textOf(await queue.take())).toBe('second');
  expect(await queue.poll()).toBeNull();
  await untilNames(control, `${path}-in-flight`, 0);
});

test('priorities, times and ids decide who goes first', async () => {
  const [one, other] = await useTwo();
  if (one === undefined || other === undefined) throw new Error('there are two');
  const byPriority = new PriorityQueue(one, '/queues/priority');
  for (const priority of [3, -2, 0, -2]) await byPriority.put(`${priority}`, { priority });
  const order: string[] = [];
  for (let count = 0; count < 4; count++) order.push(textOf(await byPriority.take()));
  expect(order).toEqual(['-2', '-2', '0', '3']);
  const byTime = new DelayQueue(one, '/queues/delay');
  const startMs = Date.now();
  await byTime.put('later', startMs + 600);
  await byTime.put('soon', startMs + 300);
  for (const [item, dueMs] of [
    ['soon', startMs + 300],
    ['later', startMs + 600],
  ] as const) {
    expect(textOf(await byTime.take())).toBe(item);
    expect(Date.now()).toBeGreaterThanOrEqual(dueMs);
  }
  const byId = new IdQueue(one, '/queues/ids');
  for (const id of ['a', 'b', 'c']) await byId.put(id, id);
  expect(await new IdQueue(other, '/queues/ids').remove('b')).toBe(1);
  expect([textOf(await byId.take()), textOf(await byId.take())]).toEqual(['a', 'c']);
  expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
});

test('a simple queue, one with a bound and one in shards feed another client', async () => {
  const [one, other] = await useTwo();
  if (one === undefined || other === undefined) throw new Error('there are two');
  const simple = new SimpleQueue(other, '/queues/simple').take();
  await until('the take waits', DEADLINE_MS, () => other.watchCount > 0 || undefined);
  await new SimpleQueue(one, '/queues/simple').offer('bytes');
  expect((await simple).toString()).toBe('bytes');

  const bounded = new BoundedQueue(one, '/queues/bounded', { entriesMax: 2 });
  const puts = Array.from({ length: 6 }, (_, index) => bounded.put(`${index}`));
  const taking = new BoundedQueue(other, '/queues/bounded', { entriesMax: 2 });
  const given: number[] = [];
  for (const _ of puts) {
    expect((await namesIn(other, '/queues/bounded')).length).toBeLessThanOrEqual(2);
    given.push(Number(textOf(await taking.take())));
  }
  await Promise.all(puts);
  expect(given.sort()).toEqual([0, 1, 2, 3, 4, 5]);

  const options = { shardEntriesMax: 3, checkMs: 50 };
  const sharded = new ShardedQueue(one, '/queues/sharded', options);
  const stop = new AbortController();
  const caring = sharded.maintain({ signal: stop.signal });
  for (let index = 0; index < 3; index++) await sharded.put(`${index}`);
  await until('there are two shards', DEADLINE_MS, async () =>
    (await sharded.shards()).length === 2 ? true : undefined,
  );
  stop.abort();
  await caring;
  for (let index = 3; index < 12; index++) await sharded.put(`${index}`);
  const items = new Set<string>();
  const fromOther = new ShardedQueue(other, '/queues/sharded', options);
  while (items.size < 12) items.add(textOf(await fromOther.take()));
  expect(await fromOther.poll()).toBeNull();
  expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
});
