/**
 * Limits of ZooKeeper's numbers: transactions that are too large to be read back, and zxids past
 * the last one of an epoch.
 */
import { CreateRequest, ErrorCode, encode } from '@rookery/protocol';
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
  write,
} from '../simulated.js';
import { EPHEMERAL, heldByEach, untilGone } from './ephemerals.js';

const FRAME_BYTES = 20_000;
const HEADER_BYTES = 8;

/** A create whose frame has exactly the largest accepted size. */
function createLargest(client: MemoryClient, path: string): number {
  const body = { path, data: new Uint8Array(0), acl: OPEN_ACL, flags: 0 };
  const rest = encode(CreateRequest, body).length + HEADER_BYTES;
  return client.create(path, 'x'.repeat(FRAME_BYTES - rest));
}
const OPEN_ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];

async function restartAll(ensemble: MemoryEnsemble): Promise<void> {
  for (const { id } of ensemble.config.servers) ensemble.kill(id);
  await ensemble.start();
  await everyoneServes(ensemble);
}

it('ZK-3496, ZK-4306, ZK-2101: every member, log and restart can read whatever was accepted, including a close of any number of ephemerals', async () => {
  const ensemble = await serving({ settings: { frameBytesMax: FRAME_BYTES } });
  const client = await connected(ensemble, follower(ensemble));
  const largest = createLargest(client, '/largest');
  await ensemble.until(() => client.errorOf(largest) !== undefined, 'was the largest one answered');
  expect(client.errorOf(largest)).toBe(ErrorCode.ok);
  // Their paths together are many times as large as one frame may be.
  const owner = await connected(ensemble, follower(ensemble));
  const paths = names('e'.repeat(200), 500);
  const xids = paths.map((path) => owner.create(path, '', EPHEMERAL));
  await ensemble.until(() => xids.every((xid) => owner.errorOf(xid) === 0), 'were they created');
  owner.drop();
  await untilGone(ensemble, paths[0] ?? '');
  await restartAll(ensemble);
  await expectEqual(ensemble);
  const asked = ['/largest', ...paths.slice(-2)];
  expect(await heldByEach(ensemble, asked)).toEqual([['/largest'], ['/largest'], ['/largest']]);
});

it('ZK-1277, ZK-2789, ZK-4883: writes continue in the next epoch after the last zxid of one, and a restart has all of them', async () => {
  const ensemble = await serving({ tuning: { firstCounter: 0xffff_fff0 } });
  const epochOf = (zxid: number) => Math.floor(zxid / 2 ** 32);
  const all: string[] = [];
  const zxids: number[] = [];
  // Pipelined: the leader needs more zxids at once than its epoch has left.
  for (let round = 0; round < 3; round++) {
    const client = await connected(ensemble, ensemble.leader);
    const xids = names(`r${round}`, 40).map((path) => ({ path, xid: client.create(path) }));
    const isDone = () => xids.every(({ xid }) => client.errorOf(xid) !== undefined);
    await ensemble.until(() => client.closed || isDone(), `was round ${round} completed`);
    for (const { path, xid } of xids) {
      const reply = client.replies.find((one) => one.xid === xid);
      if (reply === undefined) continue;
      all.push(path);
      zxids.push(reply.zxid);
    }
    await everyoneServes(ensemble);
  }
  expect(zxids).toEqual([...zxids].sort((a, b) => a - b));
  expect(new Set(zxids.map(epochOf)).size).toBeGreaterThan(1);
  await restartAll(ensemble);
  await write(ensemble, await connected(ensemble, ensemble.leader), ['/after']);
  await expectEqual(ensemble);
  expect(await heldByEach(ensemble, all)).toEqual([all, all, all]);
});
