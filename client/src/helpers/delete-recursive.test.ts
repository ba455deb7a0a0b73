/** Deleting trees that others change meanwhile: what stays, what is asked, what is told. */
import { BadArgumentsError, NoAuthError, NotEmptyError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { OperationAbortedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { deleteRecursive } from './delete-recursive.js';

function setUp() {
  const surroundings = new FakeSurroundings();
  const server = new FakeServer();
  return { surroundings, server, client: new FakeClient(server, { surroundings }) };
}

function plant(server: FakeServer, ...paths: readonly string[]): void {
  for (const path of paths) {
    server.create({ path, data: null, mode: 'persistent', acl: undefined, session: 0n });
  }
}

it('deletes a tree of any shape, and says whether there was one', async () => {
  const { client, server } = setUp();
  plant(server, '/t', '/t/a', '/t/a/b', '/t/a/b/c', '/t/d', '/t/e', '/other');
  expect(await deleteRecursive(client, '/t')).toBe(true);
  expect(await deleteRecursive(client, '/t')).toBe(false);
  expect(server.paths()).toEqual(['/other']);
});

it('deletes many leaves by few multis', async () => {
  const { client, server } = setUp();
  plant(server, '/t', ...Array.from({ length: 1_000 }, (_, index) => `/t/n${index}`));
  await deleteRecursive(client, '/t', { batchSize: 100 });
  expect(server.paths()).toEqual([]);
  expect([client.sentCount('multi'), client.sentCount('delete')]).toEqual([10, 2]);
});

it('keeps a multi below what fits in a frame when paths are long', async () => {
  const { client, server } = setUp();
  const long = 'x'.repeat(10_000);
  plant(server, '/t', ...Array.from({ length: 100 }, (_, index) => `/t/${long}${index}`));
  await deleteRecursive(client, '/t', { batchSize: 1_000 });
  expect(client.sentCount('multi')).toBeGreaterThan(3);
});

it('may leave the znode itself, and the root of all must stay', async () => {
  const { client, server } = setUp();
  plant(server, '/t', '/t/a', '/u');
  expect(await deleteRecursive(client, '/t', { deleteSelf: false })).toBe(true);
  expect(server.paths()).toEqual(['/t', '/u']);
  await expect(deleteRecursive(client, '/')).rejects.toThrow(BadArgumentsError);
  await deleteRecursive(client, '/', { deleteSelf: false });
  expect([server.paths(), server.stat('/zookeeper/config')?.version]).toEqual([[], 0]);
});

it('deletes a namespace through its root', async () => {
  const { client, server } = setUp();
  plant(server, '/ns', '/ns/zookeeper', '/ns/a');
  await deleteRecursive(client.namespace('/ns'), '/');
  expect(server.paths()).toEqual([]);
});

it('passes over what another deletes in between', async () => {
  const { client, server } = setUp();
  plant(server, '/t', '/t/a', '/t/b', '/t/c', '/t/c/d');
  client.onSend = ({ op }) => {
    if (op === 'multi' && server.stat('/t/b') !== null) server.delete('/t/b');
  };
  await deleteRecursive(client, '/t');
  expect(server.paths()).toEqual([]);
});

it('deletes what another creates in between', async () => {
  const { client, server } = setUp();
  plant(server, '/t', '/t/a');
  let created = 0;
  client.onSend = ({ op }) => {
    if (created > 6 || (op !== 'multi' && op !== 'delete')) return;
    if (server.stat('/t') !== null) plant(server, `/t/new${created}`);
    if (server.stat('/t/a') !== null) plant(server, `/t/a/new${created}`);
    created++;
  };
  await deleteRecursive(client, '/t');
  expect(server.paths()).toEqual([]);
  expect(created).toBe(7);
});

it('gives up on one who creates without end', async () => {
  const { client, server } = setUp();
  plant(server, '/t');
  let created = 0;
  client.onSend = ({ op, path }) => {
    if (op === 'delete' && path === '/t') plant(server, `/t/n${created++}`);
  };
  await expect(deleteRecursive(client, '/t')).rejects.toThrow(NotEmptyError);
});

it('works beside another who deletes the same', async () => {
  const { client, server } = setUp();
  plant(server, '/t', ...Array.from({ length: 500 }, (_, index) => `/t/n${index}`));
  const other = new FakeClient(server);
  const [one, two] = await Promise.all([
    deleteRecursive(client, '/t'),
    deleteRecursive(other, '/t'),
  ]);
  expect([one, two, server.paths()]).toEqual([true, true, []]);
});

it('goes on over lost requests and replies', async () => {
  const { client, server, surroundings } = setUp();
  plant(server, '/t', ...Array.from({ length: 20 }, (_, index) => `/t/n${index}`));
  client.failNext('multi', 'reply-lost');
  client.failNext('exists', 'request-lost', 2);
  client.failNext('delete', 'reply-lost', 2);
  const deleted = deleteRecursive(client, '/t', { batchSize: 5 });
  await surroundings.settle();
  expect(await deleted).toBe(true);
  expect(server.paths()).toEqual([]);
});

it('ends with its session, its signal and the first refusal', async () => {
  const { client, server } = setUp();
  plant(server, '/t', '/t/a', '/t/b');
  client.failNext('multi', new NoAuthError('/t/a'));
  await expect(deleteRecursive(client, '/t')).rejects.toThrow(NoAuthError);
  const controller = new AbortController();
  client.onSend = ({ op }) => {
    if (op === 'multi') controller.abort();
  };
  const aborted = deleteRecursive(client, '/t', { signal: controller.signal });
  await expect(aborted).rejects.toThrow(OperationAbortedError);
  client.onSend = null;
  plant(server, '/u', '/u/a');
  const expired = deleteRecursive(client, '/u');
  const lost = expect(expired).rejects.toMatchObject({ name: 'SessionExpiredError' });
  await Promise.resolve();
  client.expire();
  await lost;
});
