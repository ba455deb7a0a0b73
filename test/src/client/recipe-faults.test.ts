/**
 * Goal: the recipes that no other file takes through dying members, cut connections and a lost
 * session live through them, too. Method: all of them at work at once over one course of faults;
 * what must be true is counted on the side, and what an error calls doubtful may be either way.
 */
import {
  type Client,
  DelayQueue,
  IdQueue,
  KeeperError,
  NameService,
  OperationAbortedError,
  Party,
  PriorityQueue,
  type QueueEntry,
  ShallowParty,
  ShardedQueue,
  SharedCount,
  SimpleQueue,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { untilNames } from './directory.js';
import { runFaultCourse } from './fault-course.js';
import { sharedEnsemble } from './shared-ensemble.js';

const CLIENTS = 3;
const SHORT_SESSION_MS = 2_000;
const DEADLINE_MS = 60_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

/** A queue as this test uses it, on one path for all clients. */
interface Pipe {
  put(item: string): Promise<void>;
  take(signal: AbortSignal): Promise<string>;
}

const textOf = ({ items }: QueueEntry) => items.map(String).join();

const KINDS: Readonly<Record<string, (client: Client, path: string) => Pipe>> = {
  simple: (client, path) => {
    const queue = new SimpleQueue(client, path);
    return {
      put: (item) => queue.offer(item),
      take: async (signal) => String(await queue.take({ signal })),
    };
  },
  priority: (client, path) => {
    const queue = new PriorityQueue(client, path);
    return {
      put: (item) => queue.put(item, { priority: item.length }),
      take: async (signal) => textOf(await queue.take({ signal })),
    };
  },
  delay: (client, path) => {
    const queue = new DelayQueue(client, path);
    return {
      put: (item) => queue.put(item, 0),
      take: async (signal) => textOf(await queue.take({ signal })),
    };
  },
  id: (client, path) => {
    const queue = new IdQueue(client, path);
    return {
      put: (item) => queue.put(item, `id-${item}`),
      take: async (signal) => textOf(await queue.take({ signal })),
    };
  },
  sharded: (client, path) => {
    const queue = new ShardedQueue(client, path);
    return {
      put: (item) => queue.put(item),
      take: async (signal) => textOf(await queue.take({ signal })),
    };
  },
};

function useClients(): Promise<CuttableClient[]> {
  return Promise.all(
    Array.from({ length: CLIENTS }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
}

/** Rethrows what is no answer to trouble; else tells whether what was tried may have happened. */
function isDoubtful(error: unknown): boolean {
  if (error instanceof KeeperError || error instanceof OperationAbortedError) {
    return error.ambiguous;
  }
  throw error;
}

test('every kind of queue gives each item once while members die and sessions expire', async () => {
  const cuttable = await useClients();
  const ledger = new QueueLedger();
  const stop = new AbortController();
  let isOver = false;
  const kinds = Object.entries(KINDS);
  const producing = kinds.flatMap(([kind, open]) =>
    cuttable.map(async ({ client }, index) => {
      const queue = open(client, `/faults/${kind}`);
      for (let count = 0; !isOver; count++) {
        // Not far ahead of the consumers.
        await until('consumers', DEADLINE_MS, () => isOver || ledger.waiting < 100 || undefined);
        await ledger.put(queue, `${kind}-${index}-${count}`);
      }
    }),
  );
  const consuming = kinds.flatMap(([kind, open]) =>
    cuttable.map(async ({ client }) => {
      const queue = open(client, `/faults/${kind}`);
      while (!stop.signal.aborted) await ledger.take(queue, stop.signal);
    }),
  );
  await runFaultCourse({
    ensemble: ensemble(),
    clients: cuttable,
    cut: cuttable.slice(1),
    done: () => ledger.taken.length,
    step: 60,
  });
  isOver = true;
  await Promise.all(producing);
  const control = await useDirectClient(ensemble());
  for (const kind of ['simple', 'priority', 'delay', 'id']) {
    await untilNames(control, `/faults/${kind}`, 0);
  }
  await until('all shards are empty', DEADLINE_MS, () => ledger.missing === 0 || undefined);
  stop.abort();
  await Promise.all(consuming);
  expect(new Set(ledger.taken).size).toBe(ledger.taken.length);
  expect(ledger.taken.filter((item) => !ledger.tried.has(item))).toEqual([]);
  expect(ledger.missing).toBe(0);
  expect(cuttable.map(({ client }) => client.watchCount)).toEqual(cuttable.map(() => 0));
});

/** What was put and taken, by its names. */
class QueueLedger {
  readonly tried = new Set<string>();
  readonly certain = new Set<string>();
  readonly taken: string[] = [];
  #doubtfulTakes = 0;

  get waiting(): number {
    return this.certain.size - this.taken.length;
  }

  /** Items certainly put and not taken, but for one for each take that may have got one. */
  get missing(): number {
    const taken = new Set(this.taken);
    const left = [...this.certain].filter((item) => !taken.has(item)).length;
    return Math.max(left - this.#doubtfulTakes, 0);
  }

  async put(queue: Pipe, item: string): Promise<void> {
    this.tried.add(item);
    try {
      await queue.put(item);
      this.certain.add(item);
    } catch (error) {
      isDoubtful(error);
    }
  }

  async take(queue: Pipe, signal: AbortSignal): Promise<void> {
    try {
      this.taken.push(await queue.take(signal));
    } catch (error) {
      if (isDoubtful(error)) this.#doubtfulTakes++;
    }
  }
}

test('counts, names and parties are right while members die and sessions expire', async () => {
  const cuttable = await useClients();
  const control = await useDirectClient(ensemble());
  let isOver = false;
  let added = 0;
  let doubtful = 0;
  const counting = cuttable.map(async ({ client }) => {
    await using count = new SharedCount(client, '/faults/count', 0);
    while (!isOver) {
      try {
        const previous = await count.ready();
        if (await count.trySet(previous, previous.count + 1)) added++;
      } catch (error) {
        if (isDoubtful(error)) doubtful++;
      }
    }
  });
  const names = cuttable.map(({ client }) => new NameService(client, '/faults/names'));
  const registered = cuttable.map(() => 0);
  const naming = names.map(async (service, index) => {
    for (let version = 1; !isOver; version++) {
      try {
        await service.register(`services/${index}`, `${version}`);
        registered[index] = version;
        expect(String(await service.lookup(`services/${index}`))).toBe(`${version}`);
      } catch (error) {
        isDoubtful(error);
      }
    }
  });
  const parties = cuttable.flatMap(({ client }, index) => [
    new Party(client, '/faults/party', { identifier: `p${index}` }),
    new ShallowParty(client, '/faults/shallow', { identifier: `p${index}` }),
  ]);
  await Promise.all(parties.map((party) => party.join()));
  await runFaultCourse({
    ensemble: ensemble(),
    clients: cuttable,
    cut: cuttable.slice(1),
    done: () => added,
    step: 30,
  });
  isOver = true;
  await Promise.all([...counting, ...naming]);
  await using count = new SharedCount(control, '/faults/count', 0);
  await control.sync('/faults/count');
  const { count: counted } = await count.ready();
  expect(counted).toBeGreaterThanOrEqual(added);
  expect(counted).toBeLessThanOrEqual(added + doubtful);
  const lookup = new NameService(control, '/faults/names');
  for (const [index, version] of registered.entries()) {
    expect(Number(await lookup.lookup(`services/${index}`))).toBeGreaterThanOrEqual(version);
  }
  await untilNames(control, '/faults/party', CLIENTS);
  await untilNames(control, '/faults/shallow', CLIENTS);
  await Promise.all(parties.map((party) => party.leave()));
  await untilNames(control, '/faults/party', 0);
  await untilNames(control, '/faults/shallow', 0);
});
