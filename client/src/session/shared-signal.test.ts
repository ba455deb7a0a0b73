import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { ScriptedClient } from '../testing/scripted-client.js';
import { turn } from '../testing/scripted-server.js';

it('puts one listener on a signal that thousands of operations share, and takes it back', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const { client } = scripted;
  const controller = new AbortController();
  const { signal } = controller;
  const pending = Array.from({ length: 20_000 }, () => client.exists('/a', { signal }));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  const settled = Promise.allSettled(pending);
  controller.abort('enough');
  const outcomes = await settled;
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);
});

it('lets any number of listeners wait for the end of a session', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const { signal } = await scripted.client.connected();
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  for (let count = 0; count < 50; count++) signal.addEventListener('abort', () => undefined);
  await turn();
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});
