/**
 * What others do to the znodes of a recipe by mistake: they put znodes of their own into its
 * directories, delete its znodes by hand, or write data that it cannot read. Each recipe goes on,
 * skips what it does not know and logs it, or fails with an error that is documented; none hangs.
 * A scene ends well only if the recipe works again, whatever it has lost meanwhile. The last test
 * finds a recipe without a scene.
 */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../api/errors.js';
import * as library from '../index.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { turns, until } from '../testing/lock-world.js';

const PATH = '/app/recipe';
class NoWordError extends Error {
  override readonly name = 'NoWordError';
}

const TEXT = {
  parse: (data: Buffer | null) => {
    if (!/^[a-z]+$/.test(String(data))) throw new NoWordError();
    return String(data);
  },
  format: (value: string) => value,
};
const KINDS = ['foreign', 'deleted', 'malformed'] as const;
type Kind = (typeof KINDS)[number];

/** Names that look a little like those of recipes. */
const NAMES = [
  'foreign',
  'foreign-0000000007',
  'lock-',
  '_c_-',
  '0000000000',
  'x-00000000zz',
  '%zz',
];
const STEPS_MAX = 400;
const GARBAGE = Buffer.from([0xff, 0x00, 0x7b, 0x22]);

/** Does to the znodes of the recipe what others do. */
function harm(server: FakeServer, kind: Kind): void {
  const own = server.paths().filter((path) => path === PATH || path.startsWith(`${PATH}/`));
  switch (kind) {
    case 'foreign':
      for (const path of own) {
        if (server.stat(path)?.ephemeralOwner !== 0n) continue;
        for (const name of NAMES) addForeign(server, `${path}/${name}`);
      }
      return;
    case 'deleted':
      for (const path of own.reverse()) server.delete(path);
      return;
    case 'malformed':
      for (const path of own) server.setData(path, GARBAGE);
      return;
  }
}

function addForeign(server: FakeServer, path: string): void {
  if (server.stat(path) !== null) return;
  const how = { data: 'foreign', mode: 'persistent', acl: undefined, session: 0n } as const;
  server.create({ path, ...how });
}

interface Stage {
  readonly one: FakeClient;
  readonly other: FakeClient;
  readonly server: FakeServer;
  readonly surroundings: FakeSurroundings;
  readonly kind: Kind;
  /** The events in the log of both clients. */
  readonly logged: readonly string[];
  /** Does the harm, and lets everybody hear of it. */
  harm(): Promise<void>;
}

/** Throws what the recipe has reported, after it works again. */
type Scene = (stage: Stage) => Promise<unknown>;

function acquirable(make: (client: FakeClient) => { acquire(): Promise<library.Lease> }): Scene {
  return async ({ one, other, harm: disturb }) => {
    const lease = await make(one).acquire();
    const waiting = make(other).acquire();
    waiting.catch(() => {});
    await disturb();
    const { aborted, reason } = lease.signal;
    await lease.release();
    await (await waiting).release();
    const again = await make(one).acquire();
    expect(again.held).toBe(true);
    await again.release();
    if (aborted) throw reason;
  };
}

interface Queuing {
  put(item: string): Promise<unknown>;
  take(): Promise<unknown>;
}

/** Somebody waits, or an entry is there already when its data are overwritten. */
function queue(make: (client: FakeClient) => Queuing): Scene {
  return async ({ one, other, kind, harm: disturb }) => {
    const [producer, consumer] = [make(one), make(other)];
    await producer.put('a');
    if (kind !== 'malformed') expect(await consumer.take()).toBe('a');
    const waiting = kind === 'malformed' ? null : consumer.take();
    waiting?.catch(() => {});
    await disturb();
    await producer.put('b');
    if (waiting !== null) {
      expect(await waiting).toBe('b');
      return;
    }
    let error: unknown = null;
    for (let tries = 0; tries < 3; tries++) {
      const item = await consumer.take().catch((failure: unknown) => {
        error = failure;
        return null;
      });
      if (item === 'b') break;
      if (tries === 2) throw error;
    }
    if (error !== null) throw error;
  };
}

