/**
 * For each recipe one event of its life that can be repeated for ever: a lock taken and released, a
 * value changed and heard of, an entry waited for and done. Where a recipe follows or waits it does
 * so by the same object all the time, for that is what would keep something of each event. An event
 * that fails leaves no promise behind that nobody awaits. Used by recipe-heap.test.ts and the soak.
 */
import * as library from '@rookery/client';

type Client = library.Client;

/** An event; resolves when all that it sets off has come about. */
export type Event = () => Promise<unknown>;

/** Gives the event, for recipes at `path`; `other` is a client of another process. */
type Open = (client: Client, path: string, other: Client) => Event | Promise<Event>;

const TEXT = { parse: (data: Buffer | null) => String(data), format: (value: string) => value };

/** Locked while another waits in the line, and handed over. */
function handedOver(first: library.Acquirable, second: library.Acquirable): Event {
  return async () => {
    const held = await first.acquire();
    const [next] = await Promise.all([second.acquire(), held.release()]);
    await next.release();
  };
}

interface Takes {
  take(): Promise<{ done(): Promise<void> }>;
}

/** Waited for, then put and done. */
function taken(queue: Takes, put: () => Promise<void>): Event {
  return async () => {
    const [entry] = await Promise.all([queue.take(), put()]);
    await entry.done();
  };
}

interface Listens<E> {
  listen(listener: (event: E) => void): () => void;
}

/** What is done is heard of, at the latest when `isIt` says so. */
async function heard<E>(
  recipe: Listens<E>,
  act: () => Promise<unknown>,
  isIt: (event: E) => boolean,
): Promise<void> {
  let stop = () => {};
  const hears = new Promise<void>((resolve) => {
    stop = recipe.listen((event) => {
      if (isIt(event)) resolve();
    });
  });
  try {
    await act();
    await hears;
  } finally {
    stop();
  }
}

/** A znode that another client writes, and a cache that follows it. */
function followed(cache: Listens<library.CacheEvent>, other: Client, node: string): Event {
  return () =>
    heard(
      cache,
      () => other.setData(node, 'x'),
      ({ type }) => type === 'nodeChanged',
    );
}

/** Each event gives the loop one more value at least. */
async function looped(loop: AsyncGenerator<unknown>, act: Event): Promise<Event> {
  const expectMore = async (next: Promise<IteratorResult<unknown>>) => {
    if ((await next).done === true) throw new Error('the loop has ended');
  };
  await expectMore(loop.next());
  return async () => {
    await Promise.all([expectMore(loop.next()), act()]);
  };
}

const { Lock, Queue } = library;

