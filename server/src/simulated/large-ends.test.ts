/**
 * What ends in many steps, in whole members: sessions with many ephemerals, connections with many
 * watches.
 */
import { type Codec, OpCode, SetWatchesRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { connected, expectEqual, follower, names, serving, write } from './scenario.js';

const MANY = 60;
/** More than a round trip to a quorum, less than any patience with a disk. */
const HANG_MS = 200;
const WATCHES = 12_000;
const EPHEMERAL = 1;
const NOTHING: Codec<null> = { read: () => null, write: () => undefined };

describe('the end of a session with many ephemerals', () => {
  it('is told to who asks for the session only when nothing of it is left', async () => {
    const ensemble = await serving({ tuning: { ephemeralsPerPart: 2 } });
    const { leader } = ensemble;
    const client = await connected(ensemble, follower(ensemble));
    const session = client.connected;
    if (session === null) throw new Error('no session was opened');
    await write(ensemble, client, ['/e']);
    const xids = names('e', MANY).map((name) => client.create(`/e${name}`, '', EPHEMERAL));
    await ensemble.until(() => xids.every((xid) => client.errorOf(xid) === 0), 'were they created');
    const left = () => ensemble.member(leader).status.ephemeralCount;
    expect(left()).toBe(MANY);

    let next = await ensemble.client(leader);
    // Nothing is decided while the disks hang: all of the end is still to come.
    for (const id of [1, 2, 3]) ensemble.hang(id);
    client.send(OpCode.closeSession, NOTHING, null);
    await ensemble.timers.advance(HANG_MS);
    client.drop();
    next.connect(session);
    await ensemble.timers.advance(HANG_MS);
    expect([next.connected, left()]).toEqual([null, MANY]);
    for (const id of [1, 2, 3]) ensemble.unhang(id);
    // A client that asks while the session ends in parts is cut off, and asks again.
    for (let tries = 0; next.connected === null && tries < MANY; tries++) {
      const asking = next;
      const isSettled = () => asking.connected !== null || asking.closed;
      await ensemble.until(isSettled, 'was the handshake answered or the connection ended');
      if (asking.connected !== null) break;
      next = await ensemble.client(leader);
      next.connect(session);
    }
    expect([next.connected?.timeoutMs, left()]).toEqual([0, 0]);
    await expectEqual(ensemble);
  });
});

describe('a connection with many watches that is gone', () => {
  it('has none when some turns are over', async () => {
    const ensemble = await serving();
    const { leader } = ensemble;
    const client = await connected(ensemble, leader);
    const existWatches = names('w', WATCHES);
    const xid = client.send(OpCode.setWatches, SetWatchesRequest, {
      relativeZxid: 0,
      dataWatches: [],
      existWatches,
      childWatches: [],
    });
    await ensemble.until(() => client.errorOf(xid) === 0, 'were the watches set');
    const count = () => ensemble.member(leader).status.watches.all;
    expect(count()).toBe(WATCHES);
    client.drop();
    await ensemble.until(() => count() === 0, 'are all watches released');
  });
});
