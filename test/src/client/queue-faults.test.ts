/**
 * Queue and BoundedQueue against real members: everything that was put is done once, with nobody
 * else busy with it, while the leader dies, connections are cut and sessions expire.
 */
import { BoundedQueue, KeeperError, LeaseLostError, Queue, type QueueEntry } from '@rookery/client';
import { expect, onTestFinished, test } from 'vitest';
import { until, within } from '../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from './cuttable-client.js';
import { explained, namesIn, untilNames } from './directory.js';
import { runFaultCourse } from './fault-course.js';
import { sharedEnsemble } from './shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 2_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

const textOf = ({ items }: QueueEntry) => items.map(String).join();

/** Rejects with the first failure of any of them, and says nothing of the others. */
function failureOf(works: readonly Promise<unknown>[]): Promise<never> {
  const failure = new Promise<never>((_, reject) => {
    for (const work of works) work.catch(reject);
  });
  failure.catch(() => undefined);
  return failure;
}

test('an entry whose holder is cut off goes to another, after the holder was told', async () => {
  const path = '/queues/cut';
  const options = { lockPath: '/queues/cut-locks' };
  const holder = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const other = await useDirectClient(ensemble());
  const queue = new Queue(holder.client, path, options);
  await queue.put('x');
  const entry = await queue.take();
  const next = new Queue(other, path, options)
    .take()
    .then((taken) => ({ taken, held: entry.lease?.held }));
  await until('the other waits', DEADLINE_MS, () => other.watchCount >= 2 || undefined);
  await holder.cut();
  expect(entry.lease?.held).toBe(true);
  const { taken, held } = await next;
  expect(held).toBe(false);
  await expect(entry.done()).rejects.toThrow(LeaseLostError);
  await taken.done();
  expect(await namesIn(other, path)).toEqual([]);
  await untilNames(other, options.lockPath, 0);
});

test('all is done once while the leader dies, connections are cut and a session expires', async () => {
  const path = '/queues/faults';
  const lockPath = '/queues/faults-locks';
  const effects = '/effects-of-faults';
  const control = await useDirectClient(ensemble());
  await control.create(effects);
  const cuttable = await Promise.all(
    Array.from({ length: 4 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  const certain = new Set<string>();
  const doubtful = new Set<string>();
  let isOver = false;
  const producers = cuttable.map(async ({ client }, index) => {
    const queue = new BoundedQueue(client, path, { lockPath, entriesMax: 20 });
    for (let count = 0; !isOver; count++) {
      const item = `${index}-${count}`;
      try {
        await queue.put(item);
        certain.add(item);
      } catch (error) {
        if (!(error instanceof KeeperError)) throw error;
        if (error.ambiguous) doubtful.add(item);
      }
    }
  });
  const stop = new AbortController();
  let done = 0;
  const consumers = cuttable.map(({ client }) =>
    new Queue(client, path, { lockPath, onSessionLost: 'rejoin' }).consume(
      async (entry) => {
        const create = { kind: 'create', path: `${effects}/${textOf(entry)}` } as const;
        await entry.done([create]).then(
          () => done++,
          (error: unknown) => {
            if (!(error instanceof LeaseLostError)) throw error;
          },
        );
      },
      { signal: stop.signal, concurrency: 2 },
    ),
  );
  const failure = failureOf([...producers, ...consumers]);
  // Before the clients are closed: what the others say then would hide why.
  onTestFinished(() => {
    isOver = true;
    stop.abort();
  });
  const places = [path, lockPath, `${path}-in-flight`, `${path}-gate`];
  await explained(control, places, async () => {
    const course = runFaultCourse({
      ensemble: ensemble(),
      clients: cuttable,
      cut: cuttable.slice(0, 2),
      done: () => done,
      step: 10,
      stepWhileCut: 0,
    });
    await Promise.race([course, failure]);
    isOver = true;
    await within('the producers end', DEADLINE_MS, Promise.all(producers));
    await Promise.race([untilNames(control, path, 0), failure]);
  });
  stop.abort();
  await Promise.all(consumers);
  const names = new Set(await namesIn(control, effects));
  expect([...certain].filter((item) => !names.has(item))).toEqual([]);
  expect([...names].filter((item) => !certain.has(item) && !doubtful.has(item))).toEqual([]);
  await untilNames(control, lockPath, 0);
  await untilNames(control, `${path}-in-flight`, 0);
  await untilNames(control, `${path}-gate`, 0);
  expect(cuttable.map(({ client }) => client.watchCount)).toEqual(cuttable.map(() => 0));
});
