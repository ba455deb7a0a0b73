/**
 * What a sync shows, in whole members: all that was written before it, also what is still on its
 * way to the disks. A client whose connection broke asks by it whether its write was done.
 */
import { ErrorCode, OpCode, PathRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, follower, notes, serving, write } from './scenario.js';

/** More than a round trip to a quorum, less than any patience with a disk. */
const HANG_MS = 200;

async function resumed(
  ensemble: MemoryEnsemble,
  id: number,
  from: MemoryClient,
): Promise<MemoryClient> {
  const { connected: session } = from;
  if (session === null) throw new Error('there is no session to resume');
  const client = await ensemble.client(id);
  client.connect(session);
  await ensemble.until(() => client.connected !== null, `was the session resumed at ${id}`);
  return client;
}

describe('a sync', () => {
  it.each(['the same member', 'another member', 'the leader'])(
    'at %s shows the write of the lost connection that no quorum has written yet',
    async (where) => {
      const ensemble = await serving();
      const { leader } = ensemble;
      const origin = follower(ensemble);
      const other = 6 - leader - origin;
      const targets = new Map([
        ['the same member', origin],
        ['another member', other],
        ['the leader', leader],
      ]);
      const client = await connected(ensemble, origin);
      for (const id of [1, 2, 3]) ensemble.hang(id);
      client.create('/in-doubt');
      await ensemble.timers.advance(HANG_MS);
      client.drop();
      const next = await resumed(ensemble, targets.get(where) ?? 0, client);
      const synced = next.send(OpCode.sync, PathRequest, { path: '/' });
      const shown = next.exists('/in-doubt');
      await ensemble.timers.advance(HANG_MS);
      expect([synced, shown].map((xid) => next.errorOf(xid))).toEqual([undefined, undefined]);
      for (const id of [1, 2, 3]) ensemble.unhang(id);
      await ensemble.until(() => next.errorOf(shown) !== undefined, 'was it answered');
      expect([synced, shown].map((xid) => next.errorOf(xid))).toEqual([ErrorCode.ok, ErrorCode.ok]);
      expect(notes(ensemble, 'role.ended')).toBe(0);
    },
  );

  it('shows a write of another client that came in the same turn before it', async () => {
    const ensemble = await serving();
    const { leader } = ensemble;
    const [writer, reader] = [await connected(ensemble, leader), await connected(ensemble, leader)];
    await write(ensemble, writer, ['/before']);
    writer.create('/a');
    const synced = reader.send(OpCode.sync, PathRequest, { path: '/' });
    const shown = reader.exists('/a');
    await ensemble.until(() => reader.errorOf(shown) !== undefined, 'was it answered');
    expect([synced, shown].map((xid) => reader.errorOf(xid))).toEqual([ErrorCode.ok, ErrorCode.ok]);
  });

  it('shows a write before it that its leader held back for a larger batch', async () => {
    const ensemble = await serving();
    const { leader } = ensemble;
    const [writer, reader] = [await connected(ensemble, leader), await connected(ensemble, leader)];
    for (const id of [1, 2, 3]) ensemble.hang(id);
    writer.create('/undecided');
    await ensemble.timers.advance(HANG_MS);
    writer.create('/held');
    const synced = reader.send(OpCode.sync, PathRequest, { path: '/' });
    const shown = reader.exists('/held');
    await ensemble.timers.advance(HANG_MS);
    for (const id of [1, 2, 3]) ensemble.unhang(id);
    await ensemble.until(() => reader.errorOf(shown) !== undefined, 'was it answered');
    expect([synced, shown].map((xid) => reader.errorOf(xid))).toEqual([ErrorCode.ok, ErrorCode.ok]);
  });
});
