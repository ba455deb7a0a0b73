/**
 * Whole members in memory: what the driver wires together, under kills, cuts, and new disks.
 *
 * Time is simulated, so nothing here waits for a clock; the seed is in each failure's message.
 */
import { ErrorCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notes,
  serving,
  TINY_LOG,
  write,
} from './scenario.js';

describe('an ensemble in memory', () => {
  it.each([1, 3, 5, 7])('of %i members serves a write at every member', async (size) => {
    const ensemble = await serving({ size });
    const client = await connected(ensemble, 1);
    await write(ensemble, client, names('a', 20));
    await expectEqual(ensemble);
  });

  it('goes on with a new leader, and keeps what was acknowledged', async () => {
    const ensemble = await serving();
    const old = ensemble.leader;
    const client = await connected(ensemble, follower(ensemble));
    await write(ensemble, client, names('before', 50));
    ensemble.kill(old);
    await ensemble.until(() => ensemble.leader !== 0 && ensemble.leader !== old, 'a new leader');
    const other = await connected(ensemble, ensemble.leader);
    await write(ensemble, other, names('after', 50));
    await ensemble.start(old);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    const reader = await connected(ensemble, old);
    const xid = reader.exists('/before-49');
    await ensemble.until(() => reader.errorOf(xid) !== undefined, 'was the read answered');
    expect(reader.errorOf(xid)).toBe(ErrorCode.ok);
  });

  it('brings a member that was down for a few writes back by DIFF', async () => {
    const ensemble = await serving();
    const away = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('before', 10));
    ensemble.kill(away);
    await write(ensemble, client, names('missed', 10));
    const snaps = notes(ensemble, 'sync.snap');
    await ensemble.start(away);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(notes(ensemble, 'sync.snap')).toBe(snaps);
  });

  it('streams log from disk when memory does not reach back', async () => {
    const ensemble = await serving({ tuning: { windowBytes: 500 } });
    const away = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('before', 10));
    ensemble.kill(away);
    await write(ensemble, client, names('missed', 200));
    await ensemble.start(away);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(notes(ensemble, 'sync.snap')).toBe(0);
  });

  it('brings a member past the start of the log back by SNAP, while writes go on', async () => {
    const ensemble = await serving({ tuning: TINY_LOG });
    const away = follower(ensemble);
    ensemble.kill(away);
    const client = await connected(ensemble, ensemble.leader);
    for (let round = 0; round < 10; round++) {
      await write(ensemble, client, names(`missed-${round}`, 40));
    }
    await ensemble.start(away);
    await write(ensemble, client, names('meanwhile', 40));
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(notes(ensemble, 'snapshot.installed')).toBe(1);
  });

  it('brings a member with a new disk back by SNAP, and it votes only after that', async () => {
    const ensemble = await serving();
    const wiped = follower(ensemble);
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('kept', 50));
    ensemble.kill(wiped);
    ensemble.wipe(wiped);
    await ensemble.start(wiped);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    expect(notes(ensemble, 'snapshot.installed')).toBe(1);
  });

  it('starts a SNAP over when the member is killed in the middle of it', async () => {
    const ensemble = await serving({ tuning: TINY_LOG });
    const away = follower(ensemble);
    ensemble.kill(away);
    ensemble.wipe(away);
    const client = await connected(ensemble, ensemble.leader);
    for (let round = 0; round < 5; round++) await write(ensemble, client, names(`r${round}`, 40));
    for (let killed = 0; killed < 3; killed++) {
      const before = notes(ensemble, 'sync.snap');
      await ensemble.start(away);
      await ensemble.until(() => notes(ensemble, 'sync.snap') > before, 'did a SNAP begin');
      ensemble.kill(away);
    }
    await ensemble.start(away);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
  });

  it('acknowledges nothing at a leader that is cut off, and forgets what it alone had', async () => {
    const ensemble = await serving();
    const old = ensemble.leader;
    const cut = await connected(ensemble, old);
    ensemble.cutOff(old);
    const alone = cut.create('/alone');
    await ensemble.until(() => cut.closed, 'was the client of the cut-off leader closed');
    expect(cut.errorOf(alone)).toBeUndefined();
    await ensemble.until(() => ensemble.leader !== 0 && ensemble.leader !== old, 'a new leader');
    const client = await connected(ensemble, ensemble.leader);
    await write(ensemble, client, names('since', 10));
    ensemble.heal(old);
    await everyoneServes(ensemble);
    await expectEqual(ensemble);
    const xid = client.exists('/alone');
    await ensemble.until(() => client.errorOf(xid) !== undefined, 'was the read answered');
    expect(client.errorOf(xid)).toBe(ErrorCode.noNode);
  });

  it('is the same run, line by line, for the same seed', async () => {
    const runs = await Promise.all(
      [0, 1].map(async () => {
        const ensemble = await serving({ seed: 42 });
        const client = await connected(ensemble, 1);
        await write(ensemble, client, names('same', 10));
        ensemble.kill(ensemble.leader);
        await ensemble.until(() => ensemble.leader !== 0, 'a new leader');
        return ensemble.lines.join('');
      }),
    );
    expect(runs[0]).toBe(runs[1]);
  });
});
