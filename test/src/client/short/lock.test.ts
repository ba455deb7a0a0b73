/**
 * Lock against real members: many hand-overs without a herd, and hand-overs while members die,
 * connections are cut, replies are dropped and sessions expire.
 *
 * What may never happen is looked at in the turn in which a lease is given; nothing is timed.
 * ROOKERY_HANDOVERS=10000 makes the count of hand-overs.
 */
import {
  ClientClosedError,
  KeeperError,
  LeaseLostError,
  Lock,
  OperationAbortedError,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { runFaultCourse } from '../fault-course.js';
import { counted, HoldersLedger, type Traffic } from '../holders-ledger.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const HANDOVERS = Number(process.env['ROOKERY_HANDOVERS'] ?? 500);
const CONTENDERS = 50;
const DEADLINE_MS = 60_000;
/** Short enough to wait for its end; the server allows no less than twice its tick of 500 ms. */
const SHORT_SESSION_MS = 3_000;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

test(
  `${HANDOVERS} hand-overs among ${CONTENDERS} contenders wake one waiter each`,
  async () => {
    const path = '/locks/handovers';
    const traffic: Traffic = { events: 0, listings: 0 };
    const ledger = HoldersLedger.ofExclusive();
    const clients = await Promise.all(
      Array.from({ length: CONTENDERS }, () => useDirectClient(ensemble())),
    );
    const order: bigint[] = [];
    await Promise.all(
      clients.map(async (client) => {
        const lock = new Lock(counted(client, traffic), path);
        while (ledger.given + CONTENDERS <= HANDOVERS) {
          const lease = await lock.acquire();
          ledger.add(lease);
          order.push(lease.fencingToken);
          await lease.release();
        }
      }),
    );
    expect(ledger.violations).toEqual([]);
    expect(ledger.given).toBeGreaterThan(HANDOVERS - CONTENDERS);
    // One event for who waited, and one listing more than without a wait; those that a connection
    // lost on a loaded machine costs each contender are allowed for. A herd has 50 times as many.
    expect(traffic.events).toBeLessThanOrEqual(ledger.given + CONTENDERS);
    expect(traffic.listings).toBeLessThanOrEqual(2 * ledger.given + CONTENDERS);
    expect(clients.map(({ watchCount }) => watchCount)).toEqual(clients.map(() => 0));
    const [client] = clients;
    if (client !== undefined) expect(await namesIn(client, path)).toEqual([]);
  },
  60_000 + 60 * HANDOVERS,
);

test('hand-overs go on, one holder at a time, while the leader dies and connections are cut', async () => {
  const path = '/locks/faults';
  const counter = '/counter-of-faults';
  const ledger = HoldersLedger.ofExclusive();
  const control = await useDirectClient(ensemble());
  await control.create(counter, '0');
  const cuttable = await Promise.all(
    Array.from({ length: 6 }, () =>
      CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS }),
    ),
  );
  let isOver = false;
  let raised = 0;
  const working = cuttable.map(async ({ client }) => {
    const lock = new Lock(client, path, { onSessionLost: 'rejoin' });
    while (!isOver) {
      const lease = await lock.acquire();
      ledger.add(lease);
      try {
        const { data } = await client.getData(counter);
        const next = `${Number(data?.toString()) + 1}`;
        await client.fenced(lease, [{ kind: 'setData', path: counter, data: next }]);
        raised++;
      } catch (error) {
        // Lost with the connection or the session, perhaps after it was done; else a failure.
        if (!(error instanceof KeeperError || error instanceof LeaseLostError)) throw error;
      } finally {
        await lease.release();
      }
    }
  });
  await runFaultCourse({
    ensemble: ensemble(),
    clients: cuttable,
    cut: cuttable.slice(0, 3),
    done: () => ledger.given,
    step: 20,
  });
  isOver = true;
  await Promise.all(working);
  expect(ledger.violations).toEqual([]);
  expect(cuttable.map(({ client }) => client.watchCount)).toEqual(cuttable.map(() => 0));
  await untilNames(control, path, 0);
  // Nobody wrote over another's: every transaction that was answered is in the count.
  const { data } = await control.getData(counter);
  expect(Number(data?.toString())).toBeGreaterThanOrEqual(raised);
});