/** A queue of Curator's, and how an item is put into it. */
function entryQueue<Q extends { take(): Promise<library.QueueEntry> }>(
  make: (client: FakeClient) => Q,
  put: (queue: Q, item: string) => Promise<unknown>,
): Scene {
  return queue((client) => {
    const made = make(client);
    return {
      put: (item) => put(made, item),
      take: async () => {
        const entry = await made.take();
        try {
          return String(entry.items[0]);
        } finally {
          await entry.done();
        }
      },
    };
  });
}

/** An instance whose own znode is overwritten is left out until it is updated. */
function service(
  follow: (
    reader: library.ServiceDiscovery,
  ) => Promise<{ ids(): string[]; close(): Promise<void> }>,
): Scene {
  return async ({ one, other, kind, logged, harm: disturb }) => {
    const discovery = new library.ServiceDiscovery(one, PATH);
    const first = await discovery.register({ name: 'web', id: '1' });
    const followed = await follow(new library.ServiceDiscovery(other, PATH));
    await disturb();
    await discovery.register({ name: 'web', id: '2' });
    const sees = (ids: string) => until(() => followed.ids().sort().join() === ids);
    if (kind === 'malformed') {
      await sees('2');
      expect(logged).toContain('discovery.invalid_instance');
      await discovery.update(first);
    }
    await sees('1,2');
    await followed.close();
    await discovery.close();
  };
}

function party(
  make: (client: FakeClient, identifier?: string) => library.Party | library.ShallowParty,
): Scene {
  return async ({ one, other, kind, harm: disturb }) => {
    const member = make(one, 'me');
    await member.join();
    await disturb();
    // The data of a Party's znodes are the identifiers, whoever has written them.
    const isOverwritten = kind === 'malformed' && member instanceof library.Party;
    expect(await make(other).participants()).toContain(isOverwritten ? String(GARBAGE) : 'me');
    await member.leave();
    await member.join();
    expect(await make(other).participants()).toContain('me');
  };
}

