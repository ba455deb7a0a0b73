/** The fake is believed by many tests, so it is tested itself. */
import { getEventListeners } from 'node:events';
import {
  ConnectionLossError,
  NodeExistsError,
  NoNodeError,
  SessionExpiredError,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError, TransactionError } from '../api/errors.js';
import type { StateChange, WatchEvent } from '../api/values.js';
import { FakeClient } from './fake-client.js';
import { FakeServer } from './fake-server.js';

function pair() {
  const server = new FakeServer();
  return { server, one: new FakeClient(server), other: new FakeClient(server) };
}

describe('a fake server', () => {
  it('numbers sequential znodes by all children ever created', async () => {
    const { one } = pair();
    await one.create('/q');
    await one.create('/q/x');
    await one.delete('/q/x');
    const { path } = await one.create('/q/n-', null, { mode: 'ephemeralSequential' });
    expect(path).toBe('/q/n-0000000001');
  });

  it('undoes a multi whole when one operation fails', async () => {
    const { server, one } = pair();
    await one.create('/a', '1');
    const failed = one.multi([
      { kind: 'create', path: '/b' },
      { kind: 'setData', path: '/a', data: '2' },
      { kind: 'delete', path: '/a' },
      { kind: 'check', path: '/none' },
    ]);
    await expect(failed).rejects.toThrow(TransactionError);
    await expect(failed).rejects.toMatchObject({ failedIndex: 3 });
    expect(server.paths()).toEqual(['/a']);
    const { data, stat } = await one.getData('/a');
    expect([data?.toString(), stat.version]).toEqual(['1', 0]);
    expect((await one.exists('/'))?.numChildren).toBe(2);
  });

  it('deletes the ephemeral znodes of a session that ends, and tells the others', async () => {
    const { one, other } = pair();
    await one.create('/e', null, { mode: 'ephemeral' });
    const events: WatchEvent[] = [];
    await other.exists('/e', { watcher: (event) => events.push(event) });
    await one.close();
    await other.sync('/');
    expect(events).toMatchObject([{ type: 'deleted', path: '/e' }]);
  });
});

describe('a fake client', () => {
  it('puts one listener on a signal that many operations share, and takes it back', async () => {
    const { one } = pair();
    const { signal } = new AbortController();
    const pending = Array.from({ length: 20 }, () => one.exists('/a', { signal }));
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await Promise.all(pending);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('is told of a change before the reply that shows it', async () => {
    const { one, other } = pair();
    const order: string[] = [];
    await one.exists('/a', { watcher: ({ type }) => order.push(type) });
    void other.create('/a');
    await one.exists('/a').then(() => order.push('reply'));
    expect(order).toEqual(['created', 'reply']);
  });

  it('applies a request whose reply is lost, and does not one that is lost itself', async () => {
    const { server, one } = pair();
    one.failNext('create', 'reply-lost');
    const created = one.create('/a');
    await expect(created).rejects.toThrow(ConnectionLossError);
    await expect(created).rejects.toMatchObject({ ambiguous: true });
    one.failNext('create', 'request-lost');
    await expect(one.create('/b')).rejects.toMatchObject({ ambiguous: true });
    expect(server.paths()).toEqual(['/a']);
    await expect(one.create('/a')).rejects.toThrow(NodeExistsError);
  });

  it('keeps what was not sent for the connection that resumes the session', async () => {
    const { one } = pair();
    const states: string[] = [];
    one.onState(({ state }) => states.push(state));
    one.loseConnection();
    await one.create('/a');
    expect(states).toEqual(['suspended', 'connected']);
  });

  it('catches up one-shot watches and resyncs persistent ones when it comes back', async () => {
    const { one, other } = pair();
    await one.create('/a');
    const events: string[] = [];
    const watcher = ({ type, path }: WatchEvent) => events.push(`${type} ${path}`);
    await one.getData('/a', { watcher });
    await one.exists('/b', { watcher });
    await one.addWatch('/c', watcher, { recursive: true });
    one.comesBack = false;
    one.loseConnection();
    await other.delete('/a');
    await other.create('/b');
    one.comeBack();
    await one.sync('/');
    expect(events).toEqual(['deleted /a', 'created /b', 'resync /c']);
  });

  it('rejects everything pending when the session is lost, and opens another', async () => {
    const { one } = pair();
    const changes: StateChange[] = [];
    one.onState((change) => changes.push(change));
    const before = one.session;
    const sent = one.create('/a', null, { mode: 'ephemeral' });
    one.expire();
    await expect(sent).rejects.toThrow(SessionExpiredError);
    expect(before?.signal.aborted).toBe(true);
    const { id } = await one.connected();
    expect(id).not.toBe(before?.id);
    expect(changes.map(({ state }) => state)).toEqual(['lost', 'connecting', 'connected']);
    expect(changes.at(-1)?.newSession).toBe(true);
    expect(changes[0]?.lossCause).toBe('ended');
    await expect(one.exists('/a', { session: before?.id ?? 0n })).rejects.toThrow(
      SessionExpiredError,
    );
    expect(await one.exists('/a')).toBeNull();
  });

  it('tells one-shot watches of the loss of the session and of the close', async () => {
    const { one } = pair();
    const events: string[] = [];
    await one.exists('/a', { watcher: ({ type }) => events.push(type) });
    one.expire();
    await one.exists('/a', { watcher: ({ type }) => events.push(type) });
    await one.close();
    expect(events).toEqual(['lost', 'closed']);
    expect(one.watchCount).toBe(0);
    await expect(one.exists('/a')).rejects.toThrow(ClientClosedError);
  });

  it('gives up by signal, saying whether the server may have done it', async () => {
    const { one } = pair();
    const controller = new AbortController();
    const { signal } = controller;
    const write = one.create('/a', null, { signal });
    const read = one.exists('/a', { signal });
    controller.abort();
    await expect(write).rejects.toThrow(OperationAbortedError);
    await expect(write).rejects.toMatchObject({ ambiguous: true });
    await expect(read).rejects.toMatchObject({ ambiguous: false });
    await expect(one.delete('/none')).rejects.toThrow(NoNodeError);
  });
});
