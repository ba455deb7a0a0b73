/**
 * Whole members under clients that ask for more than they take, or than there is room for.
 */
import { ErrorCode, OpCode, PathWatchRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import { connected, follower, notes, serving } from './scenario.js';

const MEGABYTE = 'x'.repeat(1_000_000);
const READS = 40;

function readAll(client: MemoryClient): readonly number[] {
  const read = { path: '/large', watch: false };
  return Array.from({ length: READS }, () => client.send(OpCode.getData, PathWatchRequest, read));
}

describe('reads of a large znode', () => {
  it('are all answered in order when they wait behind writes, and the connection lives', async () => {
    const ensemble = await serving();
    const client = await connected(ensemble, follower(ensemble));
    const created = client.create('/large', MEGABYTE);
    await ensemble.until(() => client.errorOf(created) === ErrorCode.ok, 'was it created');
    const xids = [
      client.create('/one'),
      ...readAll(client),
      client.create('/two'),
      ...readAll(client),
      client.create('/three'),
    ];
    const last = client.exists('/three');
    await ensemble.until(() => client.errorOf(last) !== undefined, 'was all answered');
    expect(client.replies.slice(1).map(({ xid }) => xid)).toEqual([...xids, last]);
    expect(new Set(client.replies.map(({ error }) => error))).toEqual(new Set([ErrorCode.ok]));
    expect(client.closed).toBe(false);
    expect(notes(ensemble, 'client.output_overflow')).toBe(0);
  });

  it('never have more than a few answers in memory', async () => {
    const ensemble = await serving();
    const member = follower(ensemble);
    const client = await connected(ensemble, member);
    const created = client.create('/large', MEGABYTE);
    await ensemble.until(() => client.errorOf(created) === ErrorCode.ok, 'was it created');
    client.stopReading();
    client.create('/one');
    readAll(client);
    client.create('/two');
    await ensemble.timers.advance(2_000);
    const other = await connected(ensemble, member);
    const two = other.exists('/two');
    await ensemble.until(() => other.errorOf(two) !== undefined, 'was the other one answered');
    // Nothing that comes behind the reads is done before the client takes their answers.
    expect(other.errorOf(two)).toBe(ErrorCode.noNode);
    client.resumeReading();
    await ensemble.until(() => client.replies.length === READS + 3, 'was all answered');
    expect(client.closed).toBe(false);
  });
});
