/**
 * Two-phase commit against real members: one outcome for all, whoever dies, whatever is lost.
 */
import {
  type Client,
  type Decision,
  NoNodeError,
  TransactionSite,
  TwoPhaseCommit,
} from '@rookery/client';
import { OpCode } from '@rookery/protocol';
import { expect, test } from 'vitest';
import { until } from '../../harness/wait.js';
import {
  CuttableClient,
  LONG_SESSIONS,
  losingSession,
  useDirectClient,
} from '../cuttable-client.js';
import { namesIn } from '../directory.js';
import { useReplyLosingClient } from '../reply-losing-client.js';
import { sharedEnsemble } from '../shared-ensemble.js';

const DEADLINE_MS = 60_000;
const SHORT_SESSION_MS = 2_000;
const SITES = ['s1', 's2', 's3'];

const ensemble = sharedEnsemble({ settings: LONG_SESSIONS });

async function useSites(path: string): Promise<TransactionSite[]> {
  const clients = await Promise.all(SITES.map(() => useDirectClient(ensemble())));
  return sitesOf(path, clients);
}

function sitesOf(path: string, clients: readonly Client[]): TransactionSite[] {
  return clients.map((client, index) => new TransactionSite(client, path, SITES[index] ?? ''));
}

test.each(['persistent', 'ephemeral'] as const)(
  'all sites commit, and nothing is left (%s)',
  async (kind) => {
    const path = `/commits/${kind}`;
    const { client, loseReplyTo } = await useReplyLosingClient(ensemble());
    const control = await useDirectClient(ensemble());
    const sites = await useSites(path);
    const parts = sites.map(async (site): Promise<Decision> => {
      expect((await site.join()).toString()).toBe('transfer 5');
      await site.vote('commit');
      const outcome = await site.outcome();
      await site.finish();
      return outcome;
    });
    const coordinator = await TwoPhaseCommit.begin(client, path, SITES, {
      kind,
      payload: 'transfer 5',
    });
    // The reply to the decision is lost.
    const lost = loseReplyTo(OpCode.multi);
    expect(await coordinator.decision()).toBe('commit');
    await lost;
    expect(await Promise.all(parts)).toEqual(['commit', 'commit', 'commit']);
    await coordinator.finish();
    expect(await namesIn(control, '/commits')).not.toContain(kind);
    expect(client.watchCount).toBe(0);
  },
);

test('a site that votes abort decides for all, though the leader dies', async () => {
  const path = '/commits/aborted';
  const client = await useDirectClient(ensemble());
  const coordinator = await TwoPhaseCommit.begin(client, path, SITES);
  const clients = await Promise.all(SITES.map(() => useDirectClient(ensemble())));
  const sites = sitesOf(path, clients);
  for (const site of sites) await site.join();
  const decided = coordinator.decision();
  const outcomes = [sites[0]?.outcome(), sites[2]?.outcome()];
  await sites[0]?.vote('commit');
  const leader = await ensemble().leader();
  await leader.kill();
  await sites[1]?.vote('abort');
  expect([await decided, ...(await Promise.all(outcomes))]).toEqual(['abort', 'abort', 'abort']);
  ensemble().start([leader.id]);
  await ensemble().serving();
  for (const site of sites) await site.finish();
  await coordinator.finish();
  // Its member may be behind.
  await clients[0]?.sync(path);
  await expect(sites[0]?.outcome()).rejects.toThrow(NoNodeError);
});

test('the death of a site aborts the ephemeral kind, and the site learns it', async () => {
  const path = '/commits/dead-site';
  const client = await useDirectClient(ensemble());
  const coordinator = await TwoPhaseCommit.begin(client, path, ['a', 'b'], { kind: 'ephemeral' });
  const dying = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const [a, b] = [
    new TransactionSite(client, path, 'a'),
    new TransactionSite(dying.client, path, 'b'),
  ];
  await Promise.all([a.join(), b.join()]);
  const decided = coordinator.decision();
  await b.vote('commit');
  await until('the coordinator watches', DEADLINE_MS, () => client.watchCount >= 4 || undefined);
  await dying.cut();
  await losingSession(dying.client);
  expect(await decided).toBe('abort');
  await dying.heal();
  expect(await b.outcome()).toBe('abort');
  for (const site of [a, b]) await site.finish();
  await coordinator.finish();
});

test('the death of the coordinator aborts the ephemeral kind', async () => {
  const path = '/commits/dead-coordinator';
  const dying = await CuttableClient.use(ensemble(), { sessionTimeoutMs: SHORT_SESSION_MS });
  const coordinator = await TwoPhaseCommit.begin(dying.client, path, SITES, { kind: 'ephemeral' });
  const sites = await useSites(path);
  for (const site of sites) await site.join();
  await sites[0]?.vote('commit');
  const outcomes = Promise.all(sites.map((site) => site.outcome()));
  await dying.cut();
  expect(await outcomes).toEqual(['abort', 'abort', 'abort']);
  await dying.heal();
  expect(await coordinator.decision()).toBe('abort');
  for (const site of sites) await site.finish();
  await coordinator.finish();
});
