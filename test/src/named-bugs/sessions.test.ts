/**
 * Ephemerals that outlived their sessions in ZooKeeper, on one replica or on all. The invariant is
 * that every ephemeral's owner is a live session, on every member.
 */
import { Empty, ErrorCode, OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  type MemoryClient,
  type MemoryEnsemble,
  names,
  serving,
  TestEnsemble,
  TINY_LOG,
  write,
} from '../simulated.js';
import { EPHEMERAL, heldByEach, orphans, untilGone } from './ephemerals.js';

async function withEphemerals(
  ensemble: MemoryEnsemble,
  at: number,
  paths: readonly string[],
): Promise<MemoryClient> {
  const client = await connected(ensemble, at);
  const xids = paths.map((path) => client.create(path, '', EPHEMERAL));
  await ensemble.until(() => xids.every((xid) => client.errorOf(xid) === 0), 'were they created');
  return client;
}

it('ZK-2355, ZK-4678, ZK-919: a follower that is cut off or killed while a session closes has none of its ephemerals when it returns', async () => {
  const paths = names('e', 3);
  for (const fault of ['cut off', 'killed']) {
    for (const afterMs of [0, 1, 2, 3, 5]) {
      const ensemble = await serving();
      const away = follower(ensemble);
      const owner = await withEphemerals(ensemble, ensemble.leader, paths);
      owner.send(OpCode.closeSession, Empty, null);
      await ensemble.timers.advance(afterMs);
      if (fault === 'killed') ensemble.kill(away);
      else ensemble.cutOff(away);
      await untilGone(ensemble, paths[0] ?? '');
      if (fault === 'killed') await ensemble.start(away);
      else ensemble.heal(away);
      await everyoneServes(ensemble);
      expect(await heldByEach(ensemble, paths), `${fault} after ${afterMs} ms`).toEqual([
        [],
        [],
        [],
      ]);
      await expectEqual(ensemble);
    }
  }
});

it('ZK-1367: ephemerals that a restart of all members finds on disk end with their sessions, and stay if those return', async () => {
  for (const how of ['stopped', 'killed']) {
    const ensemble = await serving({ tuning: TINY_LOG });
    const { leader } = ensemble;
    const lost = await withEphemerals(ensemble, leader, names('lost', 3));
    const kept = await withEphemerals(ensemble, follower(ensemble), names('kept', 3));
    // The ephemerals are now in checkpoints, and not in the log alone.
    await write(ensemble, await connected(ensemble, leader), names('more', 40));
    const session = kept.connected;
    if (session === null) throw new Error('connected');
    for (const { id } of ensemble.config.servers) {
      if (how === 'killed') ensemble.kill(id);
      else await ensemble.stop(id);
    }
    lost.drop();
    await ensemble.start();
    await everyoneServes(ensemble);
    const again = await ensemble.client(1);
    again.connect(session);
    await ensemble.until(() => again.connected !== null, 'was the session resumed');
    await untilGone(ensemble, '/lost-0', () => again.exists('/'));
    const all = [...names('lost', 3), ...names('kept', 3)];
    const held = await heldByEach(ensemble, all);
    expect(held, how).toEqual([names('kept', 3), names('kept', 3), names('kept', 3)]);
    expect(await orphans(ensemble, all), how).toEqual([]);
  }
}, 60_000);

it('ZK-1208: an ephemeral that is created after the close of its session is refused, whether the close is in flight or applied', () => {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  // Its member has accepted it, and it is in flight while the leader decides to close the session.
  const xid = client.create('/late', { flags: EPHEMERAL });
  ensemble.nowMs += 60_000;
  ensemble.tick();
  ensemble.settle();
  expect(client.take().map((reply) => [reply.xid, reply.error])).not.toContainEqual([xid, 0]);
  const { tree, sessions } = ensemble.leader.state;
  expect([tree.ephemeralCount, sessions.has(Number(client.session))]).toEqual([0, false]);
  const other = ensemble.connect();
  other.exists('/late');
  expect(other.takeOne().error).toBe(ErrorCode.noNode);
});
