/**
 * ReadWriteLock against real members, with readers, writers and downgrading writers while the
 * leader dies and connections are cut. What may never happen is looked at whenever a lease is
 * given.
 */
import {
  type Lease,
  LeaseLostError,
  LockUpgradeError,
  ReadWriteLock,
  type SessionExpiredError,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { runFaultCourse } from '../fault-course.js';
import { HoldersLedger } from '../holders-ledger.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const SHORT_SESSION_MS = 3_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

function newLedger(): HoldersLedger {
  const isReader = ({ path }: Lease) => path.includes('__READ__');
  const mayCoexist = (live: readonly Lease[]) => live.length <= 1 || live.every(isReader);
  return new HoldersLedger({ mayCoexist, isExclusive: false });
}

test('readers share, a writer is alone, and both are let in in the order of asking', async () => {
  const path = '/rw/order';
  const [one, other] = await Promise.all([
    useDirectClient(ensemble()),
    useDirectClient(ensemble()),
  ]);
  const lockOfOne = new ReadWriteLock(one, path);
  const lockOfOther = new ReadWriteLock(other, path);
  const readers = await Promise.all([lockOfOne.read.acquire(), lockOfOther.read.acquire()]);
  const order: string[] = [];
  const writing = lockOfOther.write.run(() => order.push('write'));
  await untilNames(one, path, 3);
  const reading = lockOfOne.read.run(() => order.push('read'));
  await untilNames(one, path, 4);
  expect(order).toEqual([]);
  for (const reader of readers) await reader.release();
  await Promise.all([writing, reading]);
  expect(order).toEqual(['write', 'read']);
  expect(await namesIn(one, path)).toEqual([]);
});

test('a write lock becomes a read lock before the next writer, and never the other way', async () => {
  const path = '/rw/downgrade';
  const [one, other] = await Promise.all([
    useDirectClient(ensemble()),
    useDirectClient(ensemble()),
  ]);
  const lock = new ReadWriteLock(one, path);
  const writer = await lock.write.acquire();
  const waiting = new ReadWriteLock(other, path).write.acquire();
  await untilNames(one, path, 2);
  const reader = await lock.downgrade(writer);
  expect([writer.held, reader.held]).toEqual([false, true]);
  await expect(lock.write.acquire({ holder: reader })).rejects.toThrow(LockUpgradeError);
  expect(await namesIn(one, path)).toHaveLength(2);
  await reader.release();
  await (await waiting).release();
  await untilNames(one, path, 0);
});

test('readers and writers exclude each other while the leader dies and connections are cut', async () => {
  const path = '/rw/faults';
  const ledger = newLedger();
  const control = await useDirectClient(ensemble());
  const cuttable = await Promise.all(
    Array.from({ length: 6 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  let isOver = false;
  const working = cuttable.map(async ({ client }, index) => {
    const lock = new ReadWriteLock(client, path, { onSessionLost: 'rejoin' });
    while (!isOver) {
      await using lease = await (index < 3 ? lock.read : lock.write).acquire();
      ledger.add(lease);
      if (index < 5) continue;
      try {
        await using read = await lock.downgrade(lease);
        ledger.add(read);
      } catch (error) {
        // The write lock was lost before the read lock was had.
        if (!isLoss(error)) throw error;
      }
    }
  });
  await runFaultCourse({
    ensemble: ensemble(),
    clients: cuttable,
    cut: cuttable.filter((_, index) => index % 2 === 1),
    done: () => ledger.given,
    step: 30,
  });
  isOver = true;
  await Promise.all(working);
  expect(ledger.violations).toEqual([]);
  expect(cuttable.map(({ client }) => client.watchCount)).toEqual(cuttable.map(() => 0));
  await untilNames(control, path, 0);
});

function isLoss(error: unknown): error is LeaseLostError | SessionExpiredError {
  if (error instanceof LeaseLostError) return true;
  return error instanceof Error && error.name === 'SessionExpiredError';
}
