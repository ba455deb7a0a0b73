/**
 * A disk that fills up ends no member and loses no session: writes that carry data are refused with
 * one error code, probes and metrics show the condition, and all of it ends by itself once there is
 * free space.
 *
 * Each member has a tmpfs in a mount namespace of its own. The test fills that of the leader, then
 * that of a follower, with a file, and removes the file. Needs Linux and root.
 */
import { join } from 'node:path';
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ShellUser } from '../client/shell/shell-command.js';
import { type Ensemble, newTestDirectory, useServingEnsemble } from '../harness/ensemble.js';
import { skipOrFail } from '../harness/foreign.js';
import { httpGet, scrape } from '../harness/http.js';
import type { Member } from '../harness/member.js';
import { canMount } from '../harness/named-members.js';
import { create, exists, remove, sendCreate, sendSetData, sync } from '../harness/operations.js';
import { productUnderTest } from '../harness/product.js';
import { diskOf, fillDisk, onSmallDisks } from '../harness/small-disks.js';
import { useClient } from '../harness/use-client.js';
import { until } from '../harness/wait.js';
import type { WireClient } from '../harness/wire-client.js';

const TEST_DEADLINE_MS = 120_000;
const DEADLINE_MS = 30_000;
const DISK_BYTES = 400 << 20;
/** A quarter of the disk is its reserve; so much is left free. */
const LEFT_BYTES = DISK_BYTES / 20;

/** Writes until a write is answered with `error`. */
async function untilAnswered(client: WireClient, error: ErrorCode): Promise<void> {
  await until(`a write that is answered ${error}`, DEADLINE_MS, async () =>
    (await sendSetData(client, '/written', 'v')).error === error ? true : undefined,
  );
}

/** What `rookery check` finds. */
async function checked(ensemble: Ensemble): Promise<unknown> {
  const user = new ShellUser('127.0.0.1:1', newTestDirectory());
  const config = join(ensemble.directory, 'config-1.json');
  const { out } = await user.run(['check', '--config', config, '-o', 'json']);
  return JSON.parse(out);
}

async function survivesFullDisk(ensemble: Ensemble, member: Member, other: Member): Promise<void> {
  const client = await useClient(other);
  await create(client, '/leftover');
  const free = fillDisk(diskOf(ensemble, member), LEFT_BYTES);
  await untilAnswered(client, ErrorCode.quotaExceeded);
  expect((await sendCreate(client, '/more')).error).toBe(ErrorCode.quotaExceeded);
  await remove(client, '/leftover');
  await sync(client);
  const another = await useClient(member);
  expect(await exists(another, '/written')).not.toBe(null);
  await another.close();
  const ready = await httpGet(member.metricsPort, '/readyz');
  expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('[-]disk failed: ')]);
  expect((await httpGet(member.metricsPort, '/livez')).status).toBe(200);
  expect((await httpGet(other.metricsPort, '/readyz')).status).toBe(200);
  expect(await checked(ensemble)).toEqual([
    {
      kind: 'not-ready',
      what: expect.stringContaining(`member ${member.id} is not ready: [-]disk failed: `),
      remedy: expect.stringContaining('a full disk needs room'),
    },
  ]);
  expect((await scrape(member.metricsPort)).get('rookery_disk_full')).toBe(1);

  free();
  await untilAnswered(client, ErrorCode.ok);
  await until('the member is ready again', DEADLINE_MS, async () =>
    (await httpGet(member.metricsPort, '/readyz')).status === 200 ? true : undefined,
  );
  expect((await scrape(member.metricsPort)).get('rookery_disk_full')).toBe(0);
  await client.close();
}

it(
  'with a full disk every member refuses data and nothing else fails, until space is freed',
  async ({ skip }) => {
    if (productUnderTest().name === 'apache') skip('Apache ZooKeeper has no such bound');
    if (!canMount) skipOrFail(skip, 'mount namespaces cannot be created on this machine');
    const ensemble = await useServingEnsemble({
      operated: true,
      product: onSmallDisks(DISK_BYTES),
    });
    const leader = await ensemble.leader();
    const [follower, third] = await ensemble.followers();
    if (follower === undefined || third === undefined) throw new Error('there are two followers');
    await create(await useClient(leader), '/written');
    expect(await checked(ensemble)).toEqual([]);
    await survivesFullDisk(ensemble, leader, third);
    await survivesFullDisk(ensemble, follower, third);
    const counted = (await scrape(leader.metricsPort)).get('rookery_disk_refused_writes_total');
    expect(counted).toBeGreaterThan(0);
    expect((await ensemble.leader()).id).toBe(leader.id);
    expect(ensemble.running).toHaveLength(3);
  },
  TEST_DEADLINE_MS,
);
