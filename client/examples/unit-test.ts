/**
 * A unit test of code that uses a lock, without servers: what happens when the session is lost.
 *
 *   node --test unit-test.ts
 */
import { equal, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { type Lease, LeaseLostError, Lock } from '@rookery/client';
import { FakeClient, FakeServer, FakeSurroundings } from '@rookery/client/testing';

/** The code under test: works until its lease is over, and says why it is. */
async function workUnder({ signal }: Lease): Promise<unknown> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return signal.reason;
}

test('work ends with its lease when the session is lost, and the next in line has it', async () => {
  const server = new FakeServer();
  const surroundings = new FakeSurroundings();
  const one = new FakeClient(server, { surroundings });
  const two = new FakeClient(server, { surroundings });
  const work = workUnder(await new Lock(one, '/lock').acquire());
  const next = new Lock(two, '/lock').acquire();
  one.expire();
  ok((await work) instanceof LeaseLostError);
  equal((await next).held, true);
});
