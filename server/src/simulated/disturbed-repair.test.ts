/**
 * Goal: whatever disturbs the repair of a damaged disk costs neither the member's role nor what it
 * has: a full disk, damage of a second member, damage that a backup or a compaction meets; and
 * a member that ends during its repair comes back.
 * Method: whole members in memory, whose databases refuse changes at chosen moments.
 */
import { describe, expect, it } from 'vitest';
import { DamagedError, StorageFault } from '../storage/errors.js';
import { damageRecords, ensembleWithCheckpoints, liveTree } from './damaged-disk.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notesOf,
  write,
} from './scenario.js';

const TUNING = { scrubRestMs: 1_000 };
const ROLES = ['leader', 'follower'] as const;

function memberOf(ensemble: MemoryEnsemble, role: (typeof ROLES)[number]): number {
  return role === 'leader' ? ensemble.leader : follower(ensemble);
}

const told = (ensemble: MemoryEnsemble, event: string) => (id: number) =>
  ensemble.lines.filter((line) => line.includes(event) && JSON.parse(line).member === id).length;

async function untilRepaired(ensemble: MemoryEnsemble, ids: readonly number[]): Promise<void> {
  const repaired = told(ensemble, '"disk.repaired');
  await ensemble.until(() => ids.every((id) => repaired(id) > 0), `did ${ids} repair their disks`);
}

/** Nobody has lost a role, and each starts from its disk with its vote. */
async function expectWhole(ensemble: MemoryEnsemble, leader: number): Promise<void> {
  expect(ensemble.leader).toBe(leader);
  for (const id of [1, 2, 3]) expect(notesOf(ensemble, id, 'role.ended')).toBe(0);
  for (const id of [1, 2, 3]) {
    await ensemble.stop(id);
    await ensemble.start(id);
    await everyoneServes(ensemble);
  }
  await expectEqual(ensemble);
  expect(ensemble.lines.filter((line) => line.includes('server.damaged'))).toEqual([]);
}

describe.each(ROLES)('a repair of a %s', (role) => {
  it.each([1, 2, 3])('goes on after the disk was full at its change %i', async (at) => {
    const ensemble = await ensembleWithCheckpoints(TUNING);
    const { leader } = ensemble;
    const id = memberOf(ensemble, role);
    const live = liveTree(ensemble, id);
    let changes = 0;
    // A repair of so small a tree makes its database, writes the checkpoint, and one batch.
    ensemble.beforeChange(id, (name) => {
      if (!name.startsWith('tree-') || name === live) return;
      changes += 1;
      if (changes >= at) throw new StorageFault('disk full', 'no space left', null);
    });
    damageRecords(ensemble, id);
    const failed = told(ensemble, '"disk.repair_failed');
    await ensemble.until(() => failed(id) > 0, 'did the repair fail');
    const client = await connected(ensemble, id);
    await write(ensemble, client, names('b', 30));
    ensemble.beforeChange(id, null);
    await untilRepaired(ensemble, [id]);
    await write(ensemble, client, names('c', 30));
    await expectWhole(ensemble, leader);
  });

  it('ends the member where its last change, which makes it the live one, fails', async () => {
    const ensemble = await ensembleWithCheckpoints(TUNING);
    const id = memberOf(ensemble, role);
    const live = liveTree(ensemble, id);
    let hasTree = false;
    ensemble.beforeChange(id, (name) => {
      hasTree ||= name.startsWith('tree-') && name !== live;
      if (hasTree && name === 'meta') throw new StorageFault('disk full', 'no space left', null);
    });
    damageRecords(ensemble, id);
    const ended = ensemble.until(() => false, 'did it end');
    await expect(ended).rejects.toThrow('no space left');
    expect(told(ensemble, '"disk.repair_failed')(id)).toBe(0);
  });

  it('begins where a compaction of LevelDB meets damage', async () => {
    const ensemble = await ensembleWithCheckpoints(TUNING);
    const { leader } = ensemble;
    const id = memberOf(ensemble, role);
    const live = liveTree(ensemble, id);
    let isMet = false;
    ensemble.beforeChange(id, (name) => {
      if (name !== live || isMet) return;
      isMet = true;
      throw new DamagedError('corrupted compressed block contents');
    });
    await write(ensemble, await connected(ensemble, id), names('b', 100));
    await untilRepaired(ensemble, [id]);
    await write(ensemble, await connected(ensemble, id), names('c', 100));
    await expectWhole(ensemble, leader);
  });

  it('begins where a backup meets damage, and the next backup is whole', async () => {
    const ensemble = await ensembleWithCheckpoints(TUNING);
    const { leader } = ensemble;
    const id = memberOf(ensemble, role);
    damageRecords(ensemble, id);
    await expect(read(ensemble, id)).rejects.toThrow(DamagedError);
    await untilRepaired(ensemble, [id]);
    expect(await read(ensemble, id)).toBeGreaterThan(0);
    await expectWhole(ensemble, leader);
  });

  it('may be cut short by a crash at any moment, and the member comes back', async () => {
    for (let at = 1; at < 20; at += 3) {
      const ensemble = await ensembleWithCheckpoints(TUNING);
      const id = memberOf(ensemble, role);
      const live = liveTree(ensemble, id);
      let changes = 0;
      ensemble.beforeChange(id, (name) => {
        if (name !== live) changes += 1;
      });
      damageRecords(ensemble, id);
      const repaired = told(ensemble, '"disk.repaired');
      const isDue = () => changes >= at || repaired(id) > 0;
      await ensemble.until(isDue, `was change ${at} made`);
      ensemble.beforeChange(id, null);
      ensemble.kill(id);
      await ensemble.start(id);
      await everyoneServes(ensemble);
      await write(ensemble, await connected(ensemble, id), names('b', 20));
      await expectEqual(ensemble);
    }
  });
});

it('two members that are damaged at once, the leader among them, both repair their disks', async () => {
  const ensemble = await ensembleWithCheckpoints(TUNING);
  const { leader } = ensemble;
  const ids = [leader, follower(ensemble)];
  for (const id of ids) damageRecords(ensemble, id);
  await write(ensemble, await connected(ensemble, leader), names('b', 50));
  await untilRepaired(ensemble, ids);
  await expectWhole(ensemble, leader);
});

/** Reads all of a backup; returns how many records it has. */
async function read(ensemble: MemoryEnsemble, id: number): Promise<number> {
  const source = await ensemble.member(id).openBackup();
  try {
    let count = 0;
    for await (const chunk of source.records()) count += chunk.length;
    for await (const batch of source.batches()) count += [...batch].length;
    return count;
  } finally {
    await source.close();
  }
}
