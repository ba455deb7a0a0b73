/**
 * Writes that go on after lost replies. Each test says what the server has gone through; what
 * counts is what stands at the end and whom the caller believes to have written it.
 */
import { BadArgumentsError, BadVersionError, NoAuthError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { noRetry } from '../api/retry-policy.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { idempotentCreate, idempotentDelete, idempotentSet } from './idempotent.js';

function setUp() {
  const surroundings = new FakeSurroundings();
  const server = new FakeServer();
  const client = new FakeClient(server, { surroundings });
  return { surroundings, server, client, other: new FakeClient(server) };
}

/** The outcome, with time passing until there is one. */
async function settled<T>(surroundings: FakeSurroundings, operation: Promise<T>): Promise<T> {
  const outcome = operation.then(
    (value) => ({ kind: 'value', value }) as const,
    (error: unknown) => ({ kind: 'error', error }) as const,
  );
  await surroundings.settle();
  const { kind, ...rest } = await outcome;
  expect(surroundings.timerCount).toBe(0);
  if (kind === 'value' && 'value' in rest) return rest.value;
  throw 'error' in rest ? rest.error : new Error('unreachable');
}

describe('idempotentCreate', () => {
  it.each(['persistent', 'ephemeral', 'container'] as const)(
    'knows its own %s znode when the reply was lost',
    async (mode) => {
      const { client, server, surroundings } = setUp();
      client.failNext('create', 'reply-lost');
      const created = await settled(surroundings, idempotentCreate(client, '/a', 'x', { mode }));
      expect(created).toEqual({ path: '/a', stat: server.stat('/a') });
      expect(client.sentCount('create')).toBe(2);
    },
  );

  it('creates it when the request was lost, and with its parents', async () => {
    const { client, server, surroundings } = setUp();
    client.failNext('create', 'request-lost', 3);
    await settled(surroundings, idempotentCreate(client, '/a/b', null, { parents: 'persistent' }));
    expect(server.paths()).toEqual(['/a', '/a/b']);
  });

  it('does not take a znode for its own that was there before', async () => {
    const { client, other, surroundings } = setUp();
    await other.create('/a', 'x');
    // Its very first request: it has seen no zxid that the znode could be older than.
    expect(client.lastZxidSeen).toBe(0n);
    client.failNext('create', 'request-lost');
    const refused = settled(surroundings, idempotentCreate(client, '/a', 'x'));
    await expect(refused).rejects.toMatchObject({ name: 'NodeExistsError', ambiguous: false });
  });

  it('does not take the znode of another for its own when the data differ', async () => {
    const { client, server, surroundings } = setUp();
    client.failNext('create', 'request-lost');
    const creating = idempotentCreate(client, '/a', 'x');
    await new Promise(setImmediate);
    server.create({ path: '/a', data: 'y', mode: 'persistent', acl: undefined, session: 0n });
    const refused = settled(surroundings, creating);
    await expect(refused).rejects.toMatchObject({ name: 'NodeExistsError', ambiguous: false });
  });

  it('never adopts the ephemeral znode of another session, not even of its own last one', async () => {
    const { client, server, surroundings } = setUp();
    const before = client.session?.id ?? 0n;
    await client.sync('/');
    client.failNext('create', 'reply-lost');
    client.comesBack = false;
    const crossing = idempotentCreate(client, '/a', 'x', { mode: 'ephemeral' });
    const lost = expect(settled(surroundings, crossing)).rejects.toMatchObject({
      name: 'SessionExpiredError',
      ambiguous: true,
    });
    await new Promise(setImmediate);
    client.loseSession();
    await lost;
    client.comeBack();
    expect(server.stat('/a')?.ephemeralOwner).toBe(before);
    client.failNext('create', 'request-lost');
    client.comesBack = true;
    const again = idempotentCreate(client, '/a', 'x', { mode: 'ephemeral' });
    const refused = settled(surroundings, again);
    await expect(refused).rejects.toMatchObject({ name: 'NodeExistsError', ambiguous: false });
  });

  it('says that it cannot tell when somebody has changed it since, or does not let it be read', async () => {
    const { client, server, surroundings } = setUp();
    await client.sync('/');
    client.failNext('create', 'reply-lost');
    const creating = idempotentCreate(client, '/a', 'x');
    await new Promise(setImmediate);
    server.setData('/a', 'z');
    const doubtful = { name: 'NodeExistsError', ambiguous: true };
    await expect(settled(surroundings, creating)).rejects.toMatchObject(doubtful);
    client.failNext('create', 'reply-lost');
    client.failNext('getData', new NoAuthError('/b'));
    const unreadable = settled(surroundings, idempotentCreate(client, '/b', 'x'));
    await expect(unreadable).rejects.toMatchObject(doubtful);
  });

  it('creates it again when it was deleted between being met and being read', async () => {
    const { client, server, surroundings } = setUp();
    client.failNext('create', 'reply-lost');
    client.onSend = ({ op }) => {
      if (op === 'getData' && server.stat('/a') !== null) server.delete('/a');
    };
    await settled(surroundings, idempotentCreate(client, '/a', 'x'));
    expect([server.paths(), client.sentCount('create')]).toEqual([['/a'], 3]);
  });

  it('asks for a name that can be looked for', async () => {
    const { client } = setUp();
    const refused = idempotentCreate(client, '/a-', null, { mode: 'ephemeralSequential' });
    await expect(refused).rejects.toThrow(BadArgumentsError);
  });

  it('gives up with the policy, and says that it may have been done', async () => {
    const { client } = setUp();
    client.failNext('create', 'reply-lost');
    const lost = idempotentCreate(client, '/a', null, { policy: noRetry });
    await expect(lost).rejects.toMatchObject({ name: 'ConnectionLossError', ambiguous: true });
  });
});

describe('idempotentSet', () => {
  it('sets once when the reply was lost: the version shows it', async () => {
    const { client, server, surroundings } = setUp();
    await client.create('/a', '0');
    for (const version of [0, -1]) {
      client.failNext('setData', 'reply-lost');
      await settled(surroundings, idempotentSet(client, '/a', 'x', { version }));
    }
    expect(server.stat('/a')?.version).toBe(2);
  });

  it('sets again when the request was lost', async () => {
    const { client, server, surroundings } = setUp();
    await client.create('/a', '0');
    client.failNext('setData', 'request-lost', 2);
    const stat = await settled(surroundings, idempotentSet(client, '/a', 'x', { version: 0 }));
    expect([stat.version, server.read('/a').data?.toString()]).toEqual([1, 'x']);
  });

  it('knows its own write at a member that is behind until it has synced', async () => {
    const { client, server, surroundings } = setUp();
    await client.create('/a', '0');
    const old = await client.getData('/a');
    const read = client.getData.bind(client);
    client.getData = async (...given) => {
      const isBehind = client.sentCount('sync') === 0;
      return isBehind ? old : await read(...given);
    };
    client.failNext('setData', 'reply-lost');
    const stat = await settled(surroundings, idempotentSet(client, '/a', 'x', { version: 0 }));
    expect(stat).toEqual(server.stat('/a'));
    expect(stat.version).toBe(1);
  });

  it('does not take the same data for its own that was there before', async () => {
    const { client, server, surroundings } = setUp();
    await client.create('/a', 'x');
    await client.sync('/');
    client.failNext('setData', 'request-lost');
    await settled(surroundings, idempotentSet(client, '/a', 'x'));
    expect(server.stat('/a')?.version).toBe(1);
  });

  it('tells who was faster', async () => {
    const { client, server, surroundings } = setUp();
    await client.create('/a', '0');
    client.failNext('setData', 'request-lost');
    const setting = idempotentSet(client, '/a', 'x', { version: 0 });
    await new Promise(setImmediate);
    server.setData('/a', 'y');
    const faster = { name: 'BadVersionError', ambiguous: false };
    await expect(settled(surroundings, setting)).rejects.toMatchObject(faster);
    expect(server.read('/a').data?.toString()).toBe('y');
    client.failNext('setData', 'reply-lost');
    const ours = idempotentSet(client, '/a', 'x', { version: 1 });
    await new Promise(setImmediate);
    server.setData('/a', 'z');
    const open = { name: 'BadVersionError', ambiguous: true };
    await expect(settled(surroundings, ours)).rejects.toMatchObject(open);
  });
});

describe('idempotentDelete', () => {
  it('says whether it was this call that deleted', async () => {
    const { client, surroundings } = setUp();
    expect(await idempotentDelete(client, '/none')).toBe(false);
    await client.create('/a');
    client.failNext('delete', 'reply-lost');
    expect(await settled(surroundings, idempotentDelete(client, '/a'))).toBe(true);
    await client.create('/b');
    client.failNext('delete', 'request-lost');
    expect(await settled(surroundings, idempotentDelete(client, '/b', { version: 0 }))).toBe(true);
    expect(client.fake.paths()).toEqual([]);
  });

  it('goes by the version', async () => {
    const { client } = setUp();
    await client.create('/a');
    await expect(idempotentDelete(client, '/a', { version: 1 })).rejects.toThrow(BadVersionError);
  });
});