export const EVENTS: Readonly<Record<string, Open>> = {
  AtomicLong: (client, path) => () => new library.AtomicLong(client, path).increment(),
  Barrier: (client, path, other) => {
    const [barrier, waiter] = [client, other].map((each) => new library.Barrier(each, path));
    return async () => {
      await barrier?.set();
      await Promise.all([waiter?.wait(), barrier?.remove()]);
    };
  },
  BoundedQueue: (client, path) => {
    const queue = new library.BoundedQueue(client, path, { entriesMax: 1 });
    return taken(queue, () => queue.put('x'));
  },
  ChildrenCache: async (client, path, other) => {
    await library.createRecursive(other, `${path}/n`);
    const cache = new library.ChildrenCache(client, path);
    await cache.ready();
    return followed(cache, other, `${path}/n`);
  },
  ClientMetrics: (client, path) => {
    const metrics = new library.ClientMetrics();
    metrics.add(client);
    client.onState(({ state }) => {
      if (state === 'closed') metrics.close();
    });
    return () => client.exists(path);
  },
  Configuration: async (client, path) => {
    await library.createRecursive(client, path, '0');
    const configuration = new library.Configuration(client, path, TEXT);
    let count = 0;
    return looped(configuration.states(), () => configuration.update(() => `${++count}`));
  },
  DelayQueue: (client, path) => {
    const queue = new library.DelayQueue(client, path);
    return taken(queue, () => queue.put('x', 0));
  },
  DoubleBarrier: (client, path, other) => {
    const members = [client, other].map(
      (each) => new library.DoubleBarrier(each, path, { memberCount: 2 }),
    );
    return async () => {
      await Promise.all(members.map((member) => member.enter()));
      await Promise.all(members.map((member) => member.leave()));
    };
  },
  Election: (client, path) => {
    const terms = new library.Election(client, path).terms();
    return () => terms.next();
  },
  Group: async (client, path, other) => {
    await library.createRecursive(other, `${path}/m`);
    const loop = new library.Group(client, path).follow();
    let count = 0;
    return looped(loop, () => other.setData(`${path}/m`, `${++count}`));
  },
  GroupMember: async (client, path) => {
    const member = new library.GroupMember(client, path, 'm');
    await member.join();
    let count = 0;
    return looped(member.follow(), () => member.setData(`${++count}`));
  },
  IdQueue: (client, path) => {
    const queue = new library.IdQueue(client, path);
    return taken(queue, () => queue.put('x', 'i'));
  },
  IdempotentQueue: (client, path) => {
    const queue = new library.IdempotentQueue(client, path);
    const event = taken(queue, () => queue.enqueue('i', 'x'));
    return async () => {
      await event();
      await queue.forget('i');
    };
  },
  LeaderLatch: (client, path) => async () => {
    const latch = new library.LeaderLatch(client, path);
    await latch.waitForLeadership();
    await latch.close();
  },
  Lock: (client, path) => handedOver(new Lock(client, path), new Lock(client, path)),
  LockingQueue: (client, path) => {
    const queue = new library.LockingQueue(client, path);
    return taken(queue, () => queue.put('x'));
  },
  MultiLock: (client, path) => {
    const lock = () =>
      new library.MultiLock(client, [new Lock(client, `${path}/a`), new Lock(client, `${path}/b`)]);
    return handedOver(lock(), lock());
  },
  MultiNonBlockingLease: (client, path) => {
    const options = { durationMs: 1_000, count: 2 };
    const lease = new library.MultiNonBlockingLease(client, path, options);
    return () => lease.obtain();
  },
  Mutex: (client, path) =>
    handedOver(new library.Mutex(client, path), new library.Mutex(client, path)),
  NameService: async (client, path, other) => {
    const names = new library.NameService(other, path);
    await names.register('n', '0');
    let count = 0;
    const follow = new library.NameService(client, path).follow('n');
    return looped(follow, () => names.register('n', `${++count}`));
  },
  NodeCache: async (client, path, other) => {
    await library.createRecursive(other, path);
    const cache = new library.NodeCache(client, path);
    await cache.ready();
    return followed(cache, other, path);
  },
  NonBlockingLease: (client, path) => {
    const lease = new library.NonBlockingLease(client, path, { durationMs: 1_000 });
    return () => lease.obtain();
  },
  Party: (client, path) => {
    const party = new library.Party(client, path);
    return async () => {
      await party.join();
      await party.leave();
    };
  },
  PersistentNode: async (client, path, other) => {
    const node = new library.PersistentNode(client, path);
    await node.whenStanding();
    return async () => {
      // It looks whenever somebody else writes there, of which the sync has heard before it ends.
      await other.setData(path, 'x');
      await client.sync(path);
    };
  },
  PersistentWatcher: async (client, path, other) => {
    await library.createRecursive(other, path);
    const watcher = new library.PersistentWatcher(client, path);
    await watcher.whenStanding();
    return () =>
      heard(
        watcher,
        () => other.setData(path, 'x'),
        // What is written while its client has no connection is reported by a resync only.
        ({ type }) => type === 'dataChanged' || type === 'resync',
      );
  },
  PriorityQueue: (client, path) => {
    const queue = new library.PriorityQueue(client, path, { lockPath: `${path}-locks` });
    return taken(queue, () => queue.put('x'));
  },
  Queue: (client, path) => {
    const queue = new Queue(client, path, { lockPath: `${path}-locks` });
    return taken(queue, () => queue.put('x'));
  },
  ReadWriteLock: (client, path) => {
    const lock = new library.ReadWriteLock(client, path);
    return handedOver(lock.read, lock.write);
  },
  Rendezvous: (client, path, other) => {
    const [opener, filler] = [client, other].map(
      (each) => new library.Rendezvous(each, path, TEXT),
    );
    return async () => {
      const lease = await opener?.open();
      const [meeting] = await Promise.all([opener?.meet(), filler?.fill('x')]);
      await meeting?.end();
      await lease?.release();
    };
  },
  RevocableLock: (client, path) => {
    const options = { onRevocationRequested: () => 'refuse' as const };
    const lock = () => new library.RevocableLock(client, path, options);
    return handedOver(lock(), lock());
  },
  ScheduledJob: (client, path) => {
    const job = new library.ScheduledJob(client, path, { schedule: (afterMs) => afterMs + 1 });
    let onRun = () => {};
    let onEnd = () => {};
    let hasEnded = false;
    const end = () => {
      hasEnded = true;
      onEnd();
    };
    job.run(() => onRun()).then(end, end);
    return () => {
      return new Promise<void>((resolve, reject) => {
        onRun = resolve;
        onEnd = () => reject(new Error('the job has ended'));
        if (hasEnded) onEnd();
      });
    };
  },
  Semaphore: (client, path) => {
    const semaphore = () => new library.Semaphore(client, path, { maxLeases: 1 });
    return handedOver(semaphore(), semaphore());
  },
  ServiceCache: async (client, path, other) => {
    const discovery = new library.ServiceDiscovery(other, path);
    const instance = await discovery.register({ name: 'web', id: 'i' });
    const cache = new library.ServiceDiscovery(client, path).cache('web');
    await cache.ready();
    let port = 0;
    return () => {
      port += 1;
      const isIt = ([found]: readonly library.ServiceInstance[]) => found?.port === port;
      return heard(cache, () => discovery.update({ ...instance, port }), isIt);
    };
  },
  ServiceDiscovery: (client, path) => {
    const discovery = new library.ServiceDiscovery(client, path);
    return async () => discovery.unregister(await discovery.register({ name: 'web', id: 'i' }));
  },
  ServiceProvider: async (client, path, other) => {
    const discovery = new library.ServiceDiscovery(other, path);
    const instance = await discovery.register({ name: 'web', id: 'i' });
    const provider = new library.ServiceDiscovery(client, path).provider('web');
    await provider.ready();
    return async () => {
      await discovery.update({ ...instance, port: 1 });
      const found = provider.next();
      if (found !== null) provider.noteError(found);
    };
  },
  SetPartitioner: (client, path) => {
    const partitioner = new library.SetPartitioner(client, path, { set: ['x'], settleMs: 1 });
    return async () => {
      for await (const _ of partitioner.partitions()) return;
    };
  },
  ShallowParty: (client, path) => {
    const party = new library.ShallowParty(client, path);
    return async () => {
      await party.join();
      await party.leave();
    };
  },
  ShardedQueue: (client, path) => {
    const queue = new library.ShardedQueue(client, path);
    return taken(queue, () => queue.put('x'));
  },
  SharedCount: async (client, path) => {
    const shared = new library.SharedCount(client, path, 0);
    let count = 0;
    return looped(shared.values(), () => shared.set(++count));
  },
  SharedValue: async (client, path) => {
    const shared = new library.SharedValue(client, path, 'seed');
    let count = 0;
    return looped(shared.values(), () => shared.set(`${++count}`));
  },
  SimpleLock: (client, path) =>
    handedOver(new library.SimpleLock(client, path), new library.SimpleLock(client, path)),
  SimpleQueue: (client, path) => {
    const queue = new library.SimpleQueue(client, path);
    return async () => {
      await Promise.all([queue.take(), queue.offer('x')]);
    };
  },
  TransactionSite: (client, path, other) => agreed(client, path, other),
  TreeCache: async (client, path, other) => {
    await library.createRecursive(other, `${path}/n/m`);
    const cache = new library.TreeCache(client, path);
    await cache.ready();
    return followed(cache, other, `${path}/n/m`);
  },
  TtlNode: async (client, path) => {
    const node = new library.TtlNode(client, path, { ttlMs: 600_000 });
    await node.whenStanding();
    return () => node.setData('x');
  },
  TwoPhaseCommit: (client, path, other) => agreed(other, path, client),
};

function agreed(ofSite: Client, path: string, ofCoordinator: Client): Event {
  return async () => {
    const coordinator = await library.TwoPhaseCommit.begin(ofCoordinator, path, ['s']);
    const site = new library.TransactionSite(ofSite, path, 's');
    await site.join();
    await Promise.all([coordinator.decision(), site.vote('commit').then(() => site.outcome())]);
    await site.finish();
    await coordinator.finish();
  };
}
