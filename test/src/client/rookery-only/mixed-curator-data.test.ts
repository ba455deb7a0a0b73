/**
 * Node and Java on the same data: our queue and atomic long against Curator's DistributedQueue and
 * DistributedAtomicLong, as Debian ships them.
 *
 * Producers and consumers of both languages share one queue; consumers of Curator keep what they
 * are given until the test asks for it. Curator is driven line by line, see
 * foreign/curator/MixedDriver.java.
 */
import { AtomicLong, LeaseLostError, Queue } from '@rookery/client';
import { describe, expect, test } from 'vitest';
import { compileJava, mayLackCurator } from '../../foreign/curator.js';
import type { ForeignActor } from '../../foreign/driver.js';
import { until } from '../../harness/wait.js';
import { LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { endSession, overOf, sessionOf, sharedDriver } from '../mixed.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const GIVEN_DEADLINE_MS = 40_000;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });
const driver = sharedDriver(ensemble, () => compileJava('MixedDriver'));

const node = () => useDirectClient(ensemble());
const java = () => driver().actor();

describe.skipIf(mayLackCurator())('Node and Curator', () => {
  const safeties = [
    { safety: 'removed when given', lockPath: undefined },
    { safety: 'locked when given', lockPath: '/mixed/queue-locks' },
  ] as const;
  describe.each(safeties)('queue whose entries are $safety', ({ lockPath }) => {
    const base = lockPath === undefined ? '/mixed/queue' : '/mixed/locked-queue';
    const options = lockPath === undefined ? {} : { lockPath };
    const open = async (role: 'produce' | 'consume' | 'hold', path: string) => {
      const actor = java();
      await actor.call('queue.open', path, role, lockPath ?? '');
      return actor;
    };

    test('what Node puts Java is given, in order, and several items of one entry, too', async () => {
      const path = `${base}/to-java`;
      const client = await node();
      const queue = new Queue(client, path, options);
      await queue.put('before');
      const consumer = await open('consume', path);
      for (let i = 0; i < 10; i++) await queue.put(`item ${i}`);
      await queue.putAll(['first of three', '', 'last, ünïcode']);
      await queue.put('after');
      expect(await next(consumer, path, 15)).toEqual([
        'before',
        ...Array.from({ length: 10 }, (_, index) => `item ${index}`),
        ...['first of three', '', 'last, ünïcode', 'after'],
      ]);
      await untilNames(client, path, 0);
    });

    test('what Java puts Node is given, in order, several items as one entry', async () => {
      const path = `${base}/to-node`;
      const client = await node();
      const queue = new Queue(client, path, options);
      const waiting = queue.take();
      const producer = await open('produce', path);
      await producer.call('queue.put', path, 'item 0', '', 'ünïcode');
      await producer.call('queue.putMulti', path, 'one', '', 'three');
      const entries = [await waiting];
      while (entries.length < 4) entries.push(await queue.take());
      expect(entries.map(({ items }) => items.map(String))).toEqual([
        ['item 0'],
        [''],
        ['ünïcode'],
        ['one', '', 'three'],
      ]);
      for (const entry of entries) await entry.done();
      expect(await queue.poll()).toBeNull();
      expect(await namesIn(client, path)).toEqual([]);
    });

    test('consumers and producers of both: each item is given once', async () => {
      const path = `${base}/shared`;
      const client = await node();
      const queue = new Queue(client, path, options);
      const [first, second] = await Promise.all([open('consume', path), open('consume', path)]);
      const items = (of: string) => Array.from({ length: 20 }, (_, index) => `${of} ${index}`);
      const given: string[] = [];
      const stop = new AbortController();
      const consuming = queue.consume((entry) => void given.push(...entry.items.map(String)), {
        signal: stop.signal,
      });
      const putting = items('node').map((item) => queue.put(item));
      await Promise.all([...putting, first.call('queue.put', path, ...items('java'))]);
      await untilNames(client, path, 0);
      stop.abort();
      await consuming;
      // Without locks an entry is removed before its items are given.
      await until('everything has been given', GIVEN_DEADLINE_MS, async () => {
        for (const consumer of [first, second]) {
          const more = await consumer.call('queue.given', path);
          given.push(...more.filter((item) => item !== ''));
        }
        return given.length >= 40 || undefined;
      });
      expect(given.toSorted()).toEqual([...items('node'), ...items('java')].toSorted());
    });
  });

  test('queue with locks: what one is busy with the other is not given, until its session ends', async () => {
    const [path, lockPath] = ['/mixed/busy-queue', '/mixed/busy-queue-locks'];
    const control = await node();
    const doomed = await node();
    const queue = new Queue(control, path, { lockPath });
    await queue.putAll(['to java']);
    const busy = java();
    await busy.call('queue.open', path, 'hold', lockPath);
    expect(await next(busy, path, 1)).toEqual(['to java']);
    expect(await queue.poll()).toBeNull();
    const taking = queue.take();
    await endSession(ensemble(), await sessionOf(busy));
    const taken = await taking;
    expect(taken.items.map(String)).toEqual(['to java']);
    await taken.done();

    const held = await holdingFirst(new Queue(doomed, path, { lockPath }), queue);
    const consumer = java();
    await consumer.call('queue.open', path, 'consume', lockPath);
    await queue.put('to everybody');
    expect(await next(consumer, path, 1)).toEqual(['to everybody']);
    await endSession(ensemble(), await doomed.connected());
    // Curator does not watch locks: it looks again when the entries change.
    await untilNames(control, lockPath, 0);
    await queue.put('one more');
    expect(await next(consumer, path, 2)).toEqual(['to node', 'one more']);
    if (held.lease === null) throw new Error('it is a queue with locks');
    await overOf(held.lease);
    await expect(held.done()).rejects.toThrow(LeaseLostError);
    await untilNames(control, path, 0);
    await untilNames(control, lockPath, 0);
  });

  test('atomic long: each reads what the other writes, from the least to the greatest', async () => {
    const path = '/mixed/atomic/format';
    const client = await node();
    const number = new AtomicLong(client, path);
    const actor = java();
    expect(await actor.call('long.get', path)).toEqual(['0']);
    expect(await actor.call('long.compareAndSet', path, 0, 1)).toEqual(['false']);
    expect((await number.compareAndSet(0n, 1n)).succeeded).toBe(false);
    expect(await number.add(5n)).toMatchObject({ succeeded: true, pre: 0n, post: 5n });
    expect(await actor.call('long.add', path, -8, 1)).toEqual(['5', '-3']);
    await client.sync(path);
    expect((await client.getData(path)).data?.toString('hex')).toBe('fffffffffffffffd');
    expect(await number.compareAndSet(-3n, 2n ** 63n - 1n)).toMatchObject({ succeeded: true });
    expect(await actor.call('long.get', path)).toEqual([`${2n ** 63n - 1n}`]);
    expect(await actor.call('long.compareAndSet', path, 1, 2)).toEqual(['false']);
    expect(await actor.call('long.compareAndSet', path, 2n ** 63n - 1n, -(2n ** 63n))).toEqual([
      'true',
    ]);
    expect(await number.get()).toBe(-(2n ** 63n));
    expect(await number.compareAndSet(0n, 1n)).toMatchObject({ succeeded: false });
    expect(await actor.call('long.trySet', path, 7)).toEqual(['true', `${-(2n ** 63n)}`, '7']);
    expect(await number.trySet(8n)).toMatchObject({ succeeded: true, pre: 7n, post: 8n });
  });

  test('atomic long: who initializes it first, in either language, has done it', async () => {
    const client = await node();
    const [ours, theirs] = ['/mixed/atomic/node-first', '/mixed/atomic/java-first'];
    const actor = java();
    expect(await new AtomicLong(client, ours).initialize(3n)).toBe(true);
    expect(await actor.call('long.initialize', ours, 4)).toEqual(['false']);
    expect(await actor.call('long.get', ours)).toEqual(['3']);
    expect(await actor.call('long.initialize', theirs, 5)).toEqual(['true']);
    expect(await new AtomicLong(client, theirs).initialize(6n)).toBe(false);
    expect(await new AtomicLong(client, theirs).get()).toBe(5n);
  });

  test('atomic long: what both add at the same time, by luck or under a lock, is all there', async () => {
    const path = '/mixed/atomic/sum';
    const rounds = 25;
    const clients = await Promise.all([node(), node()]);
    const promotion = { lockPath: `${path}-lock`, tries: 200 };
    const adding = clients.map(async (client) => {
      const number = new AtomicLong(client, path, { optimisticTries: 2, promotion });
      for (let i = 0; i < rounds; i++) {
        const { succeeded, pre, post } = await number.increment();
        expect([succeeded, post]).toEqual([true, pre + 1n]);
      }
    });
    const actors = [java(), java()];
    const all = [...adding, ...actors.map((actor) => actor.call('long.add', path, 1, rounds))];
    await Promise.all(all);
    const sum = BigInt(rounds * all.length);
    expect(await new AtomicLong(clients[0], path).get()).toBe(sum);
    expect(await actors[0]?.call('long.get', path)).toEqual([`${sum}`]);
  });
});

async function holdingFirst(holder: Queue, producer: Queue) {
  const taking = holder.take();
  await producer.put('to node');
  return await taking;
}

/** The next items that the consumer has been given. */
async function next(consumer: ForeignActor, path: string, count: number): Promise<string[]> {
  const items: string[] = [];
  while (items.length < count) items.push(...(await consumer.call('queue.next', path)));
  return items;
}
