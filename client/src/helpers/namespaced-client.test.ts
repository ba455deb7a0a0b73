/** A view must be a client in all it says: nothing of the prefix may show, nothing may leak out. */
import {
  BadArgumentsError,
  ConnectionLossError,
  NoNodeError,
  WatcherType,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import {
  ClientClosedError,
  OperationAbortedError,
  OptionError,
  TransactionError,
} from '../api/errors.js';
import type { WatchEvent } from '../api/values.js';
import { FakeClient } from '../testing/fake-client.js';
import { NamespacedClient } from './namespaced-client.js';

async function setUp() {
  const client = new FakeClient();
  await client.create('/ns');
  return { client, server: client.fake, view: client.namespace('/ns') };
}

describe('paths of a view', () => {
  it('go below the prefix, and results come back without it', async () => {
    const { server, view } = await setUp();
    expect((await view.create('/a', 'x')).path).toBe('/a');
    expect((await view.create('/a/n-', null, { mode: 'persistentSequential' })).path).toBe(
      '/a/n-0000000000',
    );
    expect((await view.getData('/a')).data?.toString()).toBe('x');
    expect((await view.getChildren('/a')).children).toEqual(['n-0000000000']);
    expect(await view.countDescendants('/a')).toBe(1);
    expect(server.paths()).toEqual(['/ns', '/ns/a', '/ns/a/n-0000000000']);
  });

  it('have the prefix itself as their root', async () => {
    const { server, view } = await setUp();
    await view.setData('/', 'root');
    expect(server.read('/ns').data?.toString()).toBe('root');
    expect((await view.create('/', null, { mode: 'persistentSequential' })).path).toBe(
      '/0000000000',
    );
    await view.delete('/0000000000');
    await view.delete('/');
    expect((await view.create('/', 'again')).path).toBe('/');
    expect(server.paths()).toEqual(['/ns']);
  });

  it('cannot end up beside it', async () => {
    const { server, view } = await setUp();
    await expect(view.create('b')).rejects.toThrow(BadArgumentsError);
    await expect(view.create('')).rejects.toThrow(BadArgumentsError);
    await expect(view.create('/../b')).rejects.toThrow(BadArgumentsError);
    await expect(view.create('/b/')).rejects.toThrow(BadArgumentsError);
    expect(server.paths()).toEqual(['/ns']);
  });

  it('nest into one view with the longer prefix, and / is no namespace', async () => {
    const { client, server, view } = await setUp();
    const inner = view.namespace('/a').namespace('/b');
    expect([inner.prefix, view.namespace('/'), client.namespace('/')]).toEqual([
      '/ns/a/b',
      view,
      client,
    ]);
    expect(inner instanceof NamespacedClient && inner.base).toBe(client);
    await view.create('/a');
    await inner.create('/');
    expect(server.paths()).toEqual(['/ns', '/ns/a', '/ns/a/b']);
    expect(() => client.namespace('a')).toThrow(OptionError);
    expect(() => client.namespace('/a/')).toThrow(OptionError);
  });

  it('are cut in multis, their results and errors', async () => {
    const { view } = await setUp();
    const results = await view.multi([
      { kind: 'create', path: '/', mode: 'persistentSequential' },
      { kind: 'create', path: '/a' },
      { kind: 'check', path: '/' },
    ]);
    expect(results).toMatchObject([{ path: '/0000000000' }, { path: '/a' }, { kind: 'check' }]);
    const failed = await view
      .transaction()
      .check('/a')
      .delete('/none')
      .setData('/a', 'x')
      .commit()
      .catch((error: unknown) => error);
    if (!(failed instanceof TransactionError)) throw failed;
    expect(failed.failedIndex).toBe(1);
    expect(failed.error).toMatchObject({ name: 'NoNodeError', path: '/none' });
    expect(failed.results).toMatchObject([null, { path: '/none' }, { path: '/a' }]);
    expect(failed.message).not.toContain('/ns');
  });

  it('are cut in multiReads, each with its own error', async () => {
    const { view } = await setUp();
    const [children, missing] = await view.multiRead([
      { kind: 'getChildren', path: '/' },
      { kind: 'getData', path: '/none' },
    ]);
    expect(children).toMatchObject({ kind: 'getChildren' });
    expect(missing).toMatchObject({ kind: 'error', error: { path: '/none' } });
  });

  it('of ephemeral znodes are only those inside, beginning as asked', async () => {
    const { client, view } = await setUp();
    const mode = 'ephemeral';
    await client.create('/nsx', null, { mode });
    await view.create('/a', null, { mode });
    await view.create('/ab', null, { mode });
    expect([...(await view.getEphemerals())].sort()).toEqual(['/a', '/ab']);
    expect(await view.getEphemerals('/ab')).toEqual(['/ab']);
  });

  it('of children are listed', async () => {
    const { view } = await setUp();
    await view.create('/b');
    await view.create('/a');
    const names: string[] = [];
    for await (const name of view.listChildren('/')) names.push(name);
    expect(names).toEqual(['a', 'b']);
    const missing = view.listChildren('/none')[Symbol.asyncIterator]().next();
    await expect(missing).rejects.toMatchObject({ name: 'NoNodeError', path: '/none' });
  });
});

describe('errors of a view', () => {
  it('are of the same class, about the path as it was given, with the original behind', async () => {
    const { client, view } = await setUp();
    const missing = view.getData('/none');
    await expect(missing).rejects.toThrow(NoNodeError);
    await expect(missing).rejects.toMatchObject({ path: '/none', ambiguous: false });
    await expect(missing).rejects.toMatchObject({ cause: { path: '/ns/none' } });
    client.failNext('create', 'reply-lost');
    const lost = view.create('/a');
    await expect(lost).rejects.toThrow(ConnectionLossError);
    await expect(lost).rejects.toMatchObject({ path: '/a', ambiguous: true, retryable: true });
    await view.sync('/');
    const controller = new AbortController();
    const aborted = view.create('/b', null, { signal: controller.signal });
    controller.abort('why');
    await expect(aborted).rejects.toThrow(OperationAbortedError);
    await expect(aborted).rejects.toMatchObject({ path: '/b', ambiguous: true, cause: 'why' });
  });
});

describe('watches of a view', () => {
  it('tell its own paths', async () => {
    const { client, view } = await setUp();
    const events: WatchEvent[] = [];
    const watcher = (event: WatchEvent) => events.push(event);
    await view.getChildren('/', { watcher });
    await view.exists('/a', { watcher });
    await client.create('/ns/a');
    await client.sync('/');
    expect(events).toMatchObject([
      { type: 'created', path: '/a' },
      { type: 'childrenChanged', path: '/' },
    ]);
  });

  it('call a watcher once that was given twice, and not once it is removed', async () => {
    const { client, view } = await setUp();
    const events: string[] = [];
    const watcher = ({ path }: WatchEvent) => events.push(path);
    await view.exists('/a', { watcher });
    await view.exists('/a', { watcher });
    await view.exists('/b', { watcher });
    expect(client.watchCount).toBe(2);
    view.removeWatcher('/b', watcher);
    await client.create('/ns/b');
    await client.create('/ns/a');
    await client.sync('/');
    expect(events).toEqual(['/a']);
    expect(client.watchCount).toBe(0);
    view.removeWatcher('/b', () => undefined);
  });

  it('are removed by type and by handle', async () => {
    const { client, view } = await setUp();
    const events: string[] = [];
    const watcher = ({ type, path }: WatchEvent) => events.push(`${type} ${path}`);
    await view.getData('/', { watcher });
    await view.removeWatches('/', WatcherType.any);
    const handle = await view.addWatch('/a', watcher, { recursive: true });
    expect(handle.path).toBe('/a');
    await client.create('/ns/a');
    await handle.remove();
    await client.delete('/ns/a');
    await client.sync('/');
    expect(events).toEqual(['removed /', 'created /a']);
    expect(client.watchCount).toBe(0);
  });

  it('stream', async () => {
    const { client, view } = await setUp();
    const stream = view.watch('/', { recursive: true });
    void client.create('/ns/a');
    for await (const event of stream) {
      expect(event).toMatchObject({ type: 'created', path: '/a' });
      break;
    }
    expect(client.watchCount).toBe(0);
  });

  it('on the configuration are not below the prefix', async () => {
    const { client, server, view } = await setUp();
    const events: string[] = [];
    const watcher = ({ path }: WatchEvent) => events.push(path);
    await view.getConfig({ watcher });
    server.setData('/zookeeper/config', 'x');
    await client.sync('/');
    expect(events).toEqual(['/zookeeper/config']);
    await view.getConfig({ watcher });
    view.removeWatcher('/zookeeper/config', watcher);
    expect(client.watchCount).toBe(0);
  });
});

it('session, states and close are those of the client', async () => {
  const { client, view } = await setUp();
  expect(view.session).toBe(client.session);
  expect(await view.connected()).toBe(client.session);
  await view.deleteGuaranteed('/none');
  expect(client.sent.at(-1)).toEqual({ op: 'delete', path: '/ns/none' });
  await view.close();
  expect([view.state, client.state]).toEqual(['closed', 'closed']);
  await expect(view.exists('/')).rejects.toThrow(ClientClosedError);
});
