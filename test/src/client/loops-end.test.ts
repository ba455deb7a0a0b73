/**
 * Goal: every loop that a recipe gives ends with the signal of its options while its body waits,
 * and keeps nothing on the servers or in the client. Method: each loop gives its first value, the
 * signal is aborted while nobody asks for the next one, then the next is asked for. A lease that
 * the loop has given is over in the turn of the abort. The unit test of the recipes does the same
 * with a fake server, and in the middle of the loop's own wait.
 */
import * as library from '@rookery/client';
import { describe, expect, it } from 'vitest';
import { until } from '../harness/wait.js';
import { LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { sharedEnsemble } from './shared-ensemble.js';

type Client = library.Client;
type Loop = AsyncGenerator<unknown, void>;

interface Stop {
  readonly signal: AbortSignal;
}

type Open = (client: Client, path: string, stop: Stop) => Loop | Promise<Loop>;

const DEADLINE_MS = 60_000;
const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

async function filled<Q extends { entries(stop: Stop): Loop }>(
  queue: Q,
  stop: Stop,
  put: (queue: Q) => Promise<void>,
): Promise<Loop> {
  await put(queue);
  return queue.entries(stop);
}

const TEXT = { parse: (data: Buffer | null) => String(data), format: (value: string) => value };

const LOOPS: Readonly<Record<string, Open>> = {
  'BoundedQueue.entries': (client, path, stop) =>
    filled(new library.BoundedQueue(client, path, { entriesMax: 9 }), stop, (queue) =>
      queue.put('x'),
    ),
  'ChildrenCache.events': (client, path, stop) =>
    closing(new library.ChildrenCache(client, path), (cache) => cache.events(stop)),
  'Configuration.states': (client, path, stop) =>
    closing(new library.Configuration(client, path, TEXT), (recipe) => recipe.states(stop)),
  'DelayQueue.entries': (client, path, stop) =>
    filled(new library.DelayQueue(client, path), stop, (queue) => queue.put('x', 0)),
  'Election.terms': (client, path, stop) => new library.Election(client, path).terms(stop),
  'Group.follow': (client, path, stop) => new library.Group(client, path).follow(stop),
  'GroupMember.follow': (client, path, stop) =>
    new library.GroupMember(client, path, 'm').follow(stop),
  'IdQueue.entries': (client, path, stop) =>
    filled(new library.IdQueue(client, path), stop, (queue) => queue.put('x', 'i')),
  'IdempotentQueue.entries': (client, path, stop) =>
    filled(new library.IdempotentQueue(client, path), stop, (queue) => queue.enqueue('i', 'x')),
  'LeaderLatch.leadership': (client, path, stop) =>
    new library.LeaderLatch(client, path).leadership(stop),
  'LockingQueue.entries': (client, path, stop) =>
    filled(new library.LockingQueue(client, path), stop, (queue) => queue.put('x')),
  'NameService.follow': (client, path, stop) =>
    new library.NameService(client, path).follow('n', stop),
  'NodeCache.events': (client, path, stop) =>
    closing(new library.NodeCache(client, path), (cache) => cache.events(stop)),
  'Party.follow': (client, path, stop) => new library.Party(client, path).follow(stop),
  'PriorityQueue.entries': (client, path, stop) =>
    filled(new library.PriorityQueue(client, path), stop, (queue) => queue.put('x')),
  'Queue.entries': (client, path, stop) =>
    filled(new library.Queue(client, path, { lockPath: `${path}-locks` }), stop, (queue) =>
      queue.put('x'),
    ),
  'SetPartitioner.partitions': (client, path, stop) =>
    new library.SetPartitioner(client, path, { set: ['x'], settleMs: 1 }).partitions(stop),
  'ShallowParty.follow': (client, path, stop) =>
    new library.ShallowParty(client, path).follow(stop),
  'ShardedQueue.entries': (client, path, stop) =>
    filled(new library.ShardedQueue(client, path), stop, (queue) => queue.put('x')),
  'SharedCount.values': (client, path, stop) =>
    closing(new library.SharedCount(client, path, 1), (recipe) => recipe.values(stop)),
  'SharedValue.values': (client, path, stop) =>
    closing(new library.SharedValue(client, path, 'x'), (recipe) => recipe.values(stop)),
  'TreeCache.events': (client, path, stop) =>
    closing(new library.TreeCache(client, path), (cache) => cache.events(stop)),
};

/** What works in the background is closed when its loop has ended. */
async function* closing<R extends AsyncDisposable & { start(): void }>(
  recipe: R,
  loop: (recipe: R) => AsyncGenerator<unknown, unknown>,
): Loop {
  recipe.start();
  try {
    for await (const value of loop(recipe)) yield value;
  } finally {
    await recipe[Symbol.asyncDispose]();
  }
}

/** The signal of something that is held; null for what is only reported. */
function signalOf(value: unknown): AbortSignal | null {
  const isHolder = typeof value === 'object' && value !== null && 'signal' in value;
  return isHolder && value.signal instanceof AbortSignal ? value.signal : null;
}

const LEASES = ['Election.terms', 'LeaderLatch.leadership', 'SetPartitioner.partitions'];

describe.each(Object.entries(LOOPS))('the loop of %s', (name, open) => {
  it('ends when the signal is aborted while its body waits', async () => {
    const client = await useDirectClient(ensemble());
    const stop = new AbortController();
    const loop = await open(client, `/loops/${name}`, { signal: stop.signal });
    const { value, done } = await loop.next();
    expect(done).toBe(false);
    stop.abort();
    if (LEASES.includes(name)) expect(signalOf(value)?.aborted).toBe(true);
    expect(await loop.next()).toEqual({ done: true, value: undefined });
    await until('nothing is left', DEADLINE_MS, async () => {
      if (client.watchCount > 0) return undefined;
      return (await client.getEphemerals()).length === 0 || undefined;
    });
  });
});

it('there is a row for each loop of the library', () => {
  const loops = /^(?:entries|events|follow|leadership|partitions|states|terms|values)$/;
  const found = Object.entries(library).flatMap(([name, exported]) => {
    const methods = new Set<string>();
    let at: unknown = typeof exported === 'function' ? exported.prototype : null;
    for (; at instanceof Object && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      for (const method of Object.getOwnPropertyNames(at)) methods.add(method);
    }
    return [...methods].filter((method) => loops.test(method)).map((method) => `${name}.${method}`);
  });
  // A cache's own reading, which is protected, and what it holds at the moment: no loops.
  const isLoop = (name: string) => !/^\w+Cache\.(?:follow|values)$/.test(name);
  expect(Object.keys(LOOPS)).toEqual(found.filter(isLoop).sort());
});
