/** What `multi` and `mv` say of transactions that have more operations than servers allow. */
import { BadArgumentsError } from '@rookery/client';
import { FakeClient, FakeServer } from '@rookery/client/testing';
import { OperatorError } from '@rookery/server';
import { expect, it } from 'vitest';
import { Call } from '../../command/command.js';
import { Output } from '../../command/output.js';
import { surroundingsOf } from '../../simulated/surroundings.js';
import { mv } from './copying.js';
import { multi } from './transactions.js';

function newCalls() {
  const client = new FakeClient(new FakeServer());
  let said = '';
  const out = () => Promise.resolve();
  const error = async (text: string | Uint8Array) => {
    said += String(text);
  };
  const { signal } = new AbortController();
  const output = new Output({ format: 'table', out, error, isTerminal: true });
  const around = { ...surroundingsOf(output), client: () => Promise.resolve(client), signal };
  const call = (args: readonly unknown[], options = {}) => new Call(around, args, options);
  return { client, call, said: () => said };
}

it('says that the servers refuse a transaction for its number of operations', async () => {
  const { client, call } = newCalls();
  await client.create('/from');
  client.failNext('multi', new BadArgumentsError(), 2);
  await expect(mv(call(['/from', '/to']))).rejects.toThrow(
    new OperatorError(
      '/from needs 2 operations, more than the servers allow in one transaction (multiOpsMax): ' +
        'nothing is moved. Use cp -r, and rm -r when it is done.',
    ),
  );
  await expect(multi(call([['check /from', 'set /from x']]))).rejects.toThrow(
    new OperatorError(
      'These are 2 operations, more than the servers allow in one transaction (multiOpsMax): ' +
        'nothing is done.',
    ),
  );
});

it('leaves the reason of the client itself as it is', async () => {
  const { client, call } = newCalls();
  await client.create('/from');
  const local = new BadArgumentsError('/from', { cause: new Error('beyond 32 bits') });
  client.failNext('multi', local, 2);
  await expect(mv(call(['/from', '/to']))).rejects.toBe(local);
  await expect(multi(call([['check /from']]))).rejects.toBe(local);
});

it('mv --dry-run names multiOpsMax where its default does not suffice', async () => {
  const { client, call, said } = newCalls();
  await client.create('/from');
  for (let at = 1; at < 2_048; at++) await client.create(`/from/${at}`);
  await mv(call(['/from', '/to'], { dryRun: true }));
  expect(said()).toBe('Would move 2048 znodes.\n');
  await client.create('/from/2048');
  await mv(call(['/from', '/to'], { dryRun: true }));
  expect(said()).toContain(
    'Would move 2049 znodes. The servers must allow transactions of 4098 operations (multiOpsMax).',
  );
});
