// A full disk, of the leader or of a follower, stops writes that carry data at every member, and
// nothing else; they are taken again once there is room.
import { ErrorCode, OpCode, PathVersionRequest } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import { connected, everyoneServes, expectEqual } from './scenario.js';

const ROOM = { freeBytes: 50e9, totalBytes: 100e9 };
const FULL = { freeBytes: 1e9, totalBytes: 100e9 };

async function roomy(): Promise<MemoryEnsemble> {
  const ensemble = new MemoryEnsemble({ size: 3, seed: 1 });
  for (const id of [1, 2, 3]) ensemble.spaces.set(id, ROOM);
  await ensemble.start();
  await everyoneServes(ensemble);
  return ensemble;
}

async function answer(ensemble: MemoryEnsemble, client: MemoryClient, xid: number) {
  await ensemble.until(() => client.errorOf(xid) !== undefined, 'was it answered');
  return client.errorOf(xid);
}

/** Creates until the answer is `error`. */
async function createsUntil(ensemble: MemoryEnsemble, client: MemoryClient, error: ErrorCode) {
  for (let count = 0; count < 10_000; count++) {
    if ((await answer(ensemble, client, client.create(`/${error}-${count}`, 'v'))) === error)
      return;
  }
  throw new Error(`no create was answered ${error}`);
}

it.each(['leader', 'follower'] as const)('the disk of a %s fills up', async (whose) => {
  const ensemble = await roomy();
  const { leader } = ensemble;
  const others = [1, 2, 3].filter((id) => id !== leader);
  const [follower = 0, third = 0] = others;
  const client = await connected(ensemble, third);
  expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
  const full = whose === 'leader' ? leader : follower;
  ensemble.spaces.set(full, FULL);
  await createsUntil(ensemble, client, ErrorCode.quotaExceeded);
  expect(ensemble.member(full).status.health.diskShortage).toMatchObject({ freeBytes: 1e9 });
  expect(ensemble.member(third).status.health.diskShortage).toBe(null);
  // Sessions begin, and what carries nothing is done.
  const another = await connected(ensemble, full);
  const deletion = another.send(OpCode.delete, PathVersionRequest, { path: '/a', version: -1 });
  expect(await answer(ensemble, another, deletion)).toBe(ErrorCode.ok);
  await ensemble.until(
    () => ensemble.member(leader).status.details.refusedForDisk > 0,
    'was the refusal counted',
  );
  ensemble.spaces.set(full, ROOM);
  await createsUntil(ensemble, client, ErrorCode.ok);
  expect([ensemble.leader, ensemble.failures]).toEqual([leader, []]);
  await expectEqual(ensemble);
});