const SCENES: Record<string, Scene> = {
  AtomicLong: async ({ one, harm: disturb }) => {
    const number = new library.AtomicLong(one, PATH);
    await number.increment();
    await disturb();
    await number.increment();
    await number.get();
  },
  Barrier: async ({ one, other, harm: disturb }) => {
    await new library.Barrier(one, PATH).set();
    const waiting = new library.Barrier(other, PATH).wait();
    await disturb();
    await new library.Barrier(one, PATH).remove();
    await waiting;
  },
  BoundedQueue: entryQueue(
    (client) => new library.BoundedQueue(client, PATH, { entriesMax: 3 }),
    (made, item) => made.put(item),
  ),
  ChildrenCache: async ({ one, server, harm: disturb }) => {
    await library.ensurePath(one, `${PATH}/a`);
    const cache = new library.ChildrenCache(one, PATH);
    await cache.ready();
    await disturb();
    await library.ensurePath(one, `${PATH}/b`);
    await until(() => cache.children().size === server.children(PATH).length);
    await cache.close();
  },
  Configuration: async ({ one, other, harm: disturb }) => {
    const follower = new library.Configuration(other, PATH, TEXT);
    await new library.Configuration(one, PATH, TEXT).update(() => 'first');
    expect(await follower.whenValid()).toBe('first');
    await disturb();
    await new library.Configuration(one, PATH, TEXT).update(() => 'new');
    await until(() => follower.value === 'new');
    await follower.close();
  },
  DelayQueue: entryQueue(
    (client) => new library.DelayQueue(client, PATH),
    (made, item) => made.put(item, 0),
  ),
  DoubleBarrier: async ({ one, other, harm: disturb }) => {
    const [first, second] = [one, other].map(
      (client) => new library.DoubleBarrier(client, PATH, { memberCount: 2 }),
    );
    if (first === undefined || second === undefined) return;
    const entering = first.enter();
    entering.catch(() => {});
    await disturb();
    const lost = await Promise.race([
      entering.then(
        () => null,
        (e: unknown) => e,
      ),
      turns(20),
    ]);
    const again = lost instanceof Error ? first.enter() : entering;
    const lease = await second.enter();
    await again;
    expect(lease.held).toBe(true);
    await Promise.all([first.leave(), second.leave()]);
    if (lost instanceof Error) throw lost;
  },
  'DoubleBarrier, inside': async ({ one, other, harm: disturb }) => {
    const barriers = [one, other].map(
      (client) => new library.DoubleBarrier(client, PATH, { memberCount: 2 }),
    );
    const leases = await Promise.all(barriers.map((barrier) => barrier.enter()));
    await disturb();
    await Promise.all(barriers.map((barrier) => barrier.leave()));
    const lost = leases.find(({ signal }) => signal.reason instanceof LeaseLostError);
    if (lost !== undefined) throw lost.signal.reason;
  },
  Election: async ({ one, other, kind, harm: disturb }) => {
    const first = new library.Election(one, PATH, { id: 'one' });
    const second = new library.Election(other, PATH, { id: 'other' });
    const stop = new AbortController();
    let lost: unknown = null;
    const ruled: string[] = [];
    const rules = (election: library.Election, name: string) =>
      (async () => {
        for await (const term of election.terms({ signal: stop.signal })) {
          ruled.push(name);
          await term.acknowledge();
          await new Promise<void>((resolve) => {
            term.signal.addEventListener('abort', () => resolve(), { once: true });
            stop.signal.addEventListener('abort', () => resolve(), { once: true });
          });
          lost ??= term.signal.reason;
        }
      })();
    const both = [rules(first, 'one'), rules(second, 'other')];
    for (const each of both) each.catch(() => {});
    await until(() => ruled.length === 1);
    await disturb();
    const leader = await second.waitForLeader();
    if (kind !== 'malformed') expect(['one', 'other']).toContain(leader.id);
    stop.abort();
    await Promise.all(both);
    if (lost instanceof LeaseLostError) throw lost;
  },
  Group: async ({ one, other, harm: disturb }) => {
    const members = new library.Group(other, PATH).follow();
    const member = new library.GroupMember(one, PATH, 'me');
    await member.join();
    await members.next();
    await disturb();
    await member.setData('new');
    for (;;) {
      const { done, value = new Map() } = await members.next();
      if (String(value.get('me')) === 'new') break;
      if (done) throw new Error('it has ended');
    }
    await members.return();
    await member.close();
  },
  GroupMember: async ({ one, other, harm: disturb }) => {
    const member = new library.GroupMember(one, PATH, 'me', { data: 'mine' });
    await member.join();
    await disturb();
    await member.join();
    await member.setData('new');
    const members = await new library.Group(other, PATH).members();
    expect(String(members.get('me'))).toBe('new');
    await member.close();
  },
  IdQueue: entryQueue(
    (client) => new library.IdQueue(client, PATH),
    (made, item) => made.put(item, 'id'),
  ),
  IdempotentQueue: queue((client) => {
    const made = new library.IdempotentQueue(client, PATH);
    let id = 0;
    return {
      put: (item) => made.enqueue(`id${id++}`, item),
      take: async () => {
        const entry = await made.take();
        await entry.done();
        return String(entry.data);
      },
    };
  }),
  LeaderLatch: async ({ one, other, harm: disturb }) => {
    const latch = new library.LeaderLatch(one, PATH);
    const behind = new library.LeaderLatch(other, PATH);
    const term = await latch.waitForLeadership();
    behind.start();
    await disturb();
    await until(() => latch.hasLeadership || behind.hasLeadership);
    expect(latch.hasLeadership && behind.hasLeadership).toBe(false);
    await (latch.hasLeadership ? latch : behind).close();
    await (behind.status === 'closed' ? latch : behind).waitForLeadership();
    await latch.close();
    await behind.close();
    if (term.signal.reason instanceof LeaseLostError) throw term.signal.reason;
  },
  Lock: acquirable((client) => new library.Lock(client, PATH)),
  LockingQueue: queue((client) => {
    const made = new library.LockingQueue(client, PATH);
    return {
      put: (item) => made.put(item),
      take: async () => {
        const entry = await made.take();
        await entry.done();
        return String(entry.data);
      },
    };
  }),
  MultiLock: acquirable((client) => {
    return new library.MultiLock(client, [
      new library.Lock(client, `${PATH}/a`),
      new library.Mutex(client, `${PATH}/b`),
    ]);
  }),
  MultiNonBlockingLease: async ({ one, other, harm: disturb }) => {
    const obtain = (client: FakeClient, holder: string) =>
      new library.MultiNonBlockingLease(client, PATH, {
        durationMs: 10_000,
        count: 2,
        holder,
        wallClockMs: () => client.surroundings.nowMs(),
      }).obtain();
    expect(await obtain(one, 'a')).not.toBeNull();
    await disturb();
    expect(await obtain(other, 'b')).not.toBeNull();
  },
  Mutex: acquirable((client) => new library.Mutex(client, PATH)),
  NameService: async ({ one, other, kind, harm: disturb }) => {
    const names = new library.NameService(one, PATH);
    await names.register('db/orders', '10.0.0.1');
    const following = new library.NameService(other, PATH).follow('db/orders');
    await following.next();
    await disturb();
    await names.register('db/orders', '10.0.0.2');
    for (let value = ''; value !== '10.0.0.2'; ) value = String((await following.next()).value);
    await following.return();
    expect(await names.list('db')).toContain('orders');
    if (kind === 'foreign') expect(await names.lookup('db/%zz')).not.toBeNull();
  },
  NodeCache: async ({ one, harm: disturb }) => {
    await library.ensurePath(one, PATH);
    const cache = new library.NodeCache(one, PATH);
    await cache.ready();
    await disturb();
    await library.ensurePath(one, PATH);
    await one.setData(PATH, 'new');
    await until(() => String(cache.get()?.data) === 'new');
    await cache.close();
  },
  NonBlockingLease: async ({ one, other, server, surroundings, kind, logged, harm: disturb }) => {
    const obtain = (client: FakeClient, holder: string) =>
      new library.NonBlockingLease(client, PATH, {
        durationMs: 10_000,
        holder,
        wallClockMs: () => surroundings.nowMs(),
      }).obtain();
    expect(await obtain(one, 'a')).not.toBeNull();
    await disturb();
    surroundings.advance(20_000);
    const lease = await obtain(other, 'b');
    if (kind !== 'malformed') {
      expect(lease).not.toBeNull();
      return;
    }
    expect(lease).toBeNull();
    expect(logged).toContain('lease.invalid_record');
    server.delete(`${PATH}/lease_holder`);
    expect(await obtain(other, 'b')).not.toBeNull();
  },
  Party: party((client, identifier) => new library.Party(client, PATH, { identifier })),
  PersistentNode: async ({ one, server, harm: disturb }) => {
    const node = new library.PersistentNode(one, PATH, { data: 'mine' });
    await node.whenStanding();
    await disturb();
    await node.whenStanding();
    await node.setData('new');
    expect(String(server.read(PATH).data)).toBe('new');
    await node.close();
  },
  PersistentWatcher: async ({ one, harm: disturb }) => {
    await library.ensurePath(one, PATH);
    const watcher = new library.PersistentWatcher(one, PATH);
    await watcher.whenStanding();
    const heard: string[] = [];
    watcher.listen(({ type }) => heard.push(type));
    await disturb();
    await library.ensurePath(one, `${PATH}/z`);
    await one.setData(PATH, 'x');
    await until(() => heard.includes('dataChanged'));
    await watcher.close();
  },
  PriorityQueue: entryQueue(
    (client) => new library.PriorityQueue(client, PATH),
    (made, item) => made.put(item, { priority: 5 }),
  ),
  Queue: entryQueue(
    (client) => new library.Queue(client, PATH),
    (made, item) => made.put(item),
  ),
  'Queue with locks': entryQueue(
    (client) => new library.Queue(client, PATH, { lockPath: `${PATH}-locks` }),
    (made, item) => made.put(item),
  ),
  'ReadWriteLock, write': acquirable((client) => new library.ReadWriteLock(client, PATH).write),
  'ReadWriteLock, read': acquirable((client) => new library.ReadWriteLock(client, PATH).read),
  Rendezvous: async ({ one, other, harm: disturb }) => {
    const lease = await new library.Rendezvous(one, PATH, TEXT).open();
    const meeting = new library.Rendezvous(other, PATH, TEXT).meet();
    meeting.catch(() => {});
    await disturb();
    const { reason } = lease.signal;
    if (reason instanceof LeaseLostError) {
      await await new library.Rendezvous(one, PATH, TEXT).open();
    }
    await new library.Rendezvous(one, PATH, TEXT).fill('value');
    expect((await meeting).value).toBe('value');
    if (reason !== undefined) throw reason;
  },
  RevocableLock: acquirable(
    (client) =>
      new library.RevocableLock(client, PATH, { onRevocationRequested: () => 'refuse' as const }),
  ),
  ScheduledJob: async ({ one, harm: disturb }) => {
    const now = () => one.surroundings.nowMs();
    const runs: number[] = [];
    const schedule = (afterMs: number) =>
      afterMs < 3_000 ? afterMs - (afterMs % 1_000) + 1_000 : null;
    const job = new library.ScheduledJob(one, PATH, { schedule, now });
    await job.run(async ({ dueMs }) => {
      runs.push(dueMs);
      if (runs.length === 1) await disturb();
    });
    expect(runs).toContain(3_000);
    await job.history();
  },
  Semaphore: acquirable((client) => new library.Semaphore(client, PATH, { maxLeases: 1 })),
  'Semaphore, shared maximum': async ({ one, other, harm: disturb }) => {
    const maxLeases = { countPath: `${PATH}/max`, seed: 1 };
    const make = (client: FakeClient) => new library.Semaphore(client, `${PATH}/s`, { maxLeases });
    const lease = await make(one).acquire();
    const waiting = make(other).acquire();
    waiting.catch(() => {});
    await disturb();
    const { reason } = lease.signal;
    await lease.release();
    await new library.SharedCount(one, maxLeases.countPath, 1).set(1);
    await (await waiting).release();
    if (reason instanceof LeaseLostError) throw reason;
  },
  ServiceCache: service(async (reader) => {
    const cache = reader.cache('web');
    await cache.ready();
    return {
      ids: () => cache.instances.map(({ id }) => id),
      close: () => cache.close(),
    };
  }),
  ServiceDiscovery: service(async (reader) => {
    let ids: string[] = [];
    const read = async () => {
      ids = (await reader.instances('web')).map(({ id }) => id);
    };
    return {
      ids: () => {
        void read();
        return ids;
      },
      close: () => reader.close(),
    };
  }),
  ServiceProvider: service(async (reader) => {
    const provider = reader.provider('web');
    await provider.ready();
    return {
      ids: () => provider.instances.map(({ id }) => id),
      close: () => provider.close(),
    };
  }),
  SetPartitioner: async ({ one, other, harm: disturb }) => {
    const set = ['a', 'b', 'c', 'd'];
    const held = new Map<string, readonly string[]>();
    const stop = new AbortController();
    const work = (client: FakeClient, identifier: string) =>
      (async () => {
        const made = new library.SetPartitioner(client, PATH, { set, identifier, settleMs: 10 });
        for await (const { items, signal } of made.partitions({ signal: stop.signal })) {
          held.set(identifier, items);
          await new Promise<void>((resolve) => {
            if (signal.aborted || stop.signal.aborted) resolve();
            signal.addEventListener('abort', () => resolve());
            stop.signal.addEventListener('abort', () => resolve());
          });
          held.delete(identifier);
        }
      })();
    const both = [work(one, 'x'), work(other, 'y')];
    for (const each of both) each.catch((e) => held.set('failed', [String(e)]));
    const all = () => [...held.values()].flat().sort().join('');
    while (all() !== 'abcd' || held.size !== 2) await turns(5);
    await disturb();
    while (all() !== 'abcd') {
      const failed = held.get('failed');
      if (failed !== undefined) throw new Error(failed[0]);
      await turns(5);
    }
    stop.abort();
    await Promise.all(both);
  },
  ShallowParty: party(
    (client, identifier) => new library.ShallowParty(client, PATH, { identifier }),
  ),
  ShardedQueue: entryQueue(
    (client) => new library.ShardedQueue(client, PATH),
    (made, item) => made.put(item),
  ),
  SharedCount: async ({ one, other, harm: disturb }) => {
    const count = new library.SharedCount(one, PATH, 1);
    const follower = new library.SharedCount(other, PATH, 1);
    await count.ready();
    await follower.ready();
    await count.set(2);
    await disturb();
    await count.set(3);
    await until(() => follower.current?.count === 3);
    await follower.close();
    await count.close();
  },
  SharedValue: async ({ one, other, harm: disturb }) => {
    const value = new library.SharedValue(one, PATH, 'seed');
    const follower = new library.SharedValue(other, PATH, 'seed');
    await value.ready();
    await follower.ready();
    await disturb();
    await value.set('new');
    await until(() => String(follower.current?.data) === 'new');
    await follower.close();
    await value.close();
  },
  SimpleLock: acquirable((client) => new library.SimpleLock(client, PATH)),
  SimpleQueue: queue((client) => {
    const made = new library.SimpleQueue(client, PATH);
    return { put: (item) => made.offer(item), take: async () => String(await made.take()) };
  }),
  TransactionSite: async ({ one, other, harm: disturb }) => {
    await library.TwoPhaseCommit.begin(one, PATH, ['a']);
    const site = new library.TransactionSite(other, PATH, 'a');
    await site.join();
    await disturb();
    await site.vote('commit');
    await site.resolve();
    expect(await site.outcome()).toBe('commit');
    await site.finish();
  },
  TreeCache: async ({ one, server, harm: disturb }) => {
    await library.ensurePath(one, `${PATH}/a/b`);
    const cache = new library.TreeCache(one, PATH);
    await cache.ready();
    await disturb();
    await library.ensurePath(one, `${PATH}/c`);
    await until(() => {
      return cache.size === server.paths().filter((path) => path.startsWith(PATH)).length;
    });
    await cache.close();
  },
  TtlNode: async ({ one, server, harm: disturb }) => {
    const node = new library.TtlNode(one, PATH, { ttlMs: 60_000, data: 'mine' });
    await node.whenStanding();
    await disturb();
    await node.setData('new');
    await node.whenStanding();
    expect(String(server.read(PATH).data)).toBe('new');
    await node.close();
  },
  TwoPhaseCommit: async ({ one, other, server, harm: disturb }) => {
    const transaction = await library.TwoPhaseCommit.begin(one, PATH, ['a']);
    const deciding = transaction.decision();
    deciding.catch(() => {});
    await disturb();
    const site = new library.TransactionSite(other, PATH, 'a');
    await site.vote('commit').catch(() => {});
    expect(await deciding).toBe('commit');
    const belowVote = server.paths().filter((path) => path.startsWith(`${PATH}/a/`));
    for (const path of belowVote) server.delete(path);
    await site.finish();
    await transaction.finish();
  },
};

