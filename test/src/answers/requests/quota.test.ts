/**
 * Quotas on running members: the leader, which decides on every write, refuses what exceeds an
 * enforced hard quota; a soft quota, and one that is not enforced, is only reported in its log.
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { create, exists, sendCreate, sendSetData, sync } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import type { WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 60_000;
const LOG_DEADLINE_MS = 20_000;

/**
 * The znode and one child are within each quota; the limits are written as ZooKeeper's shell writes
 * them.
 */
const HARD_COUNT = 'count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2';
const HARD_BYTES = 'count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=-1';
const SOFT_COUNT = 'count=2,bytes=-1=;byteHardLimit=-1;countHardLimit=-1';

async function limit(client: WireClient, path: string, limits: string): Promise<void> {
  await create(client, path);
  const quota = `/zookeeper/quota${path}`;
  await create(client, quota);
  await create(client, `${quota}/zookeeper_limits`, limits);
  await create(client, `${quota}/zookeeper_stats`);
  await create(client, `${path}/within`);
}

it.skipIf(productUnderTest().name === 'apache')(
  'an enforced hard quota refuses a write through a follower, a soft one is only logged',
  async () => {
    const ensemble = await useServingEnsemble({ settings: { enforceQuota: true } });
    const [leader, [follower]] = [await ensemble.leader(), await ensemble.followers()];
    if (follower === undefined) throw new Error('there is no follower');
    const client = await useClient(follower);
    await limit(client, '/count', HARD_COUNT);
    await limit(client, '/bytes', HARD_BYTES);
    await limit(client, '/soft', SOFT_COUNT);

    expect((await sendCreate(client, '/count/past')).error).toBe(ErrorCode.quotaExceeded);
    expect((await sendSetData(client, '/bytes', '12345678901')).error).toBe(-125);
    expect((await sendSetData(client, '/bytes', '1234567890')).error).toBe(ErrorCode.ok);
    expect(await exists(client, '/count/past')).toBeUndefined();

    expect(leader.log()).not.toContain('/soft has count');
    expect((await sendCreate(client, '/soft/past')).error).toBe(ErrorCode.ok);
    await leader.waitForLog(
      lineAbout('"path":"/soft","what":"count","value":3,"limit":2,"isHard":false'),
      LOG_DEADLINE_MS,
    );
    const elsewhere = await useClient(leader);
    await sync(elsewhere);
    expect(await exists(elsewhere, '/soft/past')).toBeDefined();
    expect(await exists(elsewhere, '/count/past')).toBeUndefined();
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'a hard quota that is not enforced refuses nothing and is logged',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, settings: { enforceQuota: false } });
    const member = ensemble.member(1);
    const client = await useClient(member);
    await limit(client, '/count', HARD_COUNT);
    await limit(client, '/bytes', HARD_BYTES);
    expect((await sendCreate(client, '/count/past')).error).toBe(ErrorCode.ok);
    expect((await sendSetData(client, '/bytes', '12345678901')).error).toBe(ErrorCode.ok);
    await member.waitForLog(
      lineAbout('"path":"/count","what":"count","value":3,"limit":2,"isHard":true'),
      LOG_DEADLINE_MS,
    );
    await member.waitForLog(
      lineAbout('"path":"/bytes","what":"bytes","value":11,"limit":10,"isHard":true'),
      LOG_DEADLINE_MS,
    );
  },
  TEST_DEADLINE_MS,
);

/** The event and its fields are on one line. */
function lineAbout(fields: string): RegExp {
  return new RegExp(`^(?=.*quota\\.exceeded).*${fields}.*$`, 'm');
}
