// One full disk, of the leader or of a follower, stops no write: its member steps out until there
// is room. Two of three full ones stop writes that carry data at every member, and nothing else.
import { ErrorCode, OpCode, PathVersionRequest, type PeerId } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { Config } from '../config/config.js';
import { StorageFault } from '../storage/errors.js';
import type { MemoryClient } from './memory-client.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import { connected, everyoneServes, expectEqual } from './scenario.js';

const ROOM = { freeBytes: 50e9, totalBytes: 100e9 };
const FULL = { freeBytes: 1e9, totalBytes: 100e9 };

async function roomy(settings: Partial<Config> = {}, size = 3): Promise<MemoryEnsemble> {
  const ensemble = new MemoryEnsemble({ size, seed: 1, settings });
  for (let id = 1; id <= size; id++) ensemble.spaces.set(id, ROOM);
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

function othersThan(...ids: readonly PeerId[]): PeerId[] {
  return [1, 2, 3].filter((id) => !ids.includes(id));
}

/** Writes until the member is in that role; returns how many writes were refused. */
async function writesUntil(
  ensemble: MemoryEnsemble,
  client: MemoryClient,
  [id, role]: readonly [PeerId, 'looking' | 'following' | 'leading'],
): Promise<number> {
  let refused = 0;
  for (let count = 0; ensemble.member(id).status.health.role !== role; count++) {
    if (count > 10_000) throw new Error(`member ${id} was never ${role}`);
    const error = await answer(ensemble, client, client.create(`/${role}-${count}`, 'v'));
    if (error !== ErrorCode.ok) refused += 1;
  }
  return refused;
}

it('a follower steps out while its disk is full, and no write is refused', async () => {
  const ensemble = await roomy();
  const { leader } = ensemble;
  const [full = 0, third = 0] = othersThan(leader);
  const client = await connected(ensemble, third);
  const moved = await connected(ensemble, full);
  ensemble.spaces.set(full, FULL);
  expect(await writesUntil(ensemble, client, [full, 'looking'])).toBe(0);
  expect(moved.closed).toBe(true);
  const { health } = ensemble.member(full).status;
  expect(health).toMatchObject({ diskShortage: { freeBytes: 1e9 }, sparedBy: leader });
  const others = ensemble.member(leader).status.health;
  expect(others).toMatchObject({ diskShortage: null, sparedBy: 0 });
  ensemble.spaces.set(full, ROOM);
  expect(await writesUntil(ensemble, client, [full, 'following'])).toBe(0);
  expect([ensemble.leader, ensemble.failures]).toEqual([leader, []]);
  await expectEqual(ensemble);
});

it('a member that has stepped out takes no checkpoint, and is not ended by its full disk', async () => {
  const ensemble = await roomy();
  const [full = 0, third = 0] = othersThan(ensemble.leader);
  const client = await connected(ensemble, third);
  expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
  ensemble.spaces.set(full, FULL);
  expect(await writesUntil(ensemble, client, [full, 'looking'])).toBe(0);
  const changed: string[] = [];
  ensemble.beforeChange(full, (name) => {
    if (!name.startsWith('tree-')) return;
    changed.push(name);
    throw new StorageFault('disk full', 'no space left', null);
  });
  await ensemble.timers.advance(31_000);
  expect([changed, ensemble.failures]).toEqual([[], []]);
  ensemble.beforeChange(full, null);
  ensemble.spaces.set(full, ROOM);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
});

it.each(['leader', 'follower'])(
  'a checkpoint of a %s that meets a full disk is given up',
  async (role) => {
    const ensemble = await roomy();
    const { leader } = ensemble;
    const [follower = 0] = othersThan(leader);
    const id = role === 'leader' ? leader : follower;
    const client = await connected(ensemble, follower);
    let isFull = true;
    ensemble.beforeChange(id, (name) => {
      if (isFull && name.startsWith('tree-')) {
        throw new StorageFault('disk full', 'no space left', null);
      }
    });
    const told = (what: string) => () => ensemble.lines.some((line) => line.includes(what));
    expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
    await ensemble.until(told('disk.checkpoint_given_up'), 'was it given up');
    const { status } = ensemble.member(id);
    expect(status.health).toMatchObject({
      damage: null,
      checkpointGivenUp: { reason: 'no space left' },
    });
    const { damagesFound, checkpointsGivenUp } = status.details.counters;
    expect([damagesFound, checkpointsGivenUp]).toEqual([0, 1]);
    const meanwhile = await connected(ensemble, follower);
    expect(await answer(ensemble, meanwhile, meanwhile.create('/b', 'v'))).toBe(ErrorCode.ok);
    isFull = false;
    await ensemble.until(told('disk.checkpoint_caught_up'), 'is it written again');
    expect(ensemble.member(id).status.health.checkpointGivenUp).toBeNull();
    const after = await connected(ensemble, follower);
    expect(await answer(ensemble, after, after.create('/c', 'v'))).toBe(ErrorCode.ok);
    expect([ensemble.leader, ensemble.failures]).toEqual([leader, []]);
    await expectEqual(ensemble);
    ensemble.kill(id);
    await ensemble.start(id);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    for (const damage of ['server.damaged', 'disk.damaged', 'disk.repaired']) {
      expect(told(damage)(), damage).toBe(false);
    }
  },
);

it('a leader whose checkpoint met a full disk brings up a wiped member meanwhile', async () => {
  const ensemble = await roomy();
  const { leader } = ensemble;
  const [wiped = 0] = othersThan(leader);
  const client = await connected(ensemble, leader);
  expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
  ensemble.beforeChange(leader, (name) => {
    if (name.startsWith('tree-')) throw new StorageFault('disk full', 'no space left', null);
  });
  const { health } = ensemble.member(leader).status;
  expect(health.checkpointGivenUp).toBeNull();
  const isGivenUp = () => ensemble.member(leader).status.health.checkpointGivenUp !== null;
  await ensemble.until(isGivenUp, 'was it given up');
  ensemble.kill(wiped);
  ensemble.wipe(wiped);
  await ensemble.start(wiped);
  await everyoneServes(ensemble);
  expect([ensemble.leader, isGivenUp()]).toEqual([leader, true]);
  await expectEqual(ensemble);
});

it('a member that ends after its checkpoint met a full disk has lost nothing', async () => {
  const ensemble = await roomy();
  const [id = 0] = othersThan(ensemble.leader);
  const client = await connected(ensemble, ensemble.leader);
  ensemble.beforeChange(id, (name) => {
    if (name.startsWith('tree-')) throw new StorageFault('disk full', 'no space left', null);
  });
  expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
  const isGivenUp = () => ensemble.lines.some((line) => line.includes('disk.checkpoint_given_up'));
  await ensemble.until(isGivenUp, 'was it given up');
  ensemble.kill(id);
  ensemble.beforeChange(id, null);
  await ensemble.start(id);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
  expect(ensemble.lines.filter((line) => line.includes('server.damaged'))).toEqual([]);
});

it('one that has stepped out serves reads where that is configured, until it has room', async () => {
  const ensemble = await roomy({ readOnlyMode: true });
  const [full = 0] = othersThan(ensemble.leader);
  ensemble.spaces.set(full, FULL);
  await ensemble.until(() => ensemble.member(full).status.mode === 'read-only', 'does it read');
  expect(ensemble.member(full).status.health.sparedBy).toBe(ensemble.leader);
  ensemble.spaces.set(full, ROOM);
  await ensemble.until(() => ensemble.member(full).status.mode === 'follower', 'does it follow');
  expect(ensemble.failures).toEqual([]);
});

it('one that has stepped out writes nothing at all, not even the mark of its log', async () => {
  const ensemble = await roomy();
  const [full = 0, third = 0] = othersThan(ensemble.leader);
  const client = await connected(ensemble, third);
  expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
  ensemble.spaces.set(full, FULL);
  const changed: string[] = [];
  let hasSteppedOut = false;
  ensemble.beforeChange(full, (name) => {
    hasSteppedOut ||= ensemble.member(full).status.health.sparedBy !== 0;
    if (hasSteppedOut) changed.push(name);
  });
  expect(await writesUntil(ensemble, client, [full, 'looking'])).toBe(0);
  await ensemble.timers.advance(10_000);
  expect([hasSteppedOut, changed]).toEqual([false, []]);
  expect(ensemble.member(full).status.health.sparedBy).toBe(ensemble.leader);
  ensemble.beforeChange(full, null);
  ensemble.spaces.set(full, ROOM);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
});

it('one that has stepped out remembers restarts of others in memory until it serves', async () => {
  const ensemble = await roomy({}, 5);
  const { leader } = ensemble;
  const [full = 0, serving = 0, restarted = 0] = [1, 2, 3, 4, 5].filter((id) => id !== leader);
  const client = await connected(ensemble, serving);
  ensemble.spaces.set(full, FULL);
  expect(await writesUntil(ensemble, client, [full, 'looking'])).toBe(0);
  const changed: string[] = [];
  ensemble.beforeChange(full, (name) => changed.push(name));
  ensemble.kill(restarted);
  await ensemble.start(restarted);
  await ensemble.timers.advance(10_000);
  expect(changed).toEqual([]);
  ensemble.spaces.set(full, ROOM);
  await everyoneServes(ensemble);
  expect(ensemble.failures).toEqual([]);
  await expectEqual(ensemble);
});

it('a leader hands over while its disk is full', async () => {
  const ensemble = await roomy();
  const full = ensemble.leader;
  const term = ensemble.member(full).status.details.epoch;
  ensemble.spaces.set(full, FULL);
  await ensemble.until(() => ensemble.leader !== full && ensemble.leader !== 0, 'is it led');
  const { leader } = ensemble;
  expect(ensemble.member(leader).status.details.epoch).toBe(term + 1);
  const client = await connected(ensemble, leader);
  expect(await answer(ensemble, client, client.create('/after', 'v'))).toBe(ErrorCode.ok);
  expect(ensemble.member(full).status.health).toMatchObject({ role: 'looking', sparedBy: leader });
  expect(ensemble.member(full).status.details.refusedForDisk).toBe(0);
  ensemble.spaces.set(full, ROOM);
  await everyoneServes(ensemble);
  expect([ensemble.leader, ensemble.failures]).toEqual([leader, []]);
  await expectEqual(ensemble);
});

it.each(['followers', 'leader and a follower'])('the disks of two, %s, are full', async (whose) => {
  const ensemble = await roomy();
  const { leader } = ensemble;
  const [first = 0, second = 0] = othersThan(leader);
  const client = await connected(ensemble, leader);
  expect(await answer(ensemble, client, client.create('/a', 'v'))).toBe(ErrorCode.ok);
  const full = whose === 'followers' ? [first, second] : [leader, first];
  for (const id of full) ensemble.spaces.set(id, FULL);
  await createsUntil(ensemble, client, ErrorCode.quotaExceeded);
  // Sessions begin at every member, and what carries nothing is done.
  const another = await connected(ensemble, first);
  const deletion = another.send(OpCode.delete, PathVersionRequest, { path: '/a', version: -1 });
  expect(await answer(ensemble, another, deletion)).toBe(ErrorCode.ok);
  const refused = () => ensemble.member(leader).status.details.refusedForDisk;
  await ensemble.until(() => refused() > 0, 'was the refusal counted');
  const roomAtMs = ensemble.timers.nowMs();
  for (const id of full) ensemble.spaces.set(id, ROOM);
  await createsUntil(ensemble, client, ErrorCode.ok);
  expect(ensemble.timers.nowMs() - roomAtMs).toBeLessThan(2_000);
  expect([ensemble.leader, ensemble.failures]).toEqual([leader, []]);
  await expectEqual(ensemble);
});
