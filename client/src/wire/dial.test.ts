/**
 * A client whose name server stops answering: the address that a name had last is dialled, the
 * name is asked for once, and other names as ever. A connection that Node refuses to begin.
 */
import { expect, it, vi } from 'vitest';
import { ScriptedClient } from '../testing/scripted-client.js';
import { resolverBySystem, socketDial } from './dial.js';

const SESSION_MS = 20_000;

it('dials the last known address while a lookup hangs, and asks for each name once', async () => {
  const lookup = vi.fn(async (host: string): Promise<readonly string[]> => [`10.0.0.${host}`]);
  // The first lookups begin while the client is being made.
  let made: ScriptedClient | null = null;
  const setTimer = (delayMs: number, callback: () => void): (() => void) =>
    made?.surroundings.setTimer(delayMs, callback) ?? (() => undefined);
  const resolve = resolverBySystem(setTimer, lookup);
  const client = new ScriptedClient({ connectString: '1,2', resolve });
  made = client;
  client.network.onDial = (link) => link.close(new Error('refused'));
  await client.pass(SESSION_MS, 100);
  const dialled = () => client.network.links.map(({ address }) => address.ip);
  expect(new Set(dialled())).toEqual(new Set(['10.0.0.1', '10.0.0.2']));

  lookup.mockClear();
  lookup.mockImplementation((host) =>
    host === '1' ? new Promise(() => undefined) : Promise.resolve(['10.0.0.22']),
  );
  const before = dialled().length;
  await client.pass(SESSION_MS, 100);
  const after = dialled().slice(before);
  expect(new Set(after)).toEqual(new Set(['10.0.0.1', '10.0.0.22']));
  expect(lookup.mock.calls.filter(([host]) => host === '1')).toHaveLength(1);
  expect(lookup.mock.calls.filter(([host]) => host === '2').length).toBeGreaterThan(2);
  await client.client.close();
});

it('looks no address up that is one already', async () => {
  const lookup = vi.fn(async () => []);
  const resolve = resolverBySystem(() => () => undefined, lookup);
  expect([await resolve('10.0.0.1'), await resolve('::1')]).toEqual([['10.0.0.1'], ['::1']]);
  expect(lookup).not.toHaveBeenCalled();
});

it('reports options of TLS that Node refuses as the end of the connection', async () => {
  const tls = () => ({ ALPNProtocols: ['x'.repeat(256)] });
  const dial = socketDial({ tls, keepAlive: true });
  const address = { server: { host: 'localhost', port: 1 }, ip: '127.0.0.1' };
  const error = await new Promise((resolve) => {
    dial(address, { onOpen: () => undefined, onData: () => undefined, onClose: resolve });
  });
  expect(error).toMatchObject({ code: 'ERR_OUT_OF_RANGE' });
});
