/**
 * Service discovery and the name service against real members: who is registered is found, through
 * a killed member, cut connections and a lost session, and nothing is left when all have closed.
 */
import { NameService, ServiceDiscovery } from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import { CuttableClient, LONG_SESSIONS, useDirectClient } from '../cuttable-client.js';
import { namesIn } from '../directory.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

test('an instance is found again after cuts, a lost session and a killed leader', async () => {
  const base = '/discovery/services';
  const client = await useDirectClient(ensemble());
  const cuttable = await CuttableClient.use(ensemble());
  const seeking = new ServiceDiscovery(client, base);
  const offering = new ServiceDiscovery(cuttable.client, base);
  const provider = seeking.provider('web');
  await provider.ready();
  expect(provider.next()).toBeNull();
  const payload = { '@class': 'com.acme.Details', zone: 'a' };
  const init = { name: 'web', id: 'i1', address: '10.0.0.1', port: 80, payload };
  const instance = await offering.register(init);
  await until('it is found', DEADLINE_MS, () => provider.next() ?? undefined);
  expect(provider.next()).toEqual(instance);

  await cuttable.cut();
  expect(await seeking.instance('web', 'i1')).toEqual(instance);
  await cuttable.expireSession();
  await until('it is gone', DEADLINE_MS, () => (provider.next() === null ? true : undefined));
  await cuttable.heal();
  await until('it is found again', DEADLINE_MS, () => provider.next() ?? undefined);

  const leader = await ensemble().leader();
  await leader.kill();
  await offering.register({ ...init, id: 'i2' });
  await until('both are found', DEADLINE_MS, () =>
    provider.instances.length === 2 ? true : undefined,
  );
  ensemble().start([leader.id]);
  await ensemble().serving();

  await offering.close();
  await until('none is left', DEADLINE_MS, () => (provider.next() === null ? true : undefined));
  expect(await namesIn(client, `${base}/web`)).toEqual([]);
  await provider.close();
  expect([client.watchCount, cuttable.client.watchCount]).toEqual([0, 0]);
});

test('a name leads to its address, and who follows it hears of each move', async () => {
  const client = await useDirectClient(ensemble());
  const cuttable = await CuttableClient.use(ensemble());
  const registering = new NameService(client, '/discovery/names');
  const following = new NameService(cuttable.client, '/discovery/names');
  const addresses = following.follow('db/orders');
  const next = async () => (await addresses.next()).value?.toString() ?? null;
  expect(await next()).toBeNull();
  await registering.register('db/orders', '10.0.0.1');
  expect(await next()).toBe('10.0.0.1');
  await cuttable.cut();
  await registering.register('db/orders', '10.0.0.2');
  await cuttable.heal();
  expect(await next()).toBe('10.0.0.2');
  await cuttable.cut();
  await registering.unregister('db/orders');
  await cuttable.expireSession();
  await cuttable.heal();
  expect(await next()).toBeNull();
  await addresses.return();
  expect(await following.list()).toEqual(['db']);
  expect(cuttable.client.watchCount).toBe(0);
});
