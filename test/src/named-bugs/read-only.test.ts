/**
 * ZOOKEEPER-3526: a server without a quorum closed its read-only clients' sessions by transactions
 * of its own, numbered from 0, in the database that it shares with its ensemble; the leader that it
 * found later truncated its log to almost nothing.
 */
import { Empty, ErrorCode, OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import {
  connected,
  everyoneServes,
  expectEqual,
  follower,
  names,
  notes,
  serving,
  write,
} from '../simulated.js';
import { heldByEach } from './ephemerals.js';

it('ZK-3526: read-only clients that connect, leave and time out cause nothing that a quorum would have to undo', async () => {
  const ensemble = await serving({ settings: { readOnlyMode: true } });
  const alone = follower(ensemble);
  const others = ensemble.config.servers.map(({ id }) => id).filter((id) => id !== alone);
  const paths = names('kept', 20);
  await write(ensemble, await connected(ensemble, alone), paths);
  await expectEqual(ensemble);
  for (const id of others) ensemble.kill(id);
  await ensemble.until(() => notes(ensemble, 'role.read_only') > 0, 'were reads served');
  const readers = [];
  for (let reader = 0; reader < 6; reader++) {
    const client = await ensemble.client(alone);
    client.connect(undefined, 4_000, true);
    await ensemble.until(() => client.connected !== null, 'was a read-only session given');
    expect(client.connected?.readOnly).toBe(true);
    readers.push(client);
  }
  const [closing, dropping, ...silent] = readers;
  closing?.send(OpCode.closeSession, Empty, null);
  dropping?.drop();
  await ensemble.until(() => silent.every(({ closed }) => closed), 'did the silent ones time out');

  const last = await ensemble.client(alone);
  last.connect(undefined, 40_000, true);
  const refused = last.create('/not');
  await ensemble.until(() => last.errorOf(refused) !== undefined, 'was the write answered');
  expect(last.errorOf(refused)).toBe(ErrorCode.notReadOnly);
  await ensemble.start(...others);
  await everyoneServes(ensemble);
  await expectEqual(ensemble);
  expect([notes(ensemble, 'sync.trunc'), notes(ensemble, 'sync.snap')]).toEqual([0, 0]);
  expect(await heldByEach(ensemble, [...paths, '/not'])).toEqual([paths, paths, paths]);
});
