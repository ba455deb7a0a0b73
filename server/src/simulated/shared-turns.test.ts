/**
 * Many clients that ask one member for more than fits a turn, before and behind their own writes.
 */
import { ErrorCode, OpCode, PathWatchRequest } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { MemoryClient } from './memory-client.js';
import { connected, follower, notes, serving } from './scenario.js';

const CLIENTS = 12;
const READS = 6;
const MEGABYTE = 'x'.repeat(1_000_000);

function readAll(client: MemoryClient): readonly number[] {
  const read = { path: '/large', watch: false };
  return Array.from({ length: READS }, () => client.send(OpCode.getData, PathWatchRequest, read));
}

it('answers every one of them in order, and drops none', async () => {
  const ensemble = await serving();
  const member = follower(ensemble);
  const clients: MemoryClient[] = [];
  for (let index = 0; index < CLIENTS; index++) clients.push(await connected(ensemble, member));
  const [first] = clients;
  if (first === undefined) throw new Error('no clients');
  const created = first.create('/large', MEGABYTE);
  await ensemble.until(() => first.errorOf(created) === ErrorCode.ok, 'was it created');
  const sent = clients.map((client, index) => [
    ...readAll(client),
    client.create(`/own-${index}`),
    ...readAll(client),
    client.create(`/last-${index}`),
    client.exists(`/last-${index}`),
  ]);
  const isAnswered = (client: MemoryClient, index: number): boolean =>
    client.errorOf(sent[index]?.at(-1) ?? -1) !== undefined;
  await ensemble.until(() => clients.every(isAnswered), 'was all answered');
  for (const [index, client] of clients.entries()) {
    const replies = client.replies.slice(index === 0 ? 1 : 0);
    expect(replies.map(({ xid }) => xid)).toEqual(sent[index]);
    expect(new Set(replies.map(({ error }) => error))).toEqual(new Set([ErrorCode.ok]));
    expect(client.closed).toBe(false);
  }
  expect(notes(ensemble, 'role.ended')).toBe(0);
});
