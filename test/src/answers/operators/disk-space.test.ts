/**
 * Disks that fill up end no member and lose no session: where two of three are full, writes that
 * carry data are refused with one error code, probes and metrics show the condition, and all of it
 * ends by itself once there is free space.
 *
 * Each member has a tmpfs in a mount namespace of its own. The test fills those of the leader and a
 * follower, then those of both followers, with a file, and removes the files. Needs Linux and root.
 * One full disk of three is played by test/src/single-faults/full-disk.ts.
 */
import { join } from 'node:path';
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ShellUser } from '../../client/shell/shell-command.js';
import { type Ensemble, newTestDirectory, useServingEnsemble } from '../../harness/ensemble.js';
import { skipOrFail } from '../../harness/foreign.js';
import { httpGet, scrape } from '../../harness/http.js';
import type { Member } from '../../harness/member.js';
import { canMount } from '../../harness/named-members.js';
import { create, exists, remove, sendCreate, sendSetData, sync } from '../../harness/operations.js';
import { productUnderTest } from '../../harness/product.js';
import { diskOf, fillDisk, onSmallDisks } from '../../harness/small-disks.js';
import { useClient } from '../../harness/use-client.js';
import { until } from '../../harness/wait.js';
import type { WireClient } from '../../harness/wire-client.js';

const TEST_DEADLINE_MS = 240_000;
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

/** A leader is the last one of them: alone it would hand over. */
async function surviveFullDisks(
  ensemble: Ensemble,
  full: readonly [Member, Member],
  other: Member,
): Promise<void> {
  await create(await useClient(other), '/leftover');
  const freed = full.map((member) => fillDisk(diskOf(ensemble, member), LEFT_BYTES));
  // Filling keeps this process from everything else, maybe for longer than a session lives.
  const client = await useClient(other);
  await untilAnswered(client, ErrorCode.quotaExceeded);
  expect((await sendCreate(client, '/more')).error).toBe(ErrorCode.quotaExceeded);
  await remove(client, '/leftover');
  await sync(client);
  // One that has stepped out before the other one was full comes back.
  await ensemble.serving();
  for (const member of full) {
    const another = await useClient(member);
    expect(await exists(another, '/written')).not.toBe(null);
    await another.close();
    const ready = await httpGet(member.metricsPort, '/readyz');
    expect([ready.status, ready.text]).toEqual([503, expect.stringContaining('[-]disk failed: ')]);
    expect((await httpGet(member.metricsPort, '/livez')).status).toBe(200);
    expect((await scrape(member.metricsPort)).get('rookery_disk_full')).toBe(1);
  }
  expect((await httpGet(other.metricsPort, '/readyz')).status).toBe(200);
  const ids = full.map(({ id }) => id).sort();
  const found = (kind: string, what: (id: number) => string) =>
    ids.map((id) => expect.objectContaining({ kind, what: expect.stringContaining(what(id)) }));
  expect(await checked(ensemble)).toEqual([
    ...found('full-disk', (id) => `The disk of member ${id} is full, `),
    ...found('not-ready', (id) => `member ${id} is not ready: [-]disk failed: `),
  ]);

  for (const free of freed.reverse()) free();
  await untilAnswered(client, ErrorCode.ok);
  for (const member of full) {
    await until(`member ${member.id} is ready again`, DEADLINE_MS, async () =>
      (await httpGet(member.metricsPort, '/readyz')).status === 200 ? true : undefined,
    );
    expect((await scrape(member.metricsPort)).get('rookery_disk_full')).toBe(0);
  }
  await client.close();
}

it(
  'with two full disks every member refuses data and nothing else fails, until space is freed',
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
    await surviveFullDisks(ensemble, [follower, leader], third);
    await surviveFullDisks(ensemble, [follower, third], leader);
    const counted = (await scrape(leader.metricsPort)).get('rookery_disk_refused_writes_total');
    expect(counted).toBeGreaterThan(0);
    expect((await ensemble.leader()).id).toBe(leader.id);
    expect(ensemble.running).toHaveLength(3);
  },
  TEST_DEADLINE_MS,
);
