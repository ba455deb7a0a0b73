import { OpCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ClientClosedError } from '../api/errors.js';
import { ScriptedClient } from '../testing/scripted-client.js';
import { dataBody, turn } from '../testing/scripted-server.js';

/** Nothing is left of it. */
function expectGone({ surroundings, network, keeper, registry }: ScriptedClient): void {
  expect(surroundings.timerCount).toBe(0);
  expect(network.liveCount).toBe(0);
  expect(keeper.outstandingCount).toBe(0);
  expect(registry.size).toBe(0);
}

it('ends the session after what is in flight, and tells watchers and the session signal', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const { client, network } = scripted;
  const events: string[] = [];
  const read = client.getData('/a', { watcher: ({ type }) => events.push(type) });
  const { signal } = client.session ?? {};
  await turn();
  const closing = client.close();
  expect(client.close()).toBe(closing);
  expect(client.state).toBe('closed');
  expect(signal?.reason).toBeInstanceOf(ClientClosedError);
  await expect(client.getData('/b')).rejects.toBeInstanceOf(ClientClosedError);
  await turn();
  expect(network.last.received.map(({ opcode }) => opcode)).toEqual([
    OpCode.getData,
    OpCode.closeSession,
  ]);
  network.last.reply({ body: dataBody('x') });
  network.last.reply();
  await closing;
  expect(String((await read).data)).toBe('x');
  expect(events).toEqual(['closed']);
  expectGone(scripted);
});

it('closes at once while no server is reachable', async () => {
  const scripted = new ScriptedClient();
  scripted.network.onDial = (link) => link.close(new Error('refused'));
  const pending = scripted.client.create('/a');
  pending.catch(() => undefined);
  await turn();
  await scripted.client.close();
  await expect(pending).rejects.toMatchObject({ name: 'ClientClosedError', ambiguous: false });
  expectGone(scripted);
});

it('resumes a suspended session to end it, if that does not take long', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  scripted.network.last.close();
  await scripted.nextHandshake();
  const closing = scripted.client.close();
  scripted.network.last.answerHandshake({ id: 1, timeoutMs: 9_000 });
  await turn();
  expect(scripted.network.last.received.map(({ opcode }) => opcode)).toEqual([OpCode.closeSession]);
  scripted.network.last.reply();
  await closing;
  expectGone(scripted);
});

it('closes in bounded time when the server does not answer', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const write = scripted.client.setData('/a', 'x');
  write.catch(() => undefined);
  const closing = scripted.client.close();
  await scripted.pass(3_000);
  await closing;
  await expect(write).rejects.toMatchObject({ name: 'ClientClosedError', ambiguous: true });
  expectGone(scripted);
});

it('is disposed of by closing', async () => {
  const scripted = new ScriptedClient();
  scripted.network.onDial = (link) => link.close(null);
  await scripted.client[Symbol.asyncDispose]();
  expect(scripted.client.state).toBe('closed');
  expectGone(scripted);
});
