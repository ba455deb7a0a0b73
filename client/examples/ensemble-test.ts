/**
 * Tests with real members, in the process of the tests: the leader dies under a client, and a
 * session expires. `npm install --save-dev @rookery/server` brings the members.
 *
 *   node --test ensemble-test.ts
 */
import { equal, notEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { connect, exponentialBackoff, retry } from '@rookery/client';
import { startEnsemble } from '@rookery/server/testing';

const PATIENTLY = exponentialBackoff({ baseMs: 20, maxMs: 500, attemptsMax: 20 });

test('what was acknowledged is there when the leader has died', async () => {
  await using ensemble = await startEnsemble({ size: 3 });
  await using zk = await connect(ensemble.connectString);
  await zk.create('/greeting', 'hello');
  const first = await ensemble.leader();
  await ensemble.kill(first.id);
  const next = await ensemble.leader();
  notEqual(next.id, first.id);
  const greeting = await retry(zk, PATIENTLY, async () => {
    await zk.sync('/greeting');
    return await zk.getData('/greeting');
  });
  equal(String(greeting.data), 'hello');
});

test('what an expired session has announced is gone', async () => {
  await using ensemble = await startEnsemble({ size: 3 });
  await using one = await connect(ensemble.connectString);
  await using other = await connect(ensemble.connectString);
  const { id } = await one.connected();
  await one.create('/here', 'one', { mode: 'ephemeral' });
  await ensemble.expireSession(id);
  await other.sync('/here');
  equal(await other.exists('/here'), null);
});
