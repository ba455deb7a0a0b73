/**
 * Goal: tracing libraries see each operation from its call to its settlement, and observers each
 * change of state; nobody pays while nobody listens.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { expect, it, onTestFinished } from 'vitest';
import { ScriptedClient } from '../testing/scripted-client.js';
import { dataBody, turn } from '../testing/scripted-server.js';
import type { OperationTrace, StateMessage } from './diagnostics.js';

const traces = tracingChannel<OperationTrace, OperationTrace>('rookery:client:operation');
type Told = [string, OperationTrace];

function listen(): Told[] {
  const told: Told[] = [];
  const names = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
  const subscribers = Object.fromEntries(
    names.map((name) => [name, (trace: unknown) => told.push([name, trace as OperationTrace])]),
  );
  traces.subscribe(subscribers as never);
  onTestFinished(() => traces.unsubscribe(subscribers as never));
  return told;
}

it('traces an operation that succeeds, one that fails and one that never leaves', async () => {
  const told = listen();
  const scripted = new ScriptedClient({ name: 'orders' });
  const waiting = scripted.client.getData('/waiting', { timeoutMs: 5 });
  waiting.catch(() => undefined);
  scripted.surroundings.advance(5);
  await waiting.catch(() => undefined);
  await scripted.accept();
  const good = scripted.client.getData('/good');
  const bad = scripted.client.getData('/bad');
  bad.catch(() => undefined);
  await turn();
  scripted.network.last.reply({ zxid: 9, body: dataBody('x') });
  scripted.network.last.reply({ zxid: 9, error: -101 });
  await good;
  await bad.catch(() => undefined);
  const of = (path: string) => told.filter(([, trace]) => trace.path === path);
  expect(of('/good').map(([name]) => name)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd']);
  const failed = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'];
  expect(of('/bad').map(([name]) => name)).toEqual(failed);
  expect(of('/waiting').map(([name]) => name)).toEqual(failed);
  const [good0, bad0, waiting0] = ['/good', '/bad', '/waiting'].map((path) => of(path)[0]?.[1]);
  expect(good0).toMatchObject({ client: 'orders', op: 'getData', server: 'a:2181', zxid: 9n });
  expect(good0?.error).toBeUndefined();
  expect(bad0?.error).toMatchObject({ name: 'NoNodeError' });
  expect(waiting0).toMatchObject({ server: null, error: { name: 'OperationTimeoutError' } });
  expect(new Set(of('/good').map(([, trace]) => trace)).size).toBe(1);
});

it('runs the call within the stores that are bound to its start, and not the caller', async () => {
  const storage = new AsyncLocalStorage<string>();
  const start = channel('tracing:rookery:client:operation:start');
  start.bindStore(storage, (trace) => `span of ${(trace as OperationTrace).op}`);
  onTestFinished(() => {
    start.unbindStore(storage);
  });
  const seen: (string | undefined)[] = [];
  const onStart = () => seen.push(storage.getStore());
  traces.start.subscribe(onStart);
  onTestFinished(() => {
    traces.start.unsubscribe(onStart);
  });
  const scripted = new ScriptedClient();
  await scripted.accept();
  const read = scripted.client.getData('/a');
  expect(storage.getStore()).toBeUndefined();
  await turn();
  scripted.network.last.reply({ zxid: 1, body: dataBody('x') });
  await read;
  expect(seen).toEqual(['span of getData']);
});

it('tells each state, the one before and how long that lasted', async () => {
  const messages: StateMessage[] = [];
  const onState = (message: unknown) => messages.push(message as StateMessage);
  subscribe('rookery:client:state', onState);
  onTestFinished(() => {
    unsubscribe('rookery:client:state', onState);
  });
  const scripted = new ScriptedClient({ name: 'orders' });
  await scripted.pass(50, 10);
  await scripted.accept(7);
  await scripted.pass(1_000);
  scripted.network.last.close();
  expect(messages).toMatchObject([
    { client: 'orders', from: 'connecting', state: 'connected', server: 'a:2181', sessionId: 7n },
    { client: 'orders', from: 'connected', state: 'suspended', server: null, sessionId: 7n },
  ]);
  expect(messages.map(({ fromMs }) => fromMs)).toEqual([50, 1_000]);
});
