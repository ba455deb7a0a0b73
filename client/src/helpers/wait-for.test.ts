/** Waits against whatever may happen meanwhile; none may be missed and nothing may stay behind. */
import { OperationTimeoutError, SessionExpiredError, WatcherType } from '@rookery/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { ClientClosedError, OperationAbortedError } from '../api/errors.js';
import { FakeClient } from '../testing/fake-client.js';
import { FakeServer } from '../testing/fake-server.js';
import { FakeSurroundings } from '../testing/fake-surroundings.js';
import { waitForData, waitForDeletion, waitForExistence } from './wait-for.js';

const surroundings = new FakeSurroundings();
const clients: FakeClient[] = [];

function setUp() {
  const server = new FakeServer();
  const client = new FakeClient(server, { surroundings });
  clients.push(client);
  return { server, client, other: new FakeClient(server) };
}

async function turns(): Promise<void> {
  for (let index = 0; index < 10; index++) await new Promise(setImmediate);
}

afterEach(() => {
  for (const client of clients.splice(0)) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
  expect(surroundings.timerCount).toBe(0);
});

describe('waiting for existence', () => {
  it('ends at once when it is there, and when it comes', async () => {
    const { client, other } = setUp();
    const coming = waitForExistence(client, '/a');
    await turns();
    const { stat } = await other.create('/a');
    expect(await coming).toEqual(stat);
    expect(await waitForExistence(client, '/a')).toEqual(stat);
  });

  it('misses nothing when it is created while the connection is lost', async () => {
    const { client, other } = setUp();
    const coming = waitForExistence(client, '/a');
    await turns();
    client.comesBack = false;
    client.loseConnection();
    await other.create('/a');
    client.comeBack();
    await coming;
  });

  it('goes on when the look itself is lost', async () => {
    const { client, other } = setUp();
    client.failNext('exists', 'reply-lost', 3);
    const coming = waitForExistence(client, '/a');
    await surroundings.settle();
    await other.create('/a');
    await coming;
  });

  it('looks again when it is gone by the time it looks, and when its watch is taken away', async () => {
    const { client, server, other } = setUp();
    const coming = waitForExistence(client, '/a');
    await turns();
    await client.removeWatches('/a', WatcherType.any);
    client.onSend = ({ op }) => {
      if (op === 'exists' && server.stat('/a') !== null) server.delete('/a');
      client.onSend = null;
    };
    await turns();
    await other.create('/a');
    await turns();
    if (server.stat('/a') === null) await other.create('/a');
    await coming;
  });

  it('ends with its session, with the client, by its signal and by its deadline', async () => {
    const { client } = setUp();
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = expect(waitForExistence(client, '/a', { signal })).rejects.toThrow(
      OperationAbortedError,
    );
    const late = expect(waitForExistence(client, '/a', { timeoutMs: 100 })).rejects.toThrow(
      OperationTimeoutError,
    );
    const expired = expect(waitForExistence(client, '/a')).rejects.toThrow(SessionExpiredError);
    await turns();
    controller.abort();
    await aborted;
    surroundings.advance(99);
    expect(surroundings.timerCount).toBe(1);
    surroundings.advance(1);
    await late;
    client.expire();
    await expired;
    await turns();
    const closed = expect(waitForExistence(client, '/a')).rejects.toThrow(ClientClosedError);
    await turns();
    await client.close();
    await closed;
  });

  it('does not begin with an aborted signal or in a session that is over', async () => {
    const { client } = setUp();
    const signal = AbortSignal.abort();
    await expect(waitForExistence(client, '/', { signal })).rejects.toThrow(OperationAbortedError);
    const session = 1n;
    await expect(waitForExistence(client, '/', { session })).rejects.toThrow(SessionExpiredError);
  });
});

describe('waiting for deletion', () => {
  it('ends at once when it is not there, and when it goes', async () => {
    const { client, other } = setUp();
    await waitForDeletion(client, '/a');
    await other.create('/a', null, { mode: 'ephemeral' });
    const going = waitForDeletion(client, '/a');
    await turns();
    await other.setData('/a', 'x');
    await turns();
    await other.close();
    await going;
  });
});

describe('waiting for data', () => {
  it('asks about what is there first and after each change', async () => {
    const { client, other } = setUp();
    const seen: (string | null)[] = [];
    const coming = waitForData(client, '/a', (node) => {
      seen.push(node === null ? null : String(node.data));
      return node?.data?.toString() === '2';
    });
    await turns();
    await other.create('/a', '1');
    await turns();
    await other.setData('/a', '2');
    expect((await coming)?.stat.version).toBe(1);
    expect(seen).toEqual([null, '1', '2']);
  });

  it('reads what is created between its two looks', async () => {
    const { client, server } = setUp();
    client.onSend = ({ op, path }) => {
      if (op !== 'exists') return;
      client.onSend = null;
      server.create({ path, data: 'x', mode: 'persistent', acl: undefined, session: 0n });
    };
    const node = await waitForData(client, '/a', (found) => found !== null);
    expect(node?.data?.toString()).toBe('x');
  });

  it('rejects with what the predicate throws', async () => {
    const { client } = setUp();
    const failing = waitForData(client, '/a', () => {
      throw new RangeError('no');
    });
    await expect(failing).rejects.toThrow(RangeError);
  });
});
