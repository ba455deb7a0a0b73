/**
 * How a member that was away catches up: by DIFF after a few writes, by SNAP when the log no longer
 * reaches back or the member's disk is new, and completely again when it dies in the middle of a
 * SNAP.
 *
 * The members that serve it count both ways (`zk_diff_count`, `zk_snap_count`). The test makes the
 * log's limits small, so that a few megabytes exceed them.
 */
import { expect, it } from 'vitest';
import { fillTree, overwrite } from '../../harness/bulk.js';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import type { Member } from '../../harness/member.js';
import { create, getData, setData } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import { expectNothingLost } from '../../harness/verify.js';
import { within } from '../../harness/wait.js';
import { WriteLoad } from '../../harness/write-load.js';

/**
 * The log is small on disk and in memory, and checkpoints are frequent enough for the log to be
 * purged.
 */
const SMALL_LOG = {
  ROOKERY_LOG_KEEP_BYTES: '262144',
  ROOKERY_LOG_SEGMENT_BYTES: '131072',
  ROOKERY_CHECKPOINT_LOG_BYTES: '524288',
  ROOKERY_WINDOW_BYTES: '131072',
};
const TEST_DEADLINE_MS = 120_000;
const HELD_DEADLINE_MS = 30_000;
const TREE = { parent: '/tree', count: 3_000, bytes: 2_000 };
/** About 3 MB: many times what the log keeps. */
const PAST_THE_LOG = { path: '/hot', count: 3_000, bytes: 1_000 };
/** Well below the 6 MB of the tree. */
const SNAPSHOT_CUT_BYTES = 2_000_000;

const isApache = productUnderTest().name === 'apache';

it(
  'a member that was down for ten writes returns by DIFF',
  async () => {
    const ensemble = await useServingEnsemble();
    const { follower, client } = await leaderAndFollower(ensemble);
    await create(client, '/counted', '0');
    await follower.stop();
    for (let i = 1; i <= 10; i++) await setData(client, '/counted', String(i));
    const before = await syncCounts(ensemble);
    ensemble.start([follower.id]);
    await ensemble.serving();
    expect(await syncCounts(ensemble)).toEqual({ diffs: before.diffs + 1, snaps: before.snaps });
    await ensemble.sameState();
    const reader = await useClient(follower);
    expect((await getData(reader, '/counted')).data).toBe('10');
  },
  TEST_DEADLINE_MS,
);

it.skipIf(isApache)(
  'a member whose history ends before the start of the log returns by SNAP while writes continue',
  async () => {
    const ensemble = await useServingEnsemble({ environment: SMALL_LOG });
    const { follower, client } = await leaderAndFollower(ensemble);
    await fillTree(client, TREE);
    await create(client, PAST_THE_LOG.path);
    await follower.stop();
    await overwrite(client, PAST_THE_LOG);
    await expectReturnBySnapshot(ensemble, follower);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(isApache)(
  'a member with a new disk returns by SNAP while writes continue',
  async () => {
    const ensemble = await useServingEnsemble({ environment: SMALL_LOG });
    const { follower, client } = await leaderAndFollower(ensemble);
    await fillTree(client, TREE);
    await follower.kill();
    ensemble.wipe(follower.id);
    await expectReturnBySnapshot(ensemble, follower);
  },
  TEST_DEADLINE_MS,
);

it.skipIf(isApache)(
  'a member that is killed in the middle of a SNAP starts it again and returns',
  async () => {
    // A starved member must not lose its leader, and with it the snapshot that is counted.
    const settings = { peerTimeoutMs: 10_000 };
    const ensemble = await useServingEnsemble({ environment: SMALL_LOG, proxied: true, settings });
    const { leader, follower, client } = await leaderAndFollower(ensemble);
    await fillTree(client, TREE);
    await create(client, PAST_THE_LOG.path);
    await follower.kill();
    await overwrite(client, PAST_THE_LOG);
    const held = ensemble.network.holdAfter(leader.id, follower.id, SNAPSHOT_CUT_BYTES);
    ensemble.start([follower.id]);
    await within('the snapshot is stuck half way', HELD_DEADLINE_MS, held);
    expect(await follower.status(), 'the member serves half a snapshot').toBeUndefined();
    await follower.kill();
    ensemble.network.healWithReset(follower.id);
    await expectReturnBySnapshot(ensemble, follower);
    // From now on the ensemble depends on its disk: the half snapshot has left nothing behind.
    await follower.kill();
    ensemble.start([follower.id]);
    await ensemble.serving();
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

async function expectReturnBySnapshot(ensemble: Ensemble, member: Member): Promise<void> {
  const alive = ensemble.running.map((running) => running.clientPort);
  const load = new WriteLoad({ ports: alive, clients: 2 });
  await load.start();
  const before = await syncCounts(ensemble);
  ensemble.start([member.id]);
  await ensemble.serving();
  await load.progress(100, HELD_DEADLINE_MS);
  await load.stop();
  expect((await syncCounts(ensemble)).snaps).toBe(before.snaps + 1);
  await expectNothingLost(ensemble, load.ledgers);
}

/** The sum over all members, because the leader may change. */
async function syncCounts(ensemble: Ensemble): Promise<{ diffs: number; snaps: number }> {
  return {
    diffs: await ensemble.metric('zk_diff_count'),
    snaps: await ensemble.metric('zk_snap_count'),
  };
}

async function leaderAndFollower(ensemble: Ensemble) {
  const leader = await ensemble.leader();
  const [follower] = await ensemble.followers();
  if (follower === undefined) throw new Error('there is no follower');
  return { leader, follower, client: await useClient(leader) };
}
