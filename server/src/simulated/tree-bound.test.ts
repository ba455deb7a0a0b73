// The members agree on how large the tree may become: as large as the smallest memory among them
// allows, whoever leads, and whether the smallest is up or has only been seen.
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { memoryBudgetOf } from '../member/budgets.js';
import type { MemoryClient } from './memory-client.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import { connected, everyoneServes, expectEqual } from './scenario.js';

const LITTLE = 4 << 20;
const MORE = 16 << 20;
const VALUE = 'v'.repeat(8_000);

function boundOf(bytes: number): number {
  return memoryBudgetOf({ bytes, source: 'setting', heapBytes: 2 ** 32 }).treeBytesMax;
}

/** Member 3 has little memory. */
async function unequal(): Promise<MemoryEnsemble> {
  const ensemble = new MemoryEnsemble({ size: 3, seed: 1, tuning: { memoryBytes: MORE } });
  ensemble.tunings.set(3, { memoryBytes: LITTLE });
  await ensemble.start();
  await everyoneServes(ensemble);
  return ensemble;
}

function boundsAt(ensemble: MemoryEnsemble, ...ids: readonly number[]): (number | undefined)[] {
  const metric = (id: number) =>
    ensemble.member(id).status.extraMetrics.find(({ name }) => name === 'tree_bytes_max');
  return ids.map((id) => metric(id)?.value);
}

async function answer(ensemble: MemoryEnsemble, client: MemoryClient, xid: number) {
  await ensemble.until(() => client.errorOf(xid) !== undefined, 'was it answered');
  return client.errorOf(xid);
}

/** Until the tree is full; returns how many it took. */
async function fill(ensemble: MemoryEnsemble, client: MemoryClient, name: string) {
  for (let count = 0; count < 1_000; count++) {
    const error = await answer(ensemble, client, client.create(`/${name}-${count}`, VALUE));
    if (error === ErrorCode.quotaExceeded) return count;
    expect(error).toBe(ErrorCode.ok);
  }
  throw new Error('a thousand creates were taken');
}

it('the tree stays within what the member with the least memory may use, whoever leads', async () => {
  const ensemble = await unequal();
  expect(boundsAt(ensemble, 1, 2, 3)).toEqual([LITTLE, LITTLE, LITTLE].map(boundOf));
  const client = await connected(ensemble, 1);
  const count = await fill(ensemble, client, 'a');
  expect(count).toBeGreaterThan(10);
  for (const id of [1, 2, 3]) {
    expect(ensemble.member(id).state.bytes).toBeLessThanOrEqual(boundOf(LITTLE));
  }
  const { leader } = ensemble;
  ensemble.kill(leader);
  const [next = 0] = [1, 2, 3].filter((id) => id !== leader);
  await ensemble.until(() => ensemble.serves(next), 'did the others serve');
  const again = await connected(ensemble, next);
  expect(await answer(ensemble, again, again.create('/b', VALUE))).toBe(ErrorCode.quotaExceeded);
  await ensemble.start(leader);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
});

it('a smaller member that is away is still counted, one that came back with more is not', async () => {
  const ensemble = await unequal();
  await ensemble.stop(3);
  await ensemble.until(() => ensemble.serves(1), 'did 1 serve without 3');
  expect(boundsAt(ensemble, 1, 2)).toEqual([LITTLE, LITTLE].map(boundOf));
  ensemble.tunings.set(3, { memoryBytes: MORE });
  await ensemble.start(3);
  await everyoneServes(ensemble);
  expect(boundsAt(ensemble, 1, 2, 3)).toEqual([MORE, MORE, MORE].map(boundOf));
});

it('treeBytesMax decides where it is set, and says so where memory is short of it', async () => {
  const settings = { treeBytesMax: 10 << 20 };
  const tuning = { memoryBytes: LITTLE };
  const ensemble = new MemoryEnsemble({ size: 1, seed: 1, settings, tuning });
  await ensemble.start();
  await everyoneServes(ensemble);
  expect(boundsAt(ensemble, 1)).toEqual([10 << 20]);
  expect(ensemble.lines.some((line) => line.includes('tree.bound_beyond_memory'))).toBe(true);
});

it('refusals are logged once a second at most, and that the tree is nearly full only once', async () => {
  const settings = { treeBytesMax: 256 << 10 };
  const ensemble = new MemoryEnsemble({ size: 1, seed: 1, settings });
  await ensemble.start();
  await everyoneServes(ensemble);
  const told = (event: string) => ensemble.lines.filter((line) => line.includes(event));
  const client = await connected(ensemble, 1);
  const count = await fill(ensemble, client, 'a');
  await ensemble.until(() => told('"tree.nearly_full').length > 0, 'was it told');
  await ensemble.until(() => told('"tree.full').length > 0, 'was it told');
  for (let more = 0; more < 100; more++) {
    await answer(ensemble, client, client.create('/more', VALUE));
  }
  await ensemble.timers.advance(3_000);
  const refused = told('"tree.full').map((line) => Number(JSON.parse(line).refused));
  expect(refused.reduce((sum, one) => sum + one, 0)).toBe(101);
  expect(refused.length).toBeLessThanOrEqual(4);
  for (let index = 0; index < count; index++) {
    await answer(ensemble, client, client.setData(`/a-${index}`, ''));
  }
  await ensemble.until(() => told('"tree.has_room').length > 0, 'was it told');
  expect(told('"tree.nearly_full')).toHaveLength(1);
});
