/**
 * Goal: damage that reading finds on the disk of a serving member is repaired from its memory, and
 * ends neither the member nor its term.
 * Method: whole members; a byte of a record changes on the disk of one while it runs.
 */
import { counterOf } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { damageRecords, ensembleWithCheckpoints } from './damaged-disk.js';
import { MemoryEnsemble } from './memory-ensemble.js';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notesOf,
  write,
} from './scenario.js';

/** Its disk is sound: a start finds all that it had, and has a vote. */
async function expectSoundStart(ensemble: MemoryEnsemble, id: number): Promise<void> {
  await ensemble.stop(id);
  await ensemble.start(id);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
  expect(ensemble.lines.filter((line) => line.includes('server.damaged')).length).toBe(0);
}

describe('damage of a serving member', () => {
  it('that a snapshot for a learner meets is repaired, and the learner joins', async () => {
    const ensemble = await ensembleWithCheckpoints();
    const { leader } = ensemble;
    const id = follower(ensemble);
    await ensemble.stop(id);
    ensemble.wipe(id);
    damageRecords(ensemble, leader);
    await ensemble.start(id);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(ensemble.leader).toBe(leader);
    expect(notesOf(ensemble, leader, 'role.ended')).toBe(0);
    expect(ensemble.lines.filter((line) => line.includes('disk.repaired')).length).toBe(1);
  });

  it('is not repaired from a memory that differs from a quorum', async () => {
    const ensemble = await ensembleWithCheckpoints({ scrubRestMs: 1_000 });
    const id = follower(ensemble);
    const { tree, lastZxid, lastTime } = ensemble.member(id).state;
    const op = { kind: 'setData', path: '/a-3', data: Buffer.from('x'), version: 1 } as const;
    tree.setData(tree.find('/a-3'), op, { zxid: lastZxid, time: lastTime, session: 0 });
    damageRecords(ensemble, id);
    const repairs = () => ensemble.lines.filter((line) => line.includes('disk.repaired'));
    // Nothing is written that a quorum could compare, so the repair waits.
    await ensemble.timers.advance(5_000);
    expect(ensemble.lines.some((line) => line.includes('disk.damaged'))).toBe(true);
    expect(repairs()).toEqual([]);
    await write(ensemble, await connected(ensemble, ensemble.leader), names('b', 200));
    await ensemble.until(() => repairs().length > 0, 'was it repaired');
    expect(repairs().map((line) => JSON.parse(line).from)).toEqual(['snapshot']);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('is not repaired by what a quorum has confirmed of an earlier state', async () => {
    const ensemble = await ensembleWithCheckpoints({ scrubRestMs: 1_000 });
    const id = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('b', 1));
    const { tree, lastZxid, lastTime } = ensemble.member(id).state;
    const op = { kind: 'setData', path: '/a-3', data: Buffer.from('x'), version: 1 } as const;
    tree.setData(tree.find('/a-3'), op, { zxid: lastZxid, time: lastTime, session: 0 });
    damageRecords(ensemble, id);
    const repairs = () => ensemble.lines.filter((line) => line.includes('disk.repaired'));
    // It is never quiet, and reaches no zxid at which all report.
    for (let count = 0; count < 40; count++) {
      await write(ensemble, client, names(`c${count}`, 1));
      await ensemble.timers.advance(40);
    }
    expect(counterOf(ensemble.member(id).state.lastZxid)).toBeLessThan(256);
    expect(ensemble.lines.some((line) => line.includes('disk.damaged'))).toBe(true);
    expect(repairs()).toEqual([]);
    await write(ensemble, client, names('d', 200));
    await ensemble.until(() => repairs().length > 0, 'was it repaired');
    expect(repairs().map((line) => JSON.parse(line).from)).toEqual(['snapshot']);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it.each(['leader', 'follower'])('at a %s is found by the scrub', async (where) => {
    const ensemble = await ensembleWithCheckpoints({ scrubRestMs: 1_000 });
    const id = where === 'leader' ? ensemble.leader : follower(ensemble);
    damageRecords(ensemble, id);
    const repaired = () => ensemble.lines.some((line) => line.includes('disk.repaired'));
    await ensemble.until(repaired, 'was it repaired');
    await write(ensemble, await connected(ensemble, id), names('b', 50));
    await ensemble.timers.advance(3_000);
    expect(ensemble.lines.filter((line) => line.includes('disk.damaged')).length).toBe(1);
    await expectSoundStart(ensemble, id);
  });

  it.each(['leader', 'follower'])('in the record of epochs of a %s is repaired', async (where) => {
    const ensemble = await ensembleWithCheckpoints({ scrubRestMs: 1_000 });
    const id = where === 'leader' ? ensemble.leader : follower(ensemble);
    const tree = ensemble.treeOf(id);
    tree.tamper('meta', (entries) => {
      for (const [key, value] of entries) entries.set(key, value.slice(0, -1));
    });
    const repaired = () => ensemble.lines.some((line) => line.includes('disk.repaired'));
    await ensemble.until(repaired, 'was it repaired');
    await ensemble.timers.advance(5_000);
    expect(ensemble.lines.filter((line) => line.includes('disk.damaged')).length).toBe(1);
    await expectSoundStart(ensemble, id);
  });

  /** A member whose disk is full, with damage in its record of epochs. */
  async function damagedOnFullDisk() {
    const room = { freeBytes: 50e9, totalBytes: 100e9 };
    const ensemble = new MemoryEnsemble({ size: 3, seed: 1, tuning: { scrubRestMs: 1_000 } });
    for (const member of [1, 2, 3]) ensemble.spaces.set(member, room);
    await ensemble.start();
    await everyoneServes(ensemble);
    const id = follower(ensemble);
    ensemble.spaces.set(id, { ...room, freeBytes: 1e9 });
    const said = (event: string) => ensemble.lines.filter((line) => line.includes(event)).length;
    await ensemble.until(() => said('disk.stepped_out') > 0, 'was it full');
    // From now on nothing changes the record.
    await ensemble.timers.advance(5_000);
    const sound = new Map<string, Uint8Array>();
    ensemble.treeOf(id).tamper('meta', (entries) => {
      for (const [key, value] of entries) {
        sound.set(key, value);
        entries.set(key, value.slice(0, -1));
      }
    });
    await ensemble.until(() => said('disk.damaged') > 0, 'was it found');
    await ensemble.timers.advance(5_000);
    expect([said('disk.damaged'), said('disk.repaired')]).toEqual([1, 0]);
    const makeRoom = async () => {
      ensemble.spaces.set(id, room);
      await everyoneServes(ensemble);
    };
    return { ensemble, id, said, sound, makeRoom };
  }

  it('in the record of epochs waits for room on a full disk', async () => {
    const { ensemble, said, makeRoom } = await damagedOnFullDisk();
    await makeRoom();
    await ensemble.until(() => said('disk.repaired') > 0, 'was it repaired');
    expect([said('disk.damaged'), ensemble.failures]).toEqual([1, []]);
  });

  it('in the record of epochs is over once another write has repaired it', async () => {
    const { ensemble, id, said, sound } = await damagedOnFullDisk();
    ensemble.treeOf(id).tamper('meta', (entries) => {
      for (const [key, value] of sound) entries.set(key, value);
    });
    await ensemble.until(() => said('disk.repaired') > 0, 'was it repaired');
    await ensemble.timers.advance(5_000);
    expect([said('disk.damaged'), said('disk.repaired'), ensemble.failures]).toEqual([1, 1, []]);
  });
});