const LOST = 'LeaseLostError deleted';
const LEASE = { deleted: LOST };
const ENTRY = { malformed: 'QueueFormatError' };

/** How a scene ends, if the recipe does not just go on. */
const ENDS: Record<string, Partial<Record<Kind, string>>> = {
  AtomicLong: { malformed: 'CorruptDataError' },
  Barrier: { foreign: 'NotEmptyError' },
  BoundedQueue: ENTRY,
  Configuration: { malformed: 'NoWordError' },
  DelayQueue: ENTRY,
  DoubleBarrier: LEASE,
  'DoubleBarrier, inside': LEASE,
  Election: LEASE,
  IdQueue: ENTRY,
  LeaderLatch: LEASE,
  Lock: LEASE,
  MultiLock: LEASE,
  Mutex: LEASE,
  PriorityQueue: ENTRY,
  Queue: ENTRY,
  'Queue with locks': ENTRY,
  'ReadWriteLock, read': LEASE,
  'ReadWriteLock, write': LEASE,
  Rendezvous: { deleted: LOST, malformed: 'RecipeStateError' },
  RevocableLock: LEASE,
  Semaphore: LEASE,
  'Semaphore, shared maximum': LEASE,
  ShardedQueue: ENTRY,
  SimpleLock: LEASE,
  TransactionSite: {
    foreign: 'NotEmptyError',
    deleted: 'RecipeStateError',
    malformed: 'RecipeStateError',
  },
  TwoPhaseCommit: {
    foreign: 'NotEmptyError',
    deleted: 'NoNodeError',
    malformed: 'RecipeStateError',
  },
};

