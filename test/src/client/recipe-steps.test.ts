/**
 * Goal: the recipes that have no such test of their own do what they promise though the reply to
 * any one request of theirs is lost, and leave neither watch nor znode. Method: as
 * protocol-steps.ts says.
 */
import {
  AtomicLong,
  BoundedQueue,
  ChildrenCache,
  type Client,
  createRecursive,
  DelayQueue,
  IdempotentQueue,
  IdQueue,
  KeeperError,
  LockingQueue,
  NameService,
  NodeCache,
  Party,
  PersistentWatcher,
  PriorityQueue,
  Queue,
  type QueueEntry,
  retry,
  retryForever,
  ServiceDiscovery,
  ShallowParty,
  ShardedQueue,
  SharedCount,
  SimpleQueue,
  TreeCache,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../harness/wait.js';
import { LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { atEachStep, type Run } from './protocol-steps.js';
import { sharedEnsemble } from './shared-ensemble.js';

const DEADLINE_MS = 60_000;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

interface Bench extends Run {
  /** Another client, which loses nothing. */
  readonly control: Client;
}

async function atSteps(
  base: string,
  expected: readonly string[],
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  const control = await useDirectClient(ensemble());
  const options = { ensemble: ensemble(), base, control };
  const lost = await atEachStep(options, async ({ client, path }) => {
    await run({ client, path, control });
    await until('no watch is left', DEADLINE_MS, () => client.watchCount === 0 || undefined);
  });
  expect(lost).toEqual(expect.arrayContaining([...expected]));
}

const textOf = ({ items }: QueueEntry) => items.map(String).join();

/** Entries of all kinds of queues that are taken one after the other, each done. */
async function drain(queue: { take(): Promise<QueueEntry> }, count: number): Promise<string[]> {
  const given: string[] = [];
  for (let index = 0; index < count; index++) {
    const entry = await queue.take();
    given.push(textOf(entry));
    await entry.done();
  }
  return given;
}

test.each(['removed', 'locked'])('a queue whose entries are %s', async (how) => {
  const steps = how === 'locked' ? ['create2', 'getData', 'getChildren2', 'multi'] : ['multi'];
  await atSteps(`/steps-queue-${how}`, steps, async ({ client, path, control }) => {
    const given = how === 'locked' ? { lockPath: `${path}/locks` } : {};
    const options = { ...given, marksPath: `${path}/marks` };
    const queue = new Queue(client, `${path}/entries`, options);
    const waiting = queue.take();
    await new Queue(control, queue.path, options).put('0');
    const first = await waiting;
    await first.requeue();
    for (let index = 1; index < 4; index++) await queue.put(`${index}`);
    expect(await drain(queue, 4)).toEqual(['0', '1', '2', '3']);
    expect(await queue.poll()).toBeNull();
  });
});

test('queues by priority, by time and by id, and one with a bound', async () => {
  const steps = ['create2', 'getData', 'getChildren2', 'multi', 'sync'];
  await atSteps('/steps-queues', steps, async ({ client, path }) => {
    const options = { lockPath: `${path}/locks`, marksPath: `${path}/marks` };
    const byPriority = new PriorityQueue(client, `${path}/priority`, options);
    for (const priority of [1, -1]) await byPriority.put(`${priority}`, { priority });
    expect(await drain(byPriority, 2)).toEqual(['-1', '1']);
    const byTime = new DelayQueue(client, `${path}/delay`, options);
    for (const dueMs of [2, 1]) await byTime.put(`${dueMs}`, dueMs);
    expect(await drain(byTime, 2)).toEqual(['1', '2']);
    const byId = new IdQueue(client, `${path}/id`, options);
    for (const id of ['a', 'b']) await byId.put(id, id);
    // What a lost reply has removed already is not counted again.
    expect(await byId.remove('a')).toBe(1);
    expect(await drain(byId, 1)).toEqual(['b']);
    const gatePath = `${path}/gate`;
    const bounded = new BoundedQueue(client, `${path}/bound`, {
      ...options,
      gatePath,
      entriesMax: 1,
    });
    const puts = ['x', 'y'].map((item) => bounded.put(item));
    expect(await drain(bounded, 2)).toEqual(['x', 'y']);
    await Promise.all(puts);
  });
});

test('a queue in shards, a simple, a locking and an idempotent one', async () => {
  const steps = ['create2', 'getData', 'getChildren2', 'multi', 'sync'];
  await atSteps('/steps-more-queues', steps, async ({ client, path, control }) => {
    const marksPath = `${path}/marks`;
    const sharded = new ShardedQueue(client, `${path}/sharded`, { marksPath });
    await sharded.put('x');
    expect(await drain(sharded, 1)).toEqual(['x']);
    const [shard] = await sharded.shards();
    await control.delete(`${sharded.path}/${shard}`);
    const simple = new SimpleQueue(client, `${path}/simple`, { marksPath });
    await simple.offer('x');
    expect(String(await simple.peek())).toBe('x');
    expect(String(await simple.take())).toBe('x');
    const locking = new LockingQueue(client, `${path}/locking`);
    await locking.putAll(['x', 'y']);
    for (const data of ['x', 'y']) {
      const entry = await locking.take();
      expect(String(entry.data)).toBe(data);
      expect(await entry.holdsLock()).toBe(true);
      await entry.done();
    }
    const idempotent = new IdempotentQueue(client, `${path}/idempotent`);
    await idempotent.enqueue('id', 'x');
    await idempotent.enqueue('id', 'x');
    const entry = await idempotent.take();
    await entry.done();
    expect(await idempotent.poll()).toBeNull();
    expect(await idempotent.stateOf('id')).toBe('done');
    await idempotent.forget('id');
  });
});

test('parties', async () => {
  const steps = ['create2', 'createContainer', 'delete', 'getChildren2', 'addWatch'];
  await atSteps('/steps-party', steps, async ({ client, path, control }) => {
    for (const Kind of [Party, ShallowParty]) {
      const [one, other] = [client, control].map(
        (member, index) => new Kind(member, `${path}/party`, { identifier: `${index}` }),
      );
      if (one === undefined || other === undefined) throw new Error('there are two');
      // One after the other: who is second does not create the container.
      await one.join();
      await other.join();
      for await (const participants of one.follow()) if (participants.length === 2) break;
      await Promise.all([one.leave(), other.leave()]);
    }
  });
});

test('services and names', async () => {
  const steps = ['create2', 'createContainer', 'delete', 'setData', 'getData', 'addWatch'];
  await atSteps('/steps-discovery', steps, async ({ client, path, control }) => {
    const discovery = new ServiceDiscovery(client, `${path}/services`);
    const instance = await discovery.register({ name: 'web', id: 'a', port: 80 });
    const provider = new ServiceDiscovery(client, discovery.path).provider('web');
    await provider.ready();
    expect(provider.next()?.port).toBe(80);
    await discovery.update({ ...instance, port: 81 });
    await until('it has moved', DEADLINE_MS, () => provider.next()?.port === 81 || undefined);
    await provider.close();
    await discovery.close();
    const names = new NameService(client, `${path}/names`);
    await names.register('db', 'one');
    await names.register('db', 'two');
    await control.sync(names.path);
    expect(String(await new NameService(control, names.path).lookup('db'))).toBe('two');
    await names.unregister('db');
    expect(await names.lookup('db')).toBeNull();
    await control.delete(names.path).catch(() => {});
  });
});

test('counts and numbers: what is certain is so', async () => {
  const steps = ['create2', 'setData', 'getData', 'sync'];
  await atSteps('/steps-values', steps, async ({ client, path, control }) => {
    const number = new AtomicLong(client, `${path}/number`);
    let sum = 0n;
    let doubts = 0n;
    for (let index = 0; index < 5; index++) {
      try {
        expect(await number.increment()).toMatchObject({ succeeded: true });
        sum++;
      } catch (error) {
        if (!(error instanceof KeeperError && error.ambiguous)) throw error;
        doubts++;
      }
    }
    const seen = await new AtomicLong(control, number.path).get();
    expect([seen >= sum, seen <= sum + doubts, doubts <= 1n]).toEqual([true, true, true]);
    const count = new SharedCount(client, `${path}/count`, 1);
    await count.ready();
    await count.set(2);
    await until('it is seen', DEADLINE_MS, () => count.current?.count === 2 || undefined);
    await count.close();
    for (const left of [number.path, count.path]) await control.delete(left);
  });
});

test('caches and watchers', async () => {
  const steps = ['exists', 'getData', 'getChildren2', 'addWatch'];
  await atSteps('/steps-caches', steps, async ({ client, path, control }) => {
    const root = `${path}/root`;
    await createRecursive(control, `${root}/old`, '1');
    // A member that had only the directory would list nothing: events tell of what comes later.
    const policy = retryForever({ baseMs: 20, maxMs: 100 });
    await retry(client, policy, () => client.sync(root), { idempotent: true });
    const tree = new TreeCache(client, root);
    const children = new ChildrenCache(client, root);
    const node = new NodeCache(client, `${root}/new`);
    const watcher = new PersistentWatcher(client, root);
    const all = [tree, children, node];
    await watcher.whenStanding();
    await Promise.all(all.map((cache) => cache.ready()));
    await control.create(node.path, '2');
    await control.setData(`${root}/old`, '3');
    await until('all is seen', DEADLINE_MS, () => {
      const seen = [node.get(), children.get('new'), tree.get(`${root}/old`), children.get('old')];
      const text = seen.map((held) => String(held?.data)).join();
      return (text === '2,2,3,3' && tree.size === 3) || undefined;
    });
    await Promise.all([...all, watcher].map((one) => one.close()));
    for (const name of ['old', 'new']) await control.delete(`${root}/${name}`);
  });
});
