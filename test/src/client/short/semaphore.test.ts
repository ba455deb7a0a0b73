/**
 * Semaphore and Mutex against real members: never more leases than there are, none orphaned, while
 * acquires time out and are aborted, the leader dies, connections are cut and sessions expire.
 */
import { type Lease, LockTimeoutError, Mutex, Semaphore } from '@rookery/client';
import { expect, test } from 'vitest';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { runFaultCourse } from '../fault-course.js';
import { HoldersLedger } from '../holders-ledger.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const SHORT_SESSION_MS = 3_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

test('several leases are given all or none, and a timeout leaves no znode', async () => {
  const path = '/semaphores/all-or-none';
  const [one, other] = await Promise.all([
    useDirectClient(ensemble()),
    useDirectClient(ensemble()),
  ]);
  const lease = await new Semaphore(one, path, { maxLeases: 3 }).acquire();
  const semaphore = new Semaphore(other, path, { maxLeases: 3 });
  await expect(semaphore.acquireMany(3, { timeoutMs: 300 })).rejects.toThrow(LockTimeoutError);
  await untilNames(one, `${path}/leases`, 1);
  await untilNames(one, `${path}/locks`, 0);
  const two = await semaphore.acquireMany(2);
  expect(await namesIn(one, `${path}/leases`)).toHaveLength(3);
  for (const each of [lease, ...two]) await each.release();
  await untilNames(one, `${path}/leases`, 0);
});

test('a shared maximum is followed while somebody waits', async () => {
  const path = '/semaphores/shared';
  const maxLeases = { countPath: '/semaphores/count', seed: 1 };
  const [one, other] = await Promise.all([
    useDirectClient(ensemble()),
    useDirectClient(ensemble()),
  ]);
  const first = await new Semaphore(one, path, { maxLeases }).acquire();
  const waiting = new Semaphore(other, path, { maxLeases }).acquire();
  await untilNames(one, `${path}/leases`, 2);
  await one.setData(maxLeases.countPath, Buffer.from([0, 0, 0, 2]));
  const second = await waiting;
  expect(first.held).toBe(true);
  await first.release();
  await second.release();
  expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
});

test('a mutex has one holder, tokens grow, and whoever has the lease releases it', async () => {
  const path = '/semaphores/mutex';
  const ledger = HoldersLedger.ofExclusive();
  const clients = await Promise.all(Array.from({ length: 5 }, () => useDirectClient(ensemble())));
  await Promise.all(
    clients.map(async (client) => {
      const mutex = new Mutex(client, path);
      for (let round = 0; round < 10; round++) await mutex.run((lease) => ledger.add(lease));
    }),
  );
  expect([ledger.given, ledger.violations]).toEqual([50, []]);
});

test('there are never too many leases while members die and sessions expire', async () => {
  const path = '/semaphores/faults';
  const leases = 3;
  const mayCoexist = (live: readonly Lease[]) => live.length <= leases;
  const ledger = new HoldersLedger({ mayCoexist, isExclusive: false });
  const control = await useDirectClient(ensemble());
  const cuttable = await Promise.all(
    Array.from({ length: 6 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  let isOver = false;
  const working = cuttable.map(async ({ client }, index) => {
    const options = { maxLeases: leases, onSessionLost: 'rejoin' } as const;
    const semaphore = new Semaphore(client, path, options);
    while (!isOver) {
      const taken = await semaphore.acquireMany((index % leases) + 1);
      for (const lease of taken) ledger.add(lease);
      await Promise.all(taken.map((lease) => lease.release()));
    }
  });
  await runFaultCourse({
    ensemble: ensemble(),
    clients: cuttable,
    cut: cuttable.slice(0, 3),
    done: () => ledger.given,
    step: 30,
  });
  isOver = true;
  await Promise.all(working);
  expect(ledger.violations).toEqual([]);
  expect(cuttable.map(({ client }) => client.watchCount)).toEqual(cuttable.map(() => 0));
  await untilNames(control, `${path}/leases`, 0);
  await untilNames(control, `${path}/locks`, 0);
});
