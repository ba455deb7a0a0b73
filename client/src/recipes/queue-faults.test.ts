/**
 * Queues while requests, replies, connections and sessions are lost at random: what was put is
 * given as often as the queue promises, and at the end nothing is left: no znode, watcher,
 * listener, timer. A failure names its seed.
 */
import { SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { LeaseLostError, LeaseReleasedError, OperationAbortedError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { namesIn, newClient, newWorld, turns } from '../testing/lock-world.js';
import { pick, type Random, randomFrom, runToEnd, strike } from '../testing/random-faults.js';
import { Queue } from './queue.js';
import type { QueueEntry } from './queues/queue-entry.js';

const PATH = '/queues/a';
const LOCKS = '/queues/a-locks';
const ITEMS_PER_PRODUCER = 12;
const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);

/** What became of each item. */
class Ledger {
  readonly certain = new Set<string>();
  readonly doubtful = new Set<string>();
  readonly given: string[] = [];
  readonly done: string[] = [];
  /** Takes whose entry may be gone with their session. */
  lost = 0;
}

/** Puts each until it is certain that it is there, or may be. */
async function produce(queue: Queue, name: string, ledger: Ledger): Promise<void> {
  for (let index = 0; index < ITEMS_PER_PRODUCER; ) {
    const item = `${name}-${index}`;
    try {
      await queue.put(item);
      ledger.certain.add(item);
      index++;
    } catch (error) {
      if (!(error instanceof SessionExpiredError)) throw error;
      if (!error.ambiguous) continue;
      ledger.doubtful.add(item);
      index++;
    }
  }
}

interface Consumer {
  readonly queue: Queue;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly stop: AbortSignal;
  readonly onEntry: (entry: QueueEntry) => Promise<void>;
}

/** Takes until told to stop; some takes are aborted by whoever asked. */
async function consume({ queue, random, ledger, stop, onEntry }: Consumer): Promise<void> {
  while (!stop.aborted) {
    const own = new AbortController();
    const onStop = () => own.abort();
    stop.addEventListener('abort', onStop);
    try {
      const taken = queue.take({ signal: own.signal });
      if (random() < 0.2) setImmediate(() => own.abort());
      await onEntry(await taken);
    } catch (error) {
      const isEnd = error instanceof SessionExpiredError || error instanceof OperationAbortedError;
      if (!isEnd) throw error;
      if (error.ambiguous) ledger.lost++;
    } finally {
      stop.removeEventListener('abort', onStop);
    }
  }
}

async function run(
  seed: number,
  options: { readonly lockPath?: string },
  onEntry: (context: {
    readonly entry: QueueEntry;
    readonly ledger: Ledger;
    readonly random: Random;
  }) => Promise<void>,
) {
  const random = randomFrom(seed);
  const { server, surroundings, one, other } = newWorld();
  const clients = [one, other, newClient(server, surroundings)];
  const queues = clients.map((client) => new Queue(client, PATH, options));
  const ledger = new Ledger();
  const stop = new AbortController();
  let producing = 0;
  const producers = queues.map(async (queue, index) => {
    producing++;
    await produce(queue, `p${index}`, ledger);
    producing--;
  });
  const consumers = [...queues, ...queues].map((queue) =>
    consume({
      queue,
      random,
      ledger,
      stop: stop.signal,
      onEntry: (entry) => onEntry({ entry, ledger, random }),
    }),
  );
  await runToEnd([...producers, ...consumers], {
    surroundings,
    random,
    faultySteps: 500,
    fault: () => {
      const client = pick(clients, random);
      if (client !== undefined) strike({ server, client, random });
    },
    check: () => {
      const isEmpty = [PATH, LOCKS].every((path) => namesIn(server, path).length === 0);
      if (producing === 0 && isEmpty) stop.abort();
    },
  });
  await surroundings.settle();
  expect(namesIn(server, `${PATH}-in-flight`), 'marks left').toEqual([]);
  for (const client of clients) expectNoTrace(client);
  expect(surroundings.timerCount).toBe(0);
  return { ledger, server };
}

function expectNoTrace(client: FakeClient): void {
  expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
}

const textOf = ({ items }: QueueEntry) => items.map(String).join();

describe('a queue under random faults', () => {
  it.each(SEEDS)('without locks gives nothing twice (seed %i)', async (seed) => {
    const { ledger } = await run(seed, {}, async ({ entry, ledger: { given } }) => {
      given.push(textOf(entry));
    });
    const { given, certain, doubtful, lost } = ledger;
    expect(new Set(given).size, `${given}`).toBe(given.length);
    const missing = [...certain].filter((item) => !given.includes(item));
    // Nothing is lost but with the session of who was just taking it.
    expect(missing.length, `${missing}`).toBeLessThanOrEqual(lost);
    expect(given.filter((item) => !certain.has(item) && !doubtful.has(item))).toEqual([]);
  });

  it.each(SEEDS)('with locks gives everything, and effects happen once (seed %i)', async (seed) => {
    const held = new Map<string, QueueEntry>();
    const { ledger, server } = await run(
      seed,
      { lockPath: LOCKS },
      async ({ entry, ledger: { given, done }, random }) => {
        const item = textOf(entry);
        // Nobody else holds it as long as its lease says so.
        expect(held.get(entry.path)?.lease?.held ?? false, item).toBe(false);
        held.set(entry.path, entry);
        given.push(item);
        await turns(Math.floor(random() * 6));
        if (random() < 0.1) return await entry.release();
        const effect = { kind: 'create', path: `/effect-${item}` } as const;
        try {
          if (random() < 0.1) return await entry.requeue();
          await entry.done([effect]);
          done.push(item);
        } catch (error) {
          const isLost = error instanceof LeaseLostError || error instanceof LeaseReleasedError;
          if (!isLost) throw error;
        }
      },
    );
    const effects = namesIn(server, '/').filter((name) => name.startsWith('effect-'));
    const items = effects.map((name) => name.slice('effect-'.length));
    expect([...ledger.certain].filter((item) => !items.includes(item))).toEqual([]);
    const unknown = items.filter((item) => !ledger.certain.has(item) && !ledger.doubtful.has(item));
    expect(unknown).toEqual([]);
    expect(new Set(ledger.done).size).toBe(ledger.done.length);
    expect(namesIn(server, LOCKS)).toEqual([]);
  });
});
