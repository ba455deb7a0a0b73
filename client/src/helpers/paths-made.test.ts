/** ensurePath, createRecursive and upsert, alone and against those who delete what they create. */
import { NoAuthError, NodeExistsError, NoNodeError, UnimplementedError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { createRecursive } from './create-recursive.js';
import { ensurePath } from './ensure-path.js';
import { upsert } from './upsert.js';

function setUp() {
  const server = new FakeServer();
  return { server, client: new FakeClient(server) };
}

describe('ensurePath', () => {
  it('creates what is missing and nothing twice', async () => {
    const { client, server } = setUp();
    await client.create('/a');
    await ensurePath(client, '/a/b/c');
    await ensurePath(client, '/a/b/c');
    await ensurePath(client, '/');
    expect(server.paths()).toEqual(['/a', '/a/b', '/a/b/c']);
    const created = client.sent.filter(({ op }) => op === 'create').map(({ path }) => path);
    expect(created).toEqual(['/a', '/a/b/c', '/a/b', '/a/b/c']);
  });

  it('takes a znode that may not be read for one that is there', async () => {
    const { client } = setUp();
    client.failNext('exists', new NoAuthError('/a'));
    await ensurePath(client, '/a');
    expect(client.sentCount('create')).toBe(0);
  });

  it('creates a parent again that vanishes in between', async () => {
    const { client, server } = setUp();
    let vanished = 0;
    client.onSend = ({ op, path }) => {
      if (op !== 'create' || path !== '/a/b' || server.stat('/a') === null || vanished > 1) return;
      server.delete('/a');
      vanished++;
    };
    await ensurePath(client, '/a/b', { mode: 'container' });
    expect([vanished, server.paths()]).toEqual([2, ['/a', '/a/b']]);
  });

  it('gives up on one who deletes without end', async () => {
    const { client, server } = setUp();
    client.onSend = ({ op, path }) => {
      if (op === 'create' && path === '/a/b' && server.stat('/a') !== null) server.delete('/a');
    };
    await expect(ensurePath(client, '/a/b')).rejects.toThrow(NoNodeError);
  });

  it('is content when another was faster, and with persistent znodes where no containers are', async () => {
    const { client, server } = setUp();
    client.onSend = ({ op, path }) => {
      if (op === 'create' && server.stat(path) === null) {
        server.create({ path, data: null, mode: 'persistent', acl: undefined, session: 0n });
      }
    };
    await ensurePath(client, '/a');
    client.onSend = null;
    client.failNext('create', new UnimplementedError('/b'));
    await ensurePath(client, '/b', { mode: 'container' });
    expect(server.paths()).toEqual(['/a', '/b']);
  });

  it('creates the prefix of a namespace, and its parents', async () => {
    const { client, server } = setUp();
    await ensurePath(client.namespace('/x/y'), '/a');
    expect(server.paths()).toEqual(['/x', '/x/y', '/x/y/a']);
  });

  it('never calls its own lost reply ambiguous: a parent more does no harm', async () => {
    const { client } = setUp();
    client.failNext('create', 'reply-lost');
    await expect(ensurePath(client, '/a')).rejects.toMatchObject({
      name: 'ConnectionLossError',
      ambiguous: false,
      retryable: true,
      path: '/a',
    });
    await ensurePath(client, '/a');
  });
});

describe('createRecursive', () => {
  it('creates the parents, of the kind that was asked for, and the child with its options', async () => {
    const { client, server } = setUp();
    const created = await createRecursive(client, '/a/b/n-', 'x', {
      mode: 'ephemeralSequential',
      parents: 'container',
    });
    expect(created.path).toBe('/a/b/n-0000000000');
    expect(created.stat.ephemeralOwner).toBe(client.session?.id);
    expect(server.stat('/a/b')?.ephemeralOwner).toBe(0n);
    await createRecursive(client, '/q/', null, { mode: 'persistentSequential' });
    expect(server.paths()).toContain('/q/0000000000');
  });

  it('goes directly when the parent is there, and says when the child is', async () => {
    const { client } = setUp();
    await createRecursive(client, '/a');
    expect(client.sent.map(({ op }) => op)).toEqual(['create']);
    await expect(createRecursive(client, '/a')).rejects.toThrow(NodeExistsError);
  });

  it('is ambiguous about the child alone', async () => {
    const { client, server } = setUp();
    client.onSend = ({ op, path }) => {
      if (op === 'create' && path === '/a') client.failNext('create', 'reply-lost');
    };
    const lost = createRecursive(client, '/a/b');
    await expect(lost).rejects.toMatchObject({ path: '/a', ambiguous: false });
    client.onSend = null;
    client.failNext('create', 'reply-lost');
    await expect(createRecursive(client, '/a/b')).rejects.toMatchObject({ ambiguous: true });
    expect(server.paths()).toEqual(['/a', '/a/b']);
  });

  it('creates the root of a namespace', async () => {
    const { client, server } = setUp();
    const view = client.namespace('/x/y');
    expect((await createRecursive(view, '/', 'root')).path).toBe('/');
    await createRecursive(client.namespace('/z'), '/', null, { mode: 'persistentSequential' });
    expect(server.paths()).toEqual(['/x', '/x/y', '/z', '/z/0000000000']);
  });
});

describe('upsert', () => {
  it('creates, then sets', async () => {
    const { client, server } = setUp();
    expect(await upsert(client, '/a', '1')).toMatchObject({ path: '/a', created: true });
    expect(await upsert(client, '/a', '2')).toMatchObject({ created: false, stat: { version: 1 } });
    expect(server.read('/a').data?.toString()).toBe('2');
    await expect(upsert(client, '/b/c', '1')).rejects.toThrow(NoNodeError);
    await upsert(client, '/b/c', '1', { parents: 'persistent' });
    expect(server.paths()).toEqual(['/a', '/b', '/b/c']);
  });

  it('survives whoever creates and deletes between its two halves', async () => {
    const { client, server } = setUp();
    let races = 0;
    client.onSend = ({ op, path }) => {
      if (races++ > 6) return;
      if (op === 'setData' && server.stat(path) !== null) server.delete(path);
      if (op === 'create') {
        server.create({ path, data: null, mode: 'persistent', acl: undefined, session: 0n });
      }
    };
    await upsert(client, '/a', 'x');
    expect(server.read('/a').data?.toString()).toBe('x');
  });
});
