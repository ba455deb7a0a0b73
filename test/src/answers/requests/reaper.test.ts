/**
 * Containers and TTL znodes are removed by themselves, also when another member leads than when
 * they were created, and on every member alike.
 */
import { CreateRequest, CreateTtlRequest, OpCode, Perms } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { create, exists, remove } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import type { WireClient } from '../../harness/wire-client.js';

const GONE_DEADLINE_MS = 15_000;
const ACL = [{ perms: Perms.all, scheme: 'world', id: 'anyone' }];

it.skipIf(productUnderTest().name === 'apache')(
  'a used container and an expired TTL znode are removed, also by the next leader',
  async () => {
    const ensemble = await useServingEnsemble({
      environment: { ROOKERY_CONTAINER_CHECK_MS: '200' },
    });
    const leader = await ensemble.leader();
    const [survivor] = await ensemble.followers();
    if (survivor === undefined) throw new Error('there is no follower');
    const first = await useClient(survivor);
    await use(first, 'first');
    await expectGone(first, 'first');

    await use(first, 'second', { ttlMs: 3_000, used: false });
    await leader.kill();
    await ensemble.leader();
    const second = await useClient(survivor);
    await remove(second, '/second-container/child');
    await expectGone(second, 'second');
    expect(await exists(second, '/first-unused')).toBeDefined();
    expect(await exists(second, '/second-unused')).toBeDefined();
  },
  90_000,
);

/** A container that was used, one that never was, and a TTL znode. */
async function use(
  client: WireClient,
  name: string,
  { ttlMs = 500, used = true }: { ttlMs?: number; used?: boolean } = {},
): Promise<void> {
  await createContainer(client, `/${name}-unused`);
  await createContainer(client, `/${name}-container`);
  await create(client, `/${name}-container/child`);
  if (used) await remove(client, `/${name}-container/child`);
  const request = { path: `/${name}-ttl`, data: null, acl: ACL, flags: 5, ttlMs };
  expect(await client.request(OpCode.createTtl, CreateTtlRequest, request)).toMatchObject({
    error: 0,
  });
}

async function createContainer(client: WireClient, path: string): Promise<void> {
  const request = { path, data: null, acl: ACL, flags: 4 };
  expect(await client.request(OpCode.createContainer, CreateRequest, request)).toMatchObject({
    error: 0,
  });
}

async function expectGone(client: WireClient, name: string): Promise<void> {
  for (const path of [`/${name}-container`, `/${name}-ttl`]) {
    await until(`${path} is reaped`, GONE_DEADLINE_MS, async () => {
      return (await exists(client, path)) === undefined ? true : undefined;
    });
  }
}
