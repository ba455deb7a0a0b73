/**
 * Barrier and double barrier against real members: nobody stays at a barrier that is gone, members
 * begin and end together, while replies are lost, connections cut, members killed and sessions
 * over.
 */
import {
  Barrier,
  type Client,
  DoubleBarrier,
  LeaseLostError,
  SessionExpiredError,
} from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { namesIn, untilNames } from '../directory.js';
import { atEachStep } from '../protocol-steps.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 3_000;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

test('a barrier is set, waited at and removed though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/barrier-steps', control },
    async ({ client, path }) => {
      const barrier = new Barrier(client, `${path}/barrier`);
      await barrier.set();
      const waiting = barrier.wait();
      await until('somebody waits', DEADLINE_MS, () => client.watchCount === 1 || undefined);
      await new Barrier(control, barrier.path).remove();
      await waiting;
      await barrier.remove();
      expect(await barrier.isSet()).toBe(false);
    },
  );
  expect(lost.sort()).toEqual([
    'create2',
    'createContainer',
    'delete',
    'exists',
    'getData',
    'sync',
  ]);
});

test('a barrier removed while its waiter is cut off, or its member dies, lets it go', async () => {
  const control = await useDirectClient(ensemble());
  const waiter = await CuttableClient.use(ensemble());
  const barrier = new Barrier(control, '/barriers/cut');
  await barrier.set();
  const cutOff = new Barrier(waiter.client, barrier.path).wait();
  await until('it waits', DEADLINE_MS, () => waiter.client.watchCount === 1 || undefined);
  await waiter.cut();
  await barrier.remove();
  await waiter.heal();
  await cutOff;

  await barrier.set();
  const waiting = new Barrier(waiter.client, barrier.path).wait();
  await until('it waits', DEADLINE_MS, () => waiter.client.watchCount === 1 || undefined);
  const leader = await ensemble().leader();
  await leader.kill();
  await barrier.remove();
  await waiting;
  ensemble().start([leader.id]);
  await ensemble().serving();
  expect(waiter.client.watchCount).toBe(0);
});

test('a wait at a barrier ends with the session', async () => {
  const waiter = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const barrier = new Barrier(waiter.client, '/barriers/expiry');
  await barrier.set();
  const failing = expect(barrier.wait()).rejects.toThrow(SessionExpiredError);
  await until('it waits', DEADLINE_MS, () => waiter.client.watchCount === 1 || undefined);
  await waiter.cut();
  await failing;
  await waiter.heal();
  await barrier.remove();
});

test('members enter and leave together though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/double-steps', control },
    async ({ client, path }) => {
      const barriers = [client, control, client].map(
        (member) => new DoubleBarrier(member, path, { memberCount: 3 }),
      );
      let inside = 0;
      await Promise.all(
        barriers.map(async (barrier, index) => {
          // The directory is made by the client whose reply is lost.
          if (index === 1) await untilThere(control, path);
          const lease = await barrier.enter();
          inside++;
          expect(lease.held).toBe(true);
          await until('all are inside', DEADLINE_MS, () => inside === 3 || undefined);
          await barrier.leave();
        }),
      );
      expect(await namesIn(control, path)).toEqual([]);
    },
  );
  expect(lost).toEqual(
    expect.arrayContaining(['create2', 'createContainer', 'exists', 'getData', 'getChildren2']),
  );
});

async function untilThere(client: Client, path: string): Promise<void> {
  const look = async () => (await client.exists(path)) ?? undefined;
  await until(`${path} is there`, DEADLINE_MS, look);
}

test('groups enter and leave one after the other while members die and connections break', async () => {
  const path = '/double/rounds';
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => CuttableClient.use(ensemble())),
  );
  const rounds = 12;
  const count = Array.from({ length: rounds }, () => 0);
  let current = 0;
  const members = clients.map(async ({ client }) => {
    const barrier = new DoubleBarrier(client, path, { memberCount: 4 });
    for (let round = 0; round < rounds; round++) {
      await barrier.enter();
      count[round] = (count[round] ?? 0) + 1;
      current = round;
      await barrier.leave();
      // Nobody is out before everybody has been in.
      expect(count[round]).toBe(4);
    }
  });
  const all = Promise.all(members);
  const reached = (round: number) =>
    until(`round ${round}`, DEADLINE_MS, () => current >= round || undefined);
  await Promise.race([reached(2), all]);
  const leader = await ensemble().leader();
  await leader.kill();
  await Promise.race([reached(4), all]);
  ensemble().start([leader.id]);
  await ensemble().serving();
  for (const [index, client] of clients.entries()) {
    await client.cut();
    await client.heal();
    await Promise.race([reached(5 + index), all]);
  }
  await all;
  expect(count).toEqual(Array.from({ length: rounds }, () => 4));
  const control = await useDirectClient(ensemble());
  await untilNames(control, path, 0);
  for (const { client } of clients) expect(client.watchCount).toBe(0);
});

test('who loses its session is out, is told so, and keeps nobody', async () => {
  const path = '/double/expiry';
  const control = await useDirectClient(ensemble());
  const member = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const [one, other] = [member.client, control].map(
    (client) => new DoubleBarrier(client, path, { memberCount: 2 }),
  );
  if (one === undefined || other === undefined) throw new Error('two were made');
  const [lease] = await Promise.all([one.enter(), other.enter()]);
  await member.cut();
  const leaving = other.leave().then(() => lease.held);
  await losingSession(member.client);
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError);
  // Told before the others could leave without it.
  expect(await leaving).toBe(false);
  await expect(one.leave()).rejects.toThrow(LeaseLostError);
  await member.heal();
  await untilNames(control, path, 0);
});
