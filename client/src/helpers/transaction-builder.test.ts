import { InvalidStateError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { TransactionError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';

it('commits what was collected, in order, in one multi', async () => {
  const client = new FakeClient();
  const results = await client
    .transaction()
    .create('/a', 'x', { mode: 'ephemeral' })
    .setData('/a', 'y', { version: 0 })
    .check('/a', { version: 1 })
    .create('/b')
    .delete('/b')
    .commit();
  expect(results.map(({ kind }) => kind)).toEqual([
    'create',
    'setData',
    'check',
    'create',
    'delete',
  ]);
  expect(client.sentCount('multi')).toBe(1);
  expect(client.fake.paths()).toEqual(['/a']);
});

it('tells the operation at fault', async () => {
  const failed = new FakeClient().transaction().create('/a').delete('/none').commit();
  await expect(failed).rejects.toThrow(TransactionError);
  await expect(failed).rejects.toMatchObject({ failedIndex: 1, error: { path: '/none' } });
});

it('is committed once, also when that failed', async () => {
  const client = new FakeClient();
  const transaction = client.transaction().create('/a');
  client.failNext('multi', 'request-lost');
  await expect(transaction.commit()).rejects.toMatchObject({ ambiguous: true });
  await expect(transaction.commit()).rejects.toThrow(InvalidStateError);
  expect(() => transaction.delete('/a')).toThrow(InvalidStateError);
  expect(client.fake.paths()).toEqual([]);
});
