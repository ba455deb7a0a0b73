/**
 * Shared value, shared count and atomic long against real members: no acknowledged change is lost
 * or doubled, no value goes back, while replies are lost, the leader dies, connections are cut and
 * sessions end.
 */
import { AtomicLong, SharedCount, SharedValue, type VersionedValue } from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { useReplyLosingClient } from '../reply-losing-client.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

test('no acknowledged increment is lost or doubled, whatever dies', async () => {
  const path = '/values/sum';
  const options = { optimisticTries: 3, promotion: { lockPath: '/values/sum-lock' } };
  const direct = await Promise.all([1, 2].map(() => useDirectClient(ensemble())));
  const cuttable = await Promise.all([1, 2].map(() => CuttableClient.use(ensemble())));
  const clients = [...direct, ...cuttable.map(({ client }) => client)];
  let isOver = false;
  let acknowledged = 0n;
  let doubtful = 0n;
  const working = clients.map(async (client) => {
    const number = new AtomicLong(client, path, options);
    while (!isOver) {
      try {
        const { succeeded, pre, post } = await number.increment();
        if (!succeeded) continue;
        expect(post).toBe(pre + 1n);
        acknowledged += 1n;
      } catch (error) {
        if (Object(error).ambiguous === true) doubtful += 1n;
        // The lock of the promotion ends with the session.
        else expect(error).toMatchObject({ name: 'SessionExpiredError' });
      }
    }
  });
  const increments = async (count: bigint) => {
    const goal = acknowledged + count;
    await until(`${count} more`, DEADLINE_MS, () => (acknowledged >= goal ? true : undefined));
  };
  await increments(50n);
  for (const client of cuttable) {
    await client.cut();
    await increments(10n);
    await client.heal();
  }
  const leader = await ensemble().leader();
  await leader.kill();
  await increments(20n);
  ensemble().start([leader.id]);
  await ensemble().serving();
  const [expiring] = cuttable;
  if (expiring === undefined) throw new Error('there is a client to expire');
  await expiring.cut();
  await expiring.expireSession();
  await expiring.heal();
  await increments(20n);
  isOver = true;
  await Promise.all(working);
  const [reader] = direct;
  if (reader === undefined) throw new Error('there is a client to read with');
  const total = await new AtomicLong(reader, path).get();
  expect(total).toBeGreaterThanOrEqual(acknowledged);
  expect(total).toBeLessThanOrEqual(acknowledged + doubtful);
  expect(clients.map(({ watchCount }) => watchCount)).toEqual([0, 0, 0, 0]);
});

test('a lost reply to an increment is told as doubt, and one to a create as well', async () => {
  const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
  const number = new AtomicLong(client, '/lost/number');
  expect((await number.add(41n)).succeeded).toBe(true);
  const lost = loseReplyTo(OpCode.setData);
  await expect(number.increment()).rejects.toMatchObject({ ambiguous: true });
  await lost;
  expect(await number.get()).toBe(42n);
  expect((await number.increment()).post).toBe(43n);
  expect((await number.compareAndSet(1n, 2n)).succeeded).toBe(false);
});

test('a shared value never goes back and is the same for all in the end', async () => {
  const path = '/values/shared';
  const direct = await useDirectClient(ensemble());
  const cuttable = await CuttableClient.use(ensemble());
  const ofDirect = new SharedValue(direct, path, 'seed');
  const ofCuttable = new SharedValue(cuttable.client, path, 'other seed');
  const heard: VersionedValue[][] = [ofDirect, ofCuttable].map((value) => {
    const values: VersionedValue[] = [];
    value.listen((newer) => values.push(newer));
    return values;
  });
  await ofDirect.ready();
  expect((await ofCuttable.ready()).data?.toString()).toBe('seed');
  for (let round = 0; round < 4; round++) {
    await cuttable.cut();
    await ofDirect.set(`missed ${round}`);
    if (round === 2) await cuttable.expireSession();
    await cuttable.heal();
    await until('it has caught up', DEADLINE_MS, () =>
      ofCuttable.current?.data?.toString() === `missed ${round}` ? true : undefined,
    );
    const { current } = ofCuttable;
    if (current === null) throw new Error('there is a value');
    expect(await ofCuttable.trySet(current, `set ${round}`)).toBe(true);
    expect(await ofDirect.trySet(current, 'too late')).toBe(false);
    expect(ofDirect.current?.data?.toString()).toBe(`set ${round}`);
  }
  for (const values of heard) {
    const zxids = values.map(({ stat }) => stat.mzxid);
    expect(zxids).toEqual([...new Set(zxids)].sort((a, b) => (a < b ? -1 : 1)));
  }
  await Promise.all([ofDirect.close(), ofCuttable.close()]);
  expect([direct.watchCount, cuttable.client.watchCount]).toEqual([0, 0]);
});

test('a shared count is followed through the death of its member', async () => {
  const [one, other] = await Promise.all([1, 2].map(() => useDirectClient(ensemble())));
  if (one === undefined || other === undefined) throw new Error('there are two clients');
  const counts = [one, other].map((client) => new SharedCount(client, '/values/count', 5));
  const [ofOne, ofOther] = counts;
  expect((await ofOne?.ready())?.count).toBe(5);
  await ofOther?.ready();
  const port = Number(other.server?.split(':').at(-1));
  const member = ensemble().running.find(({ clientPort }) => clientPort === port);
  await member?.kill();
  await ofOne?.set(6);
  await until('the other sees 6', DEADLINE_MS, () =>
    ofOther?.current?.count === 6 ? true : undefined,
  );
  if (member !== undefined) ensemble().start([member.id]);
  await ensemble().serving();
  for (const count of counts) await count.close();
  expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
});
