/**
 * The chroot of a connect string need not exist: whichever recipe comes first creates it. What is
 * no recipe says which znode is missing, and what creates it.
 */
import { NoNodeError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import { TransactionError } from '../api/errors.js';
import * as library from '../index.js';
import { newWorld } from '../testing/lock-world.js';

const TEXT = { parse: (data: Buffer | null) => String(data), format: (value: string) => value };

/** What each recipe creates first, directly below the root of what its client sees. */
const FIRST: Record<string, (client: Client) => Promise<unknown>> = {
  AtomicLong: (client) => new library.AtomicLong(client, '/a').increment(),
  Barrier: (client) => new library.Barrier(client, '/a').set(),
  BoundedQueue: (client) => new library.BoundedQueue(client, '/a', { entriesMax: 2 }).put('x'),
  Configuration: (client) => new library.Configuration(client, '/a', TEXT).update(() => 'x'),
  DelayQueue: (client) => new library.DelayQueue(client, '/a').put('x', 0),
  DoubleBarrier: (client) => new library.DoubleBarrier(client, '/a', { memberCount: 1 }).enter(),
  Election: (client) => new library.Election(client, '/a').run(() => {}),
  GroupMember: (client) => new library.GroupMember(client, '/a', 'me').join(),
  IdQueue: (client) => new library.IdQueue(client, '/a').put('x', 'id'),
  IdempotentQueue: (client) => new library.IdempotentQueue(client, '/a').enqueue('id', 'x'),
  LeaderLatch: (client) => new library.LeaderLatch(client, '/a').waitForLeadership(),
  Lock: (client) => new library.Lock(client, '/a').acquire(),
  LockingQueue: (client) => new library.LockingQueue(client, '/a').put('x'),
  MultiLock: (client) => new library.MultiLock(client, [new library.Lock(client, '/a')]).acquire(),
  MultiNonBlockingLease: (client) =>
    new library.MultiNonBlockingLease(client, '/a', { durationMs: 1_000, count: 2 }).obtain(),
  Mutex: (client) => new library.Mutex(client, '/a').acquire(),
  NameService: (client) => new library.NameService(client, '/a').register('n', '127.0.0.1:1'),
  NonBlockingLease: (client) =>
    new library.NonBlockingLease(client, '/a', { durationMs: 1_000 }).obtain(),
  Party: (client) => new library.Party(client, '/a').join(),
  PersistentNode: async (client) => {
    const node = new library.PersistentNode(client, '/a');
    node.start();
    await node.whenStanding();
    await node.close();
  },
  PriorityQueue: (client) => new library.PriorityQueue(client, '/a').put('x'),
  Queue: (client) => new library.Queue(client, '/a').put('x'),
  ReadWriteLock: (client) => new library.ReadWriteLock(client, '/a').read.acquire(),
  Rendezvous: (client) => new library.Rendezvous(client, '/a', TEXT).open(),
  RevocableLock: (client) =>
    new library.RevocableLock(client, '/a', {
      onRevocationRequested: () => 'refuse' as const,
    }).acquire(),
  ScheduledJob: (client) => {
    const now = () => client.surroundings.nowMs();
    const schedule = (afterMs: number) => (afterMs < 10 ? 10 : null);
    return new library.ScheduledJob(client, '/a', { schedule, now }).run(() => {});
  },
  Semaphore: (client) => new library.Semaphore(client, '/a', { maxLeases: 1 }).acquire(),
  ServiceDiscovery: (client) =>
    new library.ServiceDiscovery(client, '/a').register({ name: 'web', id: '1' }),
  SetPartitioner: (client) =>
    new library.SetPartitioner(client, '/a', { set: [], settleMs: 0 }).partitions().next(),
  ShallowParty: (client) => new library.ShallowParty(client, '/a').join(),
  ShardedQueue: (client) => new library.ShardedQueue(client, '/a').put('x'),
  SharedCount: (client) => new library.SharedCount(client, '/a', 1).set(2),
  SharedValue: (client) => new library.SharedValue(client, '/a', 'x').set('y'),
  SimpleLock: (client) => new library.SimpleLock(client, '/a').acquire(),
  SimpleQueue: (client) => new library.SimpleQueue(client, '/a').offer('x'),
  TtlNode: async (client) => {
    const node = new library.TtlNode(client, '/a', { ttlMs: 60_000 });
    node.start();
    await node.whenStanding();
    await node.close();
  },
  TwoPhaseCommit: (client) => library.TwoPhaseCommit.begin(client, '/a', ['s']),
};

describe('a chroot that does not exist', () => {
  it.each(Object.entries(FIRST))('is created by %s', async (_, first) => {
    const { server, surroundings, one } = newWorld();
    const done = first(one.namespace('/my/app'));
    await surroundings.settle();
    await done;
    const root = server.paths().filter((path) => path === '/my' || path === '/my/app');
    expect(root).toEqual(['/my', '/my/app']);
    expect(server.paths().some((path) => path === '/a' || path.startsWith('/a/'))).toBe(false);
  });

  it('has a row for each recipe that creates something', () => {
    const helpers = ['BackgroundRecipe', 'ClientMetrics', 'IdempotentEntry'];
    const readers = ['Group', 'PersistentWatcher', 'ServiceProvider', 'TransactionSite'];
    const isOther = (name: string) =>
      /Error$|Cache$/.test(name) || helpers.includes(name) || readers.includes(name);
    const classes = Object.entries(library)
      .filter(([, value]) => typeof value === 'function' && /^class\b/.test(String(value)))
      .map(([name]) => name);
    expect(Object.keys(FIRST)).toEqual(classes.filter((name) => !isOther(name)).sort());
  });

  it('is named by the error of a create, a transaction and what asks for the root', async () => {
    const client = newWorld().one.namespace('/my/app');
    const missing = /\/my\/app does not exist; ensurePath\(client, '\/'\) creates it/;
    const failed = await client.create('/a').catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(NoNodeError);
    expect(failed).toMatchObject({ path: '/a', message: expect.stringMatching(missing) });
    await expect(client.getChildren('/')).rejects.toThrow(missing);
    const multi = await client
      .transaction()
      .create('/a')
      .commit()
      .catch((error: unknown) => error);
    expect(multi).toBeInstanceOf(TransactionError);
    expect(multi).toMatchObject({ error: { message: expect.stringMatching(missing) } });
    await library.ensurePath(client, '/');
    await client.create('/a');
  });

  it('is not blamed for another znode that is missing', async () => {
    const client = newWorld().one.namespace('/my');
    await library.ensurePath(client, '/');
    for (const asked of [client.getData('/a'), client.create('/a/b'), client.delete('/a')]) {
      const error = await asked.catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(NoNodeError);
      expect(String(error)).not.toContain('does not exist');
    }
  });
});
