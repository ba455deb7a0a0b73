/**
 * Persistent and TTL nodes against real members: the znode stands in the end whatever was lost, and
 * goes with its owner.
 */
import { PersistentNode, TtlNode } from '@rookery/client';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { atEachStep, untilEmpty } from '../protocol-steps.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 3_000;

const ensemble = sharedEnsemble({ settings: { maxClientCnxns: 0, ...LONG_SESSIONS } });

test('a node is made, changed and deleted though the reply to any step is lost', async () => {
  const control = await useDirectClient(ensemble());
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/node-steps', control },
    async ({ client, path }) => {
      for (const mode of ['ephemeral', 'ephemeralSequential', 'persistent'] as const) {
        const node = new PersistentNode(client, `${path}/${mode}`, { mode, data: 'one' });
        const made = await node.whenStanding();
        await control.delete(made);
        await node.setData('two');
        await until('it has healed', DEADLINE_MS, async () => {
          const { data } = await control.getData(made);
          return data?.toString() === 'two' || undefined;
        });
        await node.close();
      }
    },
  );
  expect(lost).toEqual(
    expect.arrayContaining(['create2', 'createContainer', 'delete', 'exists', 'getData']),
  );
});

test('a node comes back after its session, was deleted in a cut, or its member died', async () => {
  const path = '/nodes/back';
  const control = await useDirectClient(ensemble());
  const owner = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const node = new PersistentNode(owner.client, path, { data: 'x' });
  const ownerOf = async () => {
    await control.sync(path);
    return (await control.exists(path))?.ephemeralOwner;
  };
  const standsAgain = () =>
    until('it stands, of the present session', DEADLINE_MS, async () => {
      const session = owner.client.session?.id;
      return (session !== undefined && (await ownerOf()) === session) || undefined;
    });
  await node.whenStanding();
  await owner.cut();
  await control.delete(path);
  const set = node.setData('while away');
  await owner.heal();
  await set;
  await standsAgain();
  expect((await control.getData(path)).data?.toString()).toBe('while away');

  await owner.cut();
  await losingSession(owner.client);
  expect(node.isStanding).toBe(false);
  await owner.heal();
  await standsAgain();

  const leader = await ensemble().leader();
  await leader.kill();
  // Whatever this connection meets with.
  await control.deleteGuaranteed(path);
  await standsAgain();
  ensemble().start([leader.id]);
  await ensemble().serving();

  // Closed while cut off, it goes as soon as the connection is back.
  await owner.cut();
  await node.close();
  await owner.heal();
  await until('it is gone', DEADLINE_MS, async () => (await ownerOf()) === undefined || undefined);
  expect(owner.client.watchCount).toBe(0);
});

test('a TTL node is touched, though the reply to any step is lost, and outlives its session', async () => {
  const control = await useDirectClient(ensemble());
  const ttlMs = 1_000;
  const lost = await atEachStep(
    { ensemble: ensemble(), base: '/ttl-steps', control },
    async ({ client, path }) => {
      const node = new TtlNode(client, `${path}/node`, { ttlMs, data: 'x' });
      await node.whenStanding();
      const touched = async (version: number) => {
        await until(`touched ${version} times`, DEADLINE_MS, async () => {
          const stat = await control.exists(`${path}/node/touch`);
          return (stat?.version ?? 0) >= version || undefined;
        });
      };
      await touched(2);
      await node.delete();
    },
  );
  expect(lost).toEqual(expect.arrayContaining(['createContainer', 'createTtl', 'setData']));

  const owner = await useDirectClient(ensemble());
  const node = new TtlNode(owner, '/ttl/node', { ttlMs, data: 'x' });
  await node.whenStanding();
  await owner.close();
  await control.sync('/ttl/node');
  expect((await control.getData('/ttl/node')).data?.toString()).toBe('x');
  const other = new TtlNode(control, '/ttl/node', { ttlMs, data: 'y' });
  await other.whenStanding();
  await other.delete();
  await untilEmpty(control, '/ttl');
});
