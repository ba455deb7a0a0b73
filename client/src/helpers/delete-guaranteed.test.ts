/** Deletions in the background against lost replies, sessions and closes, on manual time. */
import {
  ConnectionLossError,
  NotEmptyError,
  NotReadOnlyError,
  SessionExpiredError,
  ThrottledOpError,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { ClientClosedError, TooManyOutstandingError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { GuaranteedDeletions } from './delete-guaranteed.js';

function setUp() {
  const surroundings = new FakeSurroundings();
  const client = new FakeClient(new FakeServer(), { surroundings });
  return { surroundings, client, server: client.fake };
}

it('deletes at once when nothing is wrong, and is content when there is nothing', async () => {
  const { client, server } = setUp();
  await client.create('/a');
  await client.deleteGuaranteed('/a');
  await client.deleteGuaranteed('/none');
  expect(server.paths()).toEqual([]);
  expect(client.deletionCount).toBe(0);
  await new Promise(setImmediate);
  expect(client.listenerCount).toBe(0);
});

it('deletes although the request is lost, again and again', async () => {
  const { client, server, surroundings } = setUp();
  await client.create('/a');
  client.failNext('delete', 'request-lost', 5);
  client.failNext('delete', new ThrottledOpError('/a'), 3);
  const deleted = client.deleteGuaranteed('/a');
  expect(client.deletionCount).toBe(1);
  await surroundings.settle();
  await deleted;
  expect(server.paths()).toEqual([]);
  expect(client.sentCount('delete')).toBe(9);
  expect([client.deletionCount, surroundings.timerCount, client.listenerCount]).toEqual([0, 0, 0]);
});

it('goes on while the server is read-only, until there is a quorum again', async () => {
  const { client, server, surroundings } = setUp();
  await client.create('/a');
  client.failNext('delete', new NotReadOnlyError('/a'), 4);
  await expect(client.delete('/a')).rejects.toThrow(NotReadOnlyError);
  const deleted = client.deleteGuaranteed('/a');
  await surroundings.settle();
  await deleted;
  expect(server.paths()).toEqual([]);
});

it('is done when the reply is lost and there is nothing the next time', async () => {
  const { client, surroundings } = setUp();
  await client.create('/a');
  client.failNext('delete', 'reply-lost');
  const deleted = client.deleteGuaranteed('/a');
  await surroundings.settle();
  await deleted;
  expect(client.sentCount('delete')).toBe(2);
});

it('does not sit out its pause once there is a connection', async () => {
  const { client, surroundings } = setUp();
  client.comesBack = false;
  await client.create('/a');
  client.failNext('delete', 'request-lost');
  const deleted = client.deleteGuaranteed('/a');
  await new Promise(setImmediate);
  expect(surroundings.timerCount).toBe(1);
  client.comeBack();
  await deleted;
  expect([surroundings.nowMs(), surroundings.timerCount]).toEqual([0, 0]);
});

it('ends with the session it is for, and never touches the next one', async () => {
  const { client, server } = setUp();
  const session = client.session?.id ?? 0n;
  client.comesBack = false;
  client.loseConnection();
  const deleted = client.deleteGuaranteed('/e', { session });
  client.loseSession();
  server.create({ path: '/e', data: null, mode: 'persistent', acl: undefined, session: 0n });
  client.comeBack();
  await deleted;
  expect(client.sentCount('delete')).toBe(0);
  expect(server.paths()).toEqual(['/e']);
});

it('goes on in the next session when it is for none', async () => {
  const { client, server, surroundings } = setUp();
  await client.create('/a');
  client.loseConnection();
  const deleted = client.deleteGuaranteed('/a');
  client.expire();
  await surroundings.settle();
  await deleted;
  expect(server.paths()).toEqual([]);
});

it('rejects what the server refuses, and goes on with the rest', async () => {
  const { client, server } = setUp();
  await client.create('/a');
  await client.create('/a/b');
  await client.create('/c');
  const refused = client.deleteGuaranteed('/a');
  const deleted = client.deleteGuaranteed('/c');
  await expect(refused).rejects.toThrow(NotEmptyError);
  await deleted;
  expect(server.paths()).toEqual(['/a', '/a/b']);
});

it('ends with the close: what a session owned is gone, of the rest nobody knows', async () => {
  const { client, surroundings } = setUp();
  client.failNext('delete', new ThrottledOpError('/a'), 100);
  const session = client.session?.id ?? 0n;
  const ofSession = client.deleteGuaranteed('/e', { session });
  const unbound = client.deleteGuaranteed('/a');
  // Nobody has looked at it yet: that it is rejected must not end the process.
  await new Promise(setImmediate);
  await client.close();
  await ofSession;
  await expect(unbound).rejects.toThrow(ClientClosedError);
  await expect(client.deleteGuaranteed('/b')).rejects.toThrow(ClientClosedError);
  expect([client.deletionCount, surroundings.timerCount, client.listenerCount]).toEqual([0, 0, 0]);
});

it('turns none away that is for a session: nobody else would delete its znode', async () => {
  const { client, server } = setUp();
  const deletions = new GuaranteedDeletions(client, { deletionsMax: 2 });
  const { id: session } = await client.connected();
  const paths = ['/a', '/b', '/c', '/d'];
  for (const path of paths) await client.create(path);
  client.comesBack = false;
  client.loseConnection();
  const taken = paths.map((path) => deletions.add(path, { session }));
  expect(deletions.size).toBe(4);
  client.comeBack();
  await Promise.all(taken);
  expect(server.paths()).toEqual([]);
});

it('takes on what is added while it is about to stop, however near the end that is', async () => {
  const { client, server, surroundings } = setUp();
  const microtasksMax = 12;
  for (let microtasks = 0; microtasks <= microtasksMax; microtasks++) {
    await client.create('/a');
    await client.create('/b');
    await client.deleteGuaranteed('/a');
    for (let index = 0; index < microtasks; index++) await null;
    void client.deleteGuaranteed('/b');
    await surroundings.settle();
    expect(server.paths(), `added ${microtasks} microtasks after the last was done`).toEqual([]);
  }
  // So many, and it has stopped before: none of its last steps was left out.
  await client.create('/a');
  await client.deleteGuaranteed('/a');
  for (let index = 0; index < microtasksMax; index++) await null;
  expect(client.listenerCount).toBe(0);
});

it('has a bound for what is for no session', async () => {
  const { client } = setUp();
  const deletions = new GuaranteedDeletions(client, { deletionsMax: 2 });
  client.comesBack = false;
  client.loseConnection();
  const taken = [deletions.add('/a'), deletions.add('/b')];
  await expect(deletions.add('/c')).rejects.toThrow(TooManyOutstandingError);
  expect(deletions.size).toBe(2);
  client.comeBack();
  await Promise.all(taken);
  await deletions.add('/c');
});

it('works on a thousand at a time and keeps none', async () => {
  const { client, server, surroundings } = setUp();
  const paths = Array.from({ length: 1_000 }, (_, index) => `/n${index}`);
  for (const path of paths) void client.create(path);
  await client.sync('/');
  const deleted = paths.map((path) => client.deleteGuaranteed(path));
  client.loseConnection();
  await surroundings.settle();
  await Promise.all(deleted);
  expect(server.paths()).toEqual([]);
});

it('knows the errors that pass from those that do not', () => {
  expect(new ConnectionLossError().retryable).toBe(true);
  expect(new SessionExpiredError().retryable).toBe(false);
});
