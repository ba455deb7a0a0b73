/**
 * Configuration and rendezvous against real members: the value is what the znode holds, each update
 * made once, the rendezvous met by all, while replies are lost, connections cut and members killed.
 */
import { Configuration, LeaseLostError, Rendezvous } from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { atEachStep } from '../protocol-steps.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 3_000;

const NUMBERS = {
  parse: (data: Buffer | null) => Number(data?.toString() ?? 'none'),
  format: (value: number) => String(value),
};
const TEXT = {
  parse: (data: Buffer | null) => data?.toString() ?? '',
  format: (value: string) => value,
};

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

test('each update is made once though the reply to any step is lost, and all see it', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/config-steps', control },
    async ({ client, path }) => {
      const znode = `${path}/value`;
      const configuration = new Configuration(client, znode, NUMBERS);
      const other = new Configuration(control, znode, NUMBERS);
      for (let value = 1; value <= 5; value++) {
        const update = [other, configuration][value % 2]?.update((now) => (now ?? 0) + 1);
        expect(await update).toBe(value);
      }
      await configuration.whenValid();
      await until('it is seen', DEADLINE_MS, () => configuration.value === 5 || undefined);
      await configuration.close();
      await control.delete(znode);
    },
  );
  expect(lost).toEqual(expect.arrayContaining(['create2', 'getData', 'setData', 'sync']));
});

test('a value is followed over cuts, sessions and the death of a member', async () => {
  const path = '/config/followed';
  const control = await useDirectClient(ensemble());
  const follower = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const writer = new Configuration(control, path, NUMBERS);
  const configuration = new Configuration(follower.client, path, NUMBERS);
  const is = (value: number) =>
    until(`the value is ${value}`, DEADLINE_MS, () => configuration.value === value || undefined);
  configuration.start();
  await writer.update(() => 1);
  await is(1);
  await follower.cut();
  await writer.update(() => 2);
  await follower.heal();
  await is(2);
  await follower.cut();
  await losingSession(follower.client);
  await writer.update(() => 3);
  expect(configuration.value).toBe(2);
  await follower.heal();
  await is(3);
  const leader = await ensemble().leader();
  await leader.kill();
  await writer.update(() => 4);
  await is(4);
  ensemble().start([leader.id]);
  await ensemble().serving();
  await configuration.close();
  expect(follower.client.watchCount).toBe(0);
});

test('concurrent updates are all in the value', async () => {
  const path = '/config/counter';
  const clients = await Promise.all(Array.from({ length: 4 }, () => useDirectClient(ensemble())));
  const updates = clients.flatMap((client) => {
    const configuration = new Configuration(client, path, NUMBERS);
    return Array.from({ length: 10 }, () => configuration.update((now) => (now ?? 0) + 1));
  });
  // On a busy machine a member may lose its leader, and its clients the reply to an update.
  const results = await Promise.allSettled(updates);
  const known: (number | undefined)[] = [];
  for (const result of results) {
    if (result.status === 'fulfilled') known.push(result.value);
    else expect(result.reason).toMatchObject({ ambiguous: true });
  }
  expect(new Set(known).size, 'no update is over another one').toBe(known.length);
  const total = await new Configuration(await useDirectClient(ensemble()), path, NUMBERS).update(
    (now) => (now ?? 0) + 1,
  );
  expect(total).toBeGreaterThan(known.length);
  expect(total).toBeLessThanOrEqual(updates.length + 1);
});

test('a rendezvous is opened, filled and met though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/rendezvous-steps', control },
    async ({ client, path }) => {
      const at = new Rendezvous(client, `${path}/master`, TEXT);
      const meeting = at.meet();
      const lease = await at.open();
      await at.fill('host:80');
      const { value, signal } = await meeting;
      expect(value).toBe('host:80');
      await lease.release();
      await until('the meeting is over', DEADLINE_MS, () => signal.aborted || undefined);
      expect(signal.reason).toBeInstanceOf(LeaseLostError);
      await until('no watch is left', DEADLINE_MS, () => client.watchCount === 0 || undefined);
    },
  );
  expect(lost).toEqual(expect.arrayContaining(['create2', 'exists', 'getData', 'setData']));
});

test('a rendezvous ends with the session of the one who opened it, and those who met are told', async () => {
  const control = await useDirectClient(ensemble());
  const opener = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const path = '/rendezvous/expiry';
  const lease = await new Rendezvous(opener.client, path, TEXT).open();
  const at = new Rendezvous(control, path, TEXT);
  await at.fill('x');
  const meeting = await at.meet();
  await opener.cut();
  await losingSession(opener.client);
  expect(lease.held).toBe(false);
  await until('the meeting is over', DEADLINE_MS, () => meeting.signal.aborted || undefined);
  await opener.heal();
  expect(control.watchCount).toBe(0);
});
