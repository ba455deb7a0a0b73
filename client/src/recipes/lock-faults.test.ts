/**
 * Lock on an in-memory server when replies, connections, sessions and znodes are lost at the worst
 * moment. Tests named by an issue are of a defect that another library had.
 */
import { describe, expect, it } from 'vitest';
import { LeaseReleasedError } from '../api/errors.js';
import { lossCauseOf, namesIn, newLocks, PATH, turns, until } from '../testing/lock-world.js';
import { Lock } from './lock.js';

describe('lost replies, connections and sessions', () => {
  it('find the znode again when the reply to the create was lost', async () => {
    const { server, one, lockOfOne } = newLocks();
    await one.create('/locks');
    await one.create(PATH);
    one.failNext('create', 'reply-lost');
    const lease = await lockOfOne.acquire();
    expect(namesIn(server)).toEqual([lease.path.slice(PATH.length + 1)]);
    expect(server.stat(lease.path)?.czxid).toBe(lease.fencingToken);
    await lease.release();
  });

  it('make the znode anew when the create was lost', async () => {
    const { server, one, lockOfOne } = newLocks();
    await one.create('/locks');
    await one.create(PATH);
    one.failNext('create', 'request-lost');
    const lease = await lockOfOne.acquire();
    expect(namesIn(server)).toHaveLength(1);
    await lease.release();
  });

  it('CURATOR-498: a znode of an earlier session is not adopted, though the GUID is ours', async () => {
    const { server, one, other, lockOfOne } = newLocks({ onSessionLost: 'rejoin' });
    await other.create('/locks');
    await other.create(PATH);
    const earlier = one.session?.id ?? 0n;
    // The create takes effect; its reply and then the session are lost; the server does not know.
    one.failNext('create', 'reply-lost');
    one.comesBack = false;
    const acquired = lockOfOne.acquire();
    await until(() => namesIn(server).length === 1);
    one.loseSession();
    one.comesBack = true;
    one.comeBack();
    await until(() => namesIn(server).length === 2);
    await turns(20);
    const names = namesIn(server).map((name) => server.stat(`${PATH}/${name}`)?.ephemeralOwner);
    expect(names).toContain(earlier);
    server.endSession(earlier);
    const lease = await acquired;
    expect(lease.sessionId).not.toBe(earlier);
    await lease.release();
  });

  it("CURATOR-604: a holder's new session waits until its old znode is gone", async () => {
    const { server, one, lockOfOne } = newLocks();
    const lease = await lockOfOne.acquire();
    one.loseSession();
    expect(lossCauseOf(lease)).toBe('expired');
    let isAcquired = false;
    const again = lockOfOne.acquire().then((next) => {
      isAcquired = true;
      return next;
    });
    await until(() => namesIn(server).length === 2);
    await turns(20);
    expect(isAcquired).toBe(false);
    server.endSession(lease.sessionId);
    const next = await again;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
  });

  it('CURATOR-206: the holder is told before the other gets the lock', async () => {
    const { server, one, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.acquire();
    const order: string[] = [];
    lease.signal.addEventListener('abort', () => order.push('lost'));
    const waiting = lockOfOther.acquire().then((next) => {
      order.push('acquired');
      return next;
    });
    await until(() => namesIn(server).length === 2);
    one.comesBack = false;
    one.loseConnection();
    await turns(10);
    one.loseSession();
    await turns(10);
    expect(order).toEqual(['lost']);
    server.endSession(lease.sessionId);
    await (await waiting).release();
    expect(order).toEqual(['lost', 'acquired']);
  });

  it('CURATOR-678: a release while the connection is lost leaves no znode', async () => {
    const { server, one, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.acquire();
    const waiting = lockOfOther.acquire();
    await until(() => namesIn(server).length === 2);
    one.comesBack = false;
    one.loseConnection();
    await lease.release();
    expect(lease.signal.reason).toBeInstanceOf(LeaseReleasedError);
    expect(namesIn(server)).toHaveLength(2);
    one.comesBack = true;
    one.comeBack();
    const next = await waiting;
    await next.release();
    await until(() => namesIn(server).length === 0);
  });

  it.each(['request-lost', 'reply-lost'] as const)(
    'a release whose delete suffers "%s" leaves no znode',
    async (fault) => {
      const { server, one, lockOfOne } = newLocks();
      const lease = await lockOfOne.acquire();
      one.failNext('delete', fault);
      await lease.release();
      await until(() => one.state === 'connected');
      await until(() => namesIn(server).length === 0);
    },
  );

  it('does not end a wait that the connection outlives', async () => {
    const { server, other, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.acquire();
    const waiting = lockOfOther.acquire();
    await until(() => other.watchCount === 1);
    other.comesBack = false;
    other.loseConnection();
    await lease.release();
    await turns(5);
    other.comesBack = true;
    other.comeBack();
    await (await waiting).release();
    expect(namesIn(server)).toEqual([]);
  });

  it('tries again when the parent is reaped between its creation and that of the znode', async () => {
    const { server, one, lockOfOne } = newLocks();
    let reaped = 0;
    one.onSend = ({ op, path }) => {
      const isContender = op === 'create' && path.startsWith(`${PATH}/`);
      if (!isContender || reaped >= 3 || server.stat(PATH) === null) return;
      reaped++;
      server.delete(PATH);
    };
    await (await lockOfOne.acquire()).release();
    expect(reaped).toBe(3);
  });
});

describe('a lease', () => {
  it('is lost when its znode is deleted by somebody else', async () => {
    const { other, lockOfOne } = newLocks();
    const lease = await lockOfOne.acquire();
    await other.delete(lease.path);
    await until(() => !lease.held);
    expect(lossCauseOf(lease)).toBe('deleted');
    await lease.release();
  });

  it('outlives a change of the data of its znode, and still sees its deletion', async () => {
    const { other, lockOfOne } = newLocks();
    const lease = await lockOfOne.acquire();
    for (let change = 0; change < 3; change++) {
      await other.setData(lease.path, `change ${change}`);
      await turns(5);
    }
    expect(lease.held).toBe(true);
    await other.delete(lease.path);
    await until(() => !lease.held);
  });

  it('is lost when the client is closed', async () => {
    const { one, lockOfOne } = newLocks();
    const lease = await lockOfOne.acquire();
    await one.close();
    expect(lossCauseOf(lease)).toBe('closed');
    await lease.release();
  });

  it('survives a lost connection, unless the policy is to abort', async () => {
    const { server, one, lockOfOne } = newLocks();
    const cautious = new Lock(one, '/locks/b', { onSuspended: 'abort' });
    const lease = await lockOfOne.acquire();
    const cautiousLease = await cautious.acquire();
    one.loseConnection();
    expect([lease.held, cautiousLease.held]).toEqual([true, false]);
    expect(lossCauseOf(cautiousLease)).toBe('suspended');
    await until(() => server.children('/locks/b').length === 0);
    expect(lease.held).toBe(true);
    await lease.release();
  });

  it('is not given while the connection is lost when the policy is to abort', async () => {
    const { one } = newLocks();
    const cautious = new Lock(one, PATH, { onSuspended: 'abort' });
    one.failNext('getData', 'reply-lost');
    const lease = await cautious.acquire();
    expect([lease.held, one.state]).toEqual([true, 'connected']);
    await lease.release();
  });

  it('is not given when the connection is lost in the very turn of the last answer', async () => {
    const { one } = newLocks();
    const cautious = new Lock(one, PATH, { onSuspended: 'abort' });
    const getData = one.getData.bind(one);
    let losses = 0;
    one.getData = async (path, options) => {
      const node = await getData(path, options);
      if (losses++ === 0) one.loseConnection();
      return node;
    };
    const lease = await cautious.acquire();
    expect([losses, lease.held, one.state]).toEqual([2, true, 'connected']);
    await lease.release();
  });

  it('goes to whoever is next when a waiter loses its znode', async () => {
    const { server, other, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.acquire();
    const waiting = lockOfOther.acquire();
    await until(() => other.watchCount === 1);
    const waiter = namesIn(server).find((name) => !lease.path.endsWith(name));
    server.delete(`${PATH}/${waiter}`);
    await lease.release();
    const next = await waiting;
    expect(next.path).not.toBe(`${PATH}/${waiter}`);
    await next.release();
    expect(namesIn(server)).toEqual([]);
  });
});
