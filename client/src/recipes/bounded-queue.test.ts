/** Queues that are kept from growing: with a bound, and in shards. */

import { NoAuthError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OperationAbortedError } from '../api/errors.js';
import { namesIn, newClient, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, strike } from '../testing/random-faults.js';
import { BoundedQueue } from './bounded-queue.js';
import type { QueueEntry } from './queues/queue-entry.js';
import { ShardedQueue } from './sharded-queue.js';

const PATH = '/queues/a';
const SEEDS = Array.from({ length: 15 }, (_, index) => index + 1);
const textOf = ({ items }: QueueEntry) => items.map(String).join();

describe('a bounded queue', () => {
  it('lets who puts into a full one wait until there is room, in order', async () => {
    const { server, one, other } = newWorld();
    const queue = new BoundedQueue(one, PATH, { entriesMax: 2 });
    const fromOther = new BoundedQueue(other, PATH, { entriesMax: 2 });
    for (const item of ['a', 'b']) await queue.put(item);
    const third = fromOther.put('c');
    await until(() => other.watchCount > 0);
    const fourth = queue.put('d');
    await until(() => namesIn(server, `${PATH}-gate`).length === 2);
    await turns(30);
    expect(namesIn(server, PATH)).toHaveLength(2);
    expect(textOf(await queue.take())).toBe('a');
    await third;
    await turns(30);
    expect(namesIn(server, PATH)).toHaveLength(2);
    const rest: string[] = [];
    for (let count = 0; count < 3; count++) rest.push(textOf(await queue.take()));
    await fourth;
    expect(rest).toEqual(['b', 'c', 'd']);
    await turns(10);
    expect(namesIn(server, `${PATH}-gate`)).toEqual([]);
    expect([one.watchCount, other.watchCount, one.listenerCount]).toEqual([0, 0, 0]);
  });

  it('says that a put was done though the server refuses to give up the gate', async () => {
    const { server, one } = newWorld();
    const queue = new BoundedQueue(one, PATH, { entriesMax: 2 });
    one.onSend = ({ op }) => {
      if (op === 'multi') one.failNext('delete', new NoAuthError(PATH), 3);
    };
    await queue.put('x');
    expect(namesIn(server, PATH)).toHaveLength(1);
  });

  it('lets nobody wait for who has given up', async () => {
    const { server, one, other } = newWorld();
    const queue = new BoundedQueue(one, PATH, { entriesMax: 1 });
    await queue.put('a');
    const stop = new AbortController();
    const failed = expect(queue.put('b', { signal: stop.signal })).rejects.toThrow(
      OperationAbortedError,
    );
    await until(() => one.watchCount > 0);
    const put = new BoundedQueue(other, PATH, { entriesMax: 1 }).put('c');
    await until(() => namesIn(server, `${PATH}-gate`).length === 2);
    stop.abort();
    await failed;
    expect(textOf(await queue.take())).toBe('a');
    await put;
    expect(textOf(await queue.take())).toBe('c');
  });

  it.each(SEEDS)('is never more than full under random faults (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings, one, other } = newWorld();
    const clients = [one, other, newClient(server, surroundings)];
    const options = { entriesMax: 3, lockPath: `${PATH}-locks`, onSessionLost: 'rejoin' } as const;
    const stop = new AbortController();
    let producing = clients.length;
    const certain: string[] = [];
    const given = new Set<string>();
    const producers = clients.map(async (client, index) => {
      const queue = new BoundedQueue(client, PATH, options);
      for (let count = 0; count < 8; ) {
        const item = `${index}-${count}`;
        try {
          await queue.put(item);
          certain.push(item);
          count++;
        } catch (error) {
          if (!(error instanceof SessionExpiredError)) throw error;
          if (error.ambiguous) count++;
        }
      }
      producing--;
    });
    const consumers = clients.map((client) =>
      new BoundedQueue(client, PATH, options).consume(
        async (entry) => {
          await turns(Math.floor(random() * 6));
          given.add(textOf(entry));
        },
        { signal: stop.signal },
      ),
    );
    await runToEnd([...producers, ...consumers], {
      surroundings,
      random,
      faultySteps: 400,
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
      check: () => {
        const { length } = namesIn(server, PATH);
        expect(length, `seed ${seed}`).toBeLessThanOrEqual(3);
        if (producing === 0 && length === 0) stop.abort();
      },
    });
    await surroundings.settle();
    expect(certain.filter((item) => !given.has(item))).toEqual([]);
    for (const directory of ['gate', 'locks', 'in-flight']) {
      expect(namesIn(server, `${PATH}-${directory}`), directory).toEqual([]);
    }
    for (const client of clients) {
      expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
    }
  });
});

describe('a sharded queue', () => {
  it.each([{}, { lockPath: '/queues/locks' }])(
    'gives what is in any shard (%o)',
    async (options) => {
      const { server, one, other } = newWorld();
      const queue = new ShardedQueue(one, PATH, options);
      const taken = new ShardedQueue(other, PATH, options).take();
      await until(() => other.watchCount > 0);
      await queue.put('first');
      const first = await taken;
      expect(textOf(first)).toBe('first');
      await first.done();
      const [shard] = await queue.shards();
      const second = 'queue-00000000-0000-4000-8000-00000000beef';
      await one.create(`${PATH}/${second}`);
      for (let index = 0; index < 20; index++) await queue.put(`${index}`);
      expect(await queue.size()).toBe(20);
      const sizes = [shard, second].map((name) => namesIn(server, `${PATH}/${name}`).length);
      expect(Math.min(...sizes)).toBeGreaterThan(0);
      const given: number[] = [];
      for (let index = 0; index < 20; index++) {
        const entry = await queue.take();
        given.push(Number(textOf(entry)));
        await entry.done();
      }
      expect(given.sort((left, right) => left - right)).toEqual(
        Array.from({ length: 20 }, (_, index) => index),
      );
      expect(await queue.poll()).toBeNull();
      expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
    },
  );

  it('gets a shard by its leader when all are full, up to the maximum', async () => {
    const { server, surroundings, one, other } = newWorld();
    const options = { shardEntriesMax: 5, shardsMax: 2, checkMs: 1_000 };
    const queues = [one, other].map((client) => new ShardedQueue(client, PATH, options));
    const [queue] = queues;
    if (queue === undefined) throw new Error('there are two');
    const stop = new AbortController();
    const caring = queues.map((each) => each.maintain({ signal: stop.signal }));
    const look = async () => {
      await until(() => surroundings.timerCount > 0);
      surroundings.advance(1_000);
      await turns(30);
    };
    for (let index = 0; index < 4; index++) await queue.put('x');
    await look();
    expect(await queue.shards()).toHaveLength(1);
    await queue.put('x');
    await look();
    expect(await queue.shards()).toHaveLength(2);
    while ((await queue.size()) < 30) await queue.put('x');
    await look();
    expect(await queue.shards()).toHaveLength(2);
    one.expire();
    await look();
    stop.abort();
    await Promise.all(caring);
    expect(namesIn(server, `${PATH}-leader`)).toEqual([]);
    expect(surroundings.timerCount).toBe(0);
    expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
  });
});