test('a holder that is cut off is told before the next one gets the lock', async () => {
  const path = '/locks/cut-off';
  const holder = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const other = await useDirectClient(ensemble());
  const lease = await new Lock(holder.client, path).acquire();
  const waiting = new Lock(other, path).acquire().then((next) => ({ next, held: lease.held }));
  await untilNames(other, path, 2);
  await holder.cut();
  expect(lease.held).toBe(true);
  const { next, held } = await waiting;
  expect(held).toBe(false);
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(lease.signal.reason).toMatchObject({ lossCause: 'expired' });
  expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  await next.release();
  await lease.release();
  await untilNames(other, path, 0);
});

test('a holder whose session is ended by somebody else loses the lock, and asks anew', async () => {
  const path = '/locks/ended';
  const holder = await CuttableClient.use(ensemble());
  const other = await useDirectClient(ensemble());
  const lock = new Lock(holder.client, path);
  const lease = await lock.acquire();
  const waiting = new Lock(other, path).acquire();
  await untilNames(other, path, 2);
  await holder.cut();
  await holder.expireSession();
  const next = await waiting;
  await holder.heal();
  await until('the lease is lost', DEADLINE_MS, () => !lease.held || undefined);
  const again = lock.acquire();
  await untilNames(other, path, 2);
  await next.release();
  await (await again).release();
  await untilNames(other, path, 0);
});

test('a create whose reply never comes makes one znode, and the lock is had', async () => {
  const path = '/locks/reply-lost';
  const waiter = await CuttableClient.use(ensemble());
  const other = await useDirectClient(ensemble());
  const first = await new Lock(other, path).acquire();
  waiter.holdReplies();
  const waiting = new Lock(waiter.client, path).acquire();
  await untilNames(other, path, 2);
  await waiter.cut();
  await waiter.heal();
  await first.release();
  const lease = await waiting;
  expect(await namesIn(other, path)).toEqual([lease.path.slice(path.length + 1)]);
  await lease.release();
  await untilNames(other, path, 0);
});

test('an acquire that is aborted before the reply to its create has come leaves no znode', async () => {
  const path = '/locks/aborted';
  const waiter = await CuttableClient.use(ensemble());
  const other = await useDirectClient(ensemble());
  const first = await new Lock(other, path).acquire();
  waiter.holdReplies();
  const controller = new AbortController();
  const failed = expect(
    new Lock(waiter.client, path).acquire({ signal: controller.signal }),
  ).rejects.toThrow(OperationAbortedError);
  await untilNames(other, path, 2);
  controller.abort();
  await failed;
  await waiter.cut();
  await waiter.heal();
  await untilNames(other, path, 1);
  await first.release();
});

test('CURATOR-678: a release while cut off leaves no znode', async () => {
  const path = '/locks/released';
  const holder = await CuttableClient.use(ensemble());
  const other = await useDirectClient(ensemble());
  const lease = await new Lock(holder.client, path).acquire();
  const waiting = new Lock(other, path).acquire();
  await untilNames(other, path, 2);
  await holder.cut();
  await lease.release();
  expect(await namesIn(other, path)).toHaveLength(2);
  await holder.heal();
  await (await waiting).release();
  await untilNames(other, path, 0);
});

test('a lease ends with its client, and with its znode', async () => {
  const path = '/locks/ends';
  const [one, other] = [await useDirectClient(ensemble()), await useDirectClient(ensemble())];
  const closed = await new Lock(one, path).acquire();
  const failing = expect(new Lock(one, path).acquire()).rejects.toThrow(ClientClosedError);
  await untilNames(other, path, 2);
  await one.close();
  expect(closed.signal.reason).toMatchObject({ lossCause: 'closed' });
  await failing;
  const deleted = await new Lock(other, path).acquire();
  await other.delete(deleted.path);
  await until('the lease is lost', DEADLINE_MS, () => !deleted.held || undefined);
  expect(deleted.signal.reason).toMatchObject({ lossCause: 'deleted' });
});
