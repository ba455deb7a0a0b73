import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { Client } from '../api/client.js';
import { ScriptedClient } from '../testing/scripted-client.js';
import { turn } from '../testing/scripted-server.js';

async function readSettings(client: Client): Promise<void> {
  await client.getData('/settings');
}

async function stackOfFailure(client: Client, scripted: ScriptedClient): Promise<string> {
  const failed = readSettings(client).catch((error: unknown) => error);
  await turn();
  scripted.network.last.reply({ error: ErrorCode.noNode });
  const error = await failed;
  return error instanceof Error ? (error.stack ?? '') : '';
}

it('shows in an error’s stack who awaits the operation', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const stack = await stackOfFailure(scripted.client, scripted);
  expect(stack).toMatch(/^NoNodeError: .*\/settings/);
  expect(stack).toContain('readSettings');
});

it('shows it in a namespace too', async () => {
  const scripted = new ScriptedClient();
  await scripted.accept(1);
  const stack = await stackOfFailure(scripted.client.namespace('/app'), scripted);
  expect(stack).toMatch(/^NoNodeError: .*: \/settings/);
  expect(stack).toContain('readSettings');
});
