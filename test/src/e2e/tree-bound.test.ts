/**
 * Members that may use little memory are not ended by a client that creates without end: the client
 * is refused at the tree's bound, and everything that adds nothing continues, through restarts, a
 * new leader and a member that comes back with an empty disk.
 *
 * The members are told that they have little memory, or have a small `treeBytesMax`. Control groups
 * need root and belong to the bench; this test covers the decision.
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../harness/ensemble.js';
import { metricsOf } from '../harness/four-letter.js';
import type { Member } from '../harness/member.js';
import {
  create,
  exists,
  getData,
  remove,
  sendCreate,
  sendSetData,
  sync,
} from '../harness/operations.js';
import { productUnderTest } from '../harness/product.js';
import { useClient } from '../harness/use-client.js';
import type { WireClient } from '../harness/wire-client.js';

const TEST_DEADLINE_MS = 180_000;
const LOG_DEADLINE_MS = 20_000;
/** The tree may have 1.8 MB of it. */
const LITTLE_MEMORY = { ROOKERY_MEMORY_BYTES: `${16 << 20}` };
const TREE_BYTES_MAX = 256 << 10;
const VALUE = 'v'.repeat(1000);
const CREATES_MAX = 5_000;
const CHUNK = 64;

/** Creates children until one is refused; returns their number. */
async function fill(client: WireClient, parent: string): Promise<number> {
  await create(client, parent);
  let count = 0;
  while (count < CREATES_MAX) {
    const indexes = Array.from({ length: CHUNK }, (_, index) => count + index);
    const replies = await Promise.all(
      client.pipeline(() => indexes.map((i) => sendCreate(client, `${parent}/${i}`, VALUE))),
    );
    const errors = replies.map(({ error }) => error);
    const taken = errors.filter((error) => error === ErrorCode.ok).length;
    count += taken;
    if (taken === CHUNK) continue;
    expect(new Set(errors.slice(taken))).toEqual(new Set([ErrorCode.quotaExceeded]));
    return count;
  }
  throw new Error(`${CREATES_MAX} creates were accepted`);
}

async function treeBytes(member: Member): Promise<{ bytes: number; bytesMax: number }> {
  const metrics = await metricsOf(member.clientPort);
  const [bytes, bytesMax] = ['zk_tree_bytes', 'zk_tree_bytes_max'].map((name) =>
    Number(metrics.get(name)),
  );
  return { bytes: bytes ?? Number.NaN, bytesMax: bytesMax ?? Number.NaN };
}

/** Requests that add nothing are answered as usual. */
async function goesOn(ensemble: Ensemble, last: string): Promise<void> {
  const [member] = ensemble.running;
  if (member === undefined) throw new Error('no member runs');
  const client = await useClient(member);
  await sync(client);
  expect((await getData(client, last)).data).toBe(VALUE);
  expect((await sendSetData(client, last, VALUE.toUpperCase())).error).toBe(ErrorCode.ok);
  expect((await sendSetData(client, last, VALUE)).error).toBe(ErrorCode.ok);
  expect((await sendCreate(client, '/more', VALUE)).error).toBe(ErrorCode.quotaExceeded);
  await client.close();
}

it.skipIf(productUnderTest().name === 'apache')(
  'members with little memory refuse what adds to a full tree, and everything else continues',
  async () => {
    const ensemble = await useServingEnsemble({ environment: LITTLE_MEMORY });
    const [first] = await ensemble.followers();
    if (first === undefined) throw new Error('there is no follower');
    const client = await useClient(first);
    const count = await fill(client, '/full');
    const last = `/full/${count - 1}`;
    await sync(client);
    for (const member of ensemble.members) {
      const { bytes, bytesMax } = await treeBytes(member);
      expect(bytes).toBeLessThanOrEqual(bytesMax);
      expect(bytes).toBeGreaterThan(0.99 * bytesMax);
    }
    const leader = await ensemble.leader();
    await leader.waitForLog(/"msg":"tree\.full/, LOG_DEADLINE_MS);
    for (const member of ensemble.members) {
      await member.waitForLog(/"msg":"tree\.nearly_full/, LOG_DEADLINE_MS);
    }
    await goesOn(ensemble, last);

    // The next leader has the same count as the previous one, and so has a member that was
    // restarted.
    await leader.kill();
    await ensemble.serving();
    await goesOn(ensemble, last);
    ensemble.start([leader.id]);
    await ensemble.serving();
    await goesOn(ensemble, last);

    // All of the tree fits into a member that starts with nothing.
    const wiped = ensemble.member(first.id);
    await wiped.kill();
    ensemble.wipe(wiped.id);
    ensemble.start([wiped.id]);
    await ensemble.serving();
    await ensemble.sameState();
    expect((await treeBytes(wiped)).bytes).toBe((await treeBytes(await ensemble.leader())).bytes);

    const again = await useClient(await ensemble.leader());
    // More than one attempt: sessions of this test that have not expired yet take space, too.
    for (let index = 1; index <= 20; index++) await remove(again, `/full/${count - index}`);
    expect((await sendCreate(again, last, VALUE)).error).toBe(ErrorCode.ok);
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);

it.skipIf(productUnderTest().name === 'apache')(
  'treeBytesMax bounds the tree of a standalone server, before and after a restart',
  async () => {
    const ensemble = await useServingEnsemble({
      size: 1,
      settings: { treeBytesMax: TREE_BYTES_MAX },
    });
    const member = ensemble.member(1);
    const client = await useClient(member);
    const count = await fill(client, '/full');
    expect(await treeBytes(member)).toMatchObject({ bytesMax: TREE_BYTES_MAX });
    for (const stop of [() => member.stop(), () => member.kill()]) {
      await stop();
      ensemble.start();
      await ensemble.serving();
      await goesOn(ensemble, `/full/${count - 1}`);
    }
    const again = await useClient(member);
    for (let index = 0; index < count / 2; index++) await remove(again, `/full/${index}`);
    await member.waitForLog(/"msg":"tree\.has_room/, LOG_DEADLINE_MS);
    expect((await sendCreate(again, '/full/0', VALUE)).error).toBe(ErrorCode.ok);
    expect(await exists(again, '/full/0')).toBeDefined();
  },
  TEST_DEADLINE_MS,
);
