/** A fence lets through who stands in the server's tree at that moment, and nobody else. */
import { BadVersionError, InvalidStateError, NodeExistsError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import { LeaseLostError, LeaseReleasedError, TransactionError } from '../api/errors.js';
import type { Lease, LeaseGuard } from '../api/lease.js';
import type { CreateMode } from '../api/values.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';

function pair() {
  const server = new FakeServer();
  return { server, one: new FakeClient(server), other: new FakeClient(server) };
}

async function take(
  client: Client,
  path: string,
  mode: CreateMode = 'ephemeralSequential',
  guards?: readonly LeaseGuard[],
): Promise<Lease & { readonly controller: AbortController }> {
  const created = await client.create(path, null, { mode });
  const controller = new AbortController();
  const release = async () => controller.abort(new LeaseReleasedError());
  return {
    path: created.path,
    sessionId: client.session?.id ?? 0n,
    fencingToken: created.stat.czxid,
    ...(guards === undefined ? {} : { guards }),
    controller,
    signal: controller.signal,
    held: true,
    release,
    [Symbol.asyncDispose]: release,
  };
}

const SET = [{ kind: 'create', path: '/done' }] as const;

it('commits while the znode stands, and gives the results of the operations alone', async () => {
  const { server, one } = pair();
  const lease = await take(one, '/l-');
  const results = await one.fenced(lease, SET);
  expect(results).toMatchObject([{ kind: 'create', path: '/done' }]);
  expect(server.paths()).toEqual(['/done', '/l-0000000001']);
});

it('commits nothing once the znode is deleted, although its holder does not know', async () => {
  const { server, one, other } = pair();
  const lease = await take(one, '/l-');
  await other.delete(lease.path);
  const refused = one.fenced(lease, SET);
  await expect(refused).rejects.toThrow(LeaseLostError);
  await expect(refused).rejects.toMatchObject({ lossCause: 'deleted', path: lease.path });
  expect(server.paths()).toEqual([]);
});

it('tells the index among the operations when one of them fails', async () => {
  const { one } = pair();
  const lease = await take(one, '/l-');
  const failed = one.fenced(lease, [
    { kind: 'check', path: '/' },
    { kind: 'create', path: '/zookeeper' },
  ]);
  await expect(failed).rejects.toThrow(TransactionError);
  const error = await failed.catch((reason: unknown) => reason);
  if (!(error instanceof TransactionError)) throw error;
  expect([error.failedIndex, error.results.length]).toEqual([1, 2]);
  expect(error.error).toBeInstanceOf(NodeExistsError);
});

it('sends nothing for a lease that is over', async () => {
  const { one } = pair();
  const lease = await take(one, '/l-');
  await lease.release();
  await expect(one.fenced(lease, SET)).rejects.toThrow(LeaseReleasedError);
  const other = await take(one, '/l-');
  one.expire();
  await expect(one.fenced(other, SET)).rejects.toMatchObject({ lossCause: 'expired' });
  expect(one.sentCount('multi')).toBe(0);
  await expect(one.fenced(other, SET, { session: 1n })).rejects.toThrow(InvalidStateError);
});

it('tells a lease on a fixed name from the next one by a guard that each holder raises', async () => {
  const { one, other } = pair();
  await one.create('/epoch');
  const raised = await one.setData('/epoch', null);
  const guards = [
    { path: '/lock', version: -1 },
    { path: '/epoch', version: raised.version },
  ];
  const lease = await take(one, '/lock', 'ephemeral', guards);
  await expect(one.fenced(lease, [{ kind: 'check', path: '/' }])).resolves.toHaveLength(1);
  await other.delete('/lock');
  await other.multi([
    { kind: 'create', path: '/lock', mode: 'ephemeral' },
    { kind: 'setData', path: '/epoch', data: null },
  ]);
  const refused = one.fenced(lease, SET);
  await expect(refused).rejects.toMatchObject({ lossCause: 'deleted' });
  await expect(refused).rejects.toMatchObject({ cause: { error: expect.any(BadVersionError) } });
});

it('finds the znode from a namespace: by the view it was taken in, or by guards anywhere', async () => {
  const { server, one } = pair();
  await one.create('/ns');
  const view = one.namespace('/ns');
  const taken = await take(view, '/l-');
  await view.fenced(taken, SET);
  const path = (await one.create('/held')).path;
  const lease = { ...taken, path, guards: [{ path, version: -1 }] };
  const failed = view.fenced(lease, SET);
  await expect(failed).rejects.toMatchObject({ failedIndex: 0, error: { path: '/done' } });
  await one.delete(path);
  await expect(view.fenced(lease, SET)).rejects.toThrow(LeaseLostError);
  expect(server.paths()).toContain('/ns/done');
});