/** Drives time until the scene has ended, and says how. */
async function endOf(scene: Scene, kind: Kind): Promise<string> {
  const [server, surroundings] = [new FakeServer(), new FakeSurroundings()];
  const logged: string[] = [];
  const log = (fields: object) => logged.push(String(Reflect.get(fields, 'event')));
  const logger = { debug: log, info: log, warn: log, error: log };
  const [one, other] = [
    new FakeClient(server, { surroundings, logger }),
    new FakeClient(server, { surroundings, logger }),
  ];
  const disturb = async () => {
    await turns(20);
    harm(server, kind);
    await turns(50);
  };
  let end: string | null = null;
  scene({ one, other, server, surroundings, kind, logged, harm: disturb }).then(
    () => {
      end = 'goes on';
    },
    (error: unknown) => {
      end = textOf(error);
    },
  );
  for (let step = 0; step < STEPS_MAX && end === null; step++) {
    await turns(10);
    if (end === null) surroundings.advance(Math.min(surroundings.nextTimerMs ?? 0, 1_000));
  }
  return end ?? 'hangs';
}

function textOf(error: unknown): string {
  if (error instanceof LeaseLostError) return `${error.name} ${error.lossCause}`;
  if (!(error instanceof Error)) return String(error);
  // What a test expects is no outcome of a recipe.
  return error.name === 'Error' || error.name === 'AssertionError' ? error.message : error.name;
}

describe.each(Object.entries(SCENES))('%s', (name, scene) => {
  it.each(KINDS)('ends as it should with what is %s', async (kind) => {
    expect(await endOf(scene, kind)).toBe(ENDS[name]?.[kind] ?? 'goes on');
  });
});

it('has a scene for each recipe', () => {
  const isOther = (name: string) =>
    /Error$/.test(name) || ['BackgroundRecipe', 'ClientMetrics', 'IdempotentEntry'].includes(name);
  const classes = Object.entries(library)
    .filter(([, value]) => typeof value === 'function' && /^class\b/.test(String(value)))
    .map(([name]) => name);
  const played = new Set(Object.keys(SCENES).map((name) => name.split(/[ ,]/)[0]));
  expect(classes.filter((name) => !isOther(name) && !played.has(name))).toEqual([]);
});
