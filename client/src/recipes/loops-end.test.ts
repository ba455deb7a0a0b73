/**
 * Every loop that a recipe gives ends with the signal of its options: at once while the loop itself
 * waits, and as soon as its body comes back when the signal is aborted while the body runs. What
 * the loop holds for its body, a term or a partition, is given up in the very turn of the abort,
 * for the body may run for long. The table names each loop; the last test finds one without a row.
 */
import { describe, expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import * as library from '../index.js';
import { newWorld, turns } from '../testing/lock-world.js';

const PATH = '/a';

interface Stop {
  readonly signal: AbortSignal;
  /** No loop has it. */
  readonly timeout?: number;
}

interface Row {
  /** What the loop holds ends with the abort, and not only when the body comes back. */
  readonly isLease?: boolean;
  open(client: Client, stop: Stop): Loop | Promise<Loop>;
}

interface Loop {
  readonly values: AsyncGenerator<unknown, void>;
  readonly closes?: AsyncDisposable;
}

/** A queue with one entry in it. */
async function filled<Q extends { entries(stop: Stop): AsyncGenerator<unknown, void> }>(
  queue: Q,
  stop: Stop,
  put: (queue: Q) => Promise<void>,
): Promise<Loop> {
  await put(queue);
  return { values: queue.entries(stop) };
}

function started<R extends AsyncDisposable & { start(): void }>(
  recipe: R,
  values: AsyncGenerator<unknown, void>,
): Loop {
  recipe.start();
  return { values, closes: recipe };
}

const ROWS: Record<string, Row> = {
  'LeaderLatch.leadership': {
    isLease: true,
    open: (client, stop) => ({ values: new library.LeaderLatch(client, PATH).leadership(stop) }),
  },
  'Election.terms': {
    isLease: true,
    open: (client, stop) => ({ values: new library.Election(client, PATH).terms(stop) }),
  },
  'SetPartitioner.partitions': {
    isLease: true,
    open: (client, stop) => ({
      values: new library.SetPartitioner(client, PATH, { set: ['x', 'y'] }).partitions(stop),
    }),
  },
  'Configuration.states': {
    open: (client, stop) => {
      const format = (value: string) => Buffer.from(value);
      const recipe = new library.Configuration(client, PATH, { parse: String, format });
      return { values: recipe.states(stop), closes: recipe };
    },
  },
  'Party.follow': {
    open: (client, stop) => ({ values: new library.Party(client, PATH).follow(stop) }),
  },
  'ShallowParty.follow': {
    open: (client, stop) => ({ values: new library.ShallowParty(client, PATH).follow(stop) }),
  },
  'Group.follow': {
    open: (client, stop) => ({ values: new library.Group(client, PATH).follow(stop) }),
  },
  'GroupMember.follow': {
    open: (client, stop) => ({ values: new library.GroupMember(client, PATH, 'm').follow(stop) }),
  },
  'NameService.follow': {
    open: (client, stop) => ({ values: new library.NameService(client, PATH).follow('n', stop) }),
  },
  'NodeCache.events': {
    open: (client, stop) => {
      const cache = new library.NodeCache(client, PATH);
      return started(cache, cache.events(stop));
    },
  },
  'TreeCache.events': {
    open: (client, stop) => {
      const cache = new library.TreeCache(client, PATH);
      return started(cache, cache.events(stop));
    },
  },
  'ChildrenCache.events': {
    open: (client, stop) => {
      const cache = new library.ChildrenCache(client, PATH);
      return started(cache, cache.events(stop));
    },
  },
  'SharedValue.values': {
    open: (client, stop) => {
      const recipe = new library.SharedValue(client, PATH, 'seed');
      return { values: recipe.values(stop), closes: recipe };
    },
  },
  'SharedCount.values': {
    open: (client, stop) => {
      const recipe = new library.SharedCount(client, PATH, 1);
      return { values: recipe.values(stop), closes: recipe };
    },
  },
  'Queue.entries': {
    open: (client, stop) =>
      filled(new library.Queue(client, PATH), stop, (queue) => queue.put('x')),
  },
  'BoundedQueue.entries': {
    open: (client, stop) =>
      filled(new library.BoundedQueue(client, PATH, { entriesMax: 9 }), stop, (queue) =>
        queue.put('x'),
      ),
  },
  'DelayQueue.entries': {
    open: (client, stop) =>
      filled(new library.DelayQueue(client, PATH), stop, (queue) => queue.put('x', 0)),
  },
  'IdQueue.entries': {
    open: (client, stop) =>
      filled(new library.IdQueue(client, PATH), stop, (queue) => queue.put('x', 'i')),
  },
  'PriorityQueue.entries': {
    open: (client, stop) =>
      filled(new library.PriorityQueue(client, PATH), stop, (queue) => queue.put('x')),
  },
  'ShardedQueue.entries': {
    open: (client, stop) =>
      filled(new library.ShardedQueue(client, PATH), stop, (queue) => queue.put('x')),
  },
  'LockingQueue.entries': {
    open: (client, stop) =>
      filled(new library.LockingQueue(client, PATH), stop, (queue) => queue.put('x')),
  },
  'IdempotentQueue.entries': {
    open: (client, stop) =>
      filled(new library.IdempotentQueue(client, PATH), stop, (queue) => queue.enqueue('i', 'x')),
  },
};

const END = { done: true, value: undefined };

/** A loop that has given its first value, which its body has not finished with. */
async function inItsBody({ open }: Row) {
  const { surroundings, one } = newWorld();
  const stop = new AbortController();
  const opening = Promise.resolve(open(one, { signal: stop.signal }));
  await surroundings.settle();
  const { values, closes } = await opening;
  const first = values.next();
  await surroundings.settle();
  const { value, done } = await first;
  expect(done).toBe(false);
  const expectNothingLeft = async () => {
    await closes?.[Symbol.asyncDispose]();
    await surroundings.settle();
    expect([one.watchCount, one.listenerCount, surroundings.timerCount]).toEqual([0, 0, 0]);
  };
  return { surroundings, values, value, stop, expectNothingLeft };
}

function signalOf(value: unknown): AbortSignal {
  const isHolder = typeof value === 'object' && value !== null && 'signal' in value;
  if (isHolder && value.signal instanceof AbortSignal) return value.signal;
  throw new Error('it has no signal');
}

describe.each(Object.entries(ROWS))('the loop of %s', (_, row) => {
  it('ends when the signal is aborted while its body waits', async () => {
    const { surroundings, values, value, stop, expectNothingLeft } = await inItsBody(row);
    stop.abort();
    if (row.isLease) expect(signalOf(value).aborted).toBe(true);
    await surroundings.settle();
    const next = values.next();
    await surroundings.settle();
    expect(await next).toEqual(END);
    await expectNothingLeft();
  });

  it('ends when the signal is aborted while it waits itself', async () => {
    const { surroundings, values, stop, expectNothingLeft } = await inItsBody(row);
    // Some have more to give at once, such as a cache that is filled.
    let last = values.next();
    for (let given = 0; given < 5; given++) {
      let isGiven = false;
      void last.then(() => {
        isGiven = true;
      });
      await turns(20);
      if (isGiven) last = values.next();
    }
    stop.abort();
    await surroundings.settle();
    expect(await last).toEqual(END);
    await expectNothingLeft();
  });
});

it.each(Object.entries(ROWS))('the loop of %s refuses an option that is none', async (_, row) => {
  const { surroundings, one } = newWorld();
  const { signal } = new AbortController();
  const opening = Promise.resolve(row.open(one, { signal, timeout: 5 }));
  await surroundings.settle();
  const { values, closes } = await opening;
  const first = values.next().catch((error: unknown) => error);
  await surroundings.settle();
  expect(await first).toBeInstanceOf(library.OptionError);
  await closes?.[Symbol.asyncDispose]();
});

it('there is a row for each loop of the library', () => {
  const loops = /^(?:entries|events|follow|leadership|partitions|states|terms|values)$/;
  // A cache's own reading, which is protected and not a loop.
  const protectedMethods = ['NodeCache.follow', 'TreeCache.follow'];
  // The present values, in a Map.
  const maps = ['ChildrenCache.values', 'NodeCache.values', 'TreeCache.values'];
  const found: string[] = [];
  for (const [name, exported] of Object.entries(library)) {
    if (typeof exported !== 'function') continue;
    for (let at: unknown = exported.prototype; at instanceof Object; at = protoOf(at)) {
      for (const [method, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
        const isLoop = value?.constructor?.name === 'AsyncGeneratorFunction' || loops.test(method);
        if (isLoop) found.push(`${name}.${method}`);
      }
    }
  }
  expect(found.sort()).toEqual([...Object.keys(ROWS), ...protectedMethods, ...maps].sort());
});

function protoOf(object: object): unknown {
  const proto: unknown = Object.getPrototypeOf(object);
  return proto === Object.prototype ? null : proto;
}
