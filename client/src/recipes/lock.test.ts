/**
 * Lock on an in-memory server while nothing is lost but patience. Lost replies, connections and
 * sessions are in lock-faults.test.ts, random ones in contention.test.ts.
 */
import { NoAuthError, NoNodeError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, LeaseLostError, LeaseReleasedError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { namesIn, newClient, newLocks, PATH, turns, until } from '../testing/lock-world.js';
import { Lock } from './lock.js';
import { LockTimeoutError } from './shared/errors.js';

describe('Lock', () => {
  it('is handed over in the order of asking, with growing tokens', async () => {
    const { server, lockOfOne, lockOfOther } = newLocks();
    const first = await lockOfOne.acquire();
    const got: string[] = [];
    const second = lockOfOther.acquire().then((lease) => {
      got.push('second');
      return lease;
    });
    await until(() => namesIn(server).length === 2);
    const third = lockOfOne.acquire().then((lease) => {
      got.push('third');
      return lease;
    });
    await until(() => namesIn(server).length === 3);
    expect(got).toEqual([]);
    await first.release();
    const secondLease = await second;
    expect(got).toEqual(['second']);
    expect(secondLease.fencingToken).toBeGreaterThan(first.fencingToken);
    await secondLease.release();
    const thirdLease = await third;
    expect(thirdLease.fencingToken).toBeGreaterThan(secondLease.fencingToken);
    await thirdLease.release();
    expect(namesIn(server)).toEqual([]);
  });

  it("uses Curator's names and, when asked to, kazoo's", async () => {
    const { server, lockOfOne, one } = newLocks();
    const lease = await lockOfOne.acquire();
    expect(namesIn(server)[0]).toMatch(
      /^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-\d{10}$/,
    );
    expect(lease.path).toBe(`${PATH}/${namesIn(server)[0]}`);
    expect(lease.fencingToken).toBe(server.stat(lease.path)?.czxid);
    await lease.release();
    const kazoo = new Lock(one, PATH, { naming: 'kazoo', data: 'me' });
    await using held = await kazoo.acquire();
    expect(namesIn(server)[0]).toMatch(/^[0-9a-f]{32}__lock__\d{10}$/);
    expect(server.read(held.path).data?.toString()).toBe('me');
  });

  it('waits for contenders with names of the other implementation, and for nothing else', async () => {
    const { server, one, lockOfOther } = newLocks();
    await one.create('/locks');
    await one.create(PATH);
    await one.create(`${PATH}/notes`);
    const foreign = await one.create(`${PATH}/5f0c__lock__`, 'kazoo', {
      mode: 'ephemeralSequential',
    });
    const acquired = lockOfOther.acquire();
    await until(() => namesIn(server).length === 3);
    await turns(10);
    await one.delete(foreign.path);
    await (await acquired).release();
  });

  it('gives further leases to its holder, and to nobody else', async () => {
    const { server, lockOfOne } = newLocks();
    const holder = {};
    const outer = await lockOfOne.acquire({ holder });
    const inner = await lockOfOne.acquire({ holder });
    const innermost = await lockOfOne.acquire({ holder: inner });
    expect(namesIn(server)).toHaveLength(1);
    expect([inner.fencingToken, innermost.fencingToken]).toEqual([
      outer.fencingToken,
      outer.fencingToken,
    ]);
    const stranger = lockOfOne.acquire();
    await until(() => namesIn(server).length === 2);
    await outer.release();
    await outer.release();
    await innermost.release();
    expect(outer.signal.reason).toBeInstanceOf(LeaseReleasedError);
    expect([outer.held, inner.held, innermost.held]).toEqual([false, true, false]);
    expect(namesIn(server)).toHaveLength(2);
    await inner.release();
    await (await stranger).release();
    expect(namesIn(server)).toEqual([]);
  });

  it('stands in line once for a holder that asks twice at the same time', async () => {
    const { server, lockOfOne } = newLocks();
    const holder = {};
    const both = await Promise.all([lockOfOne.acquire({ holder }), lockOfOne.acquire({ holder })]);
    expect(namesIn(server)).toHaveLength(1);
    await Promise.all(both.map((lease) => lease.release()));
    expect(namesIn(server)).toEqual([]);
  });

  it('is had at once or not at all by tryAcquire, which leaves nothing behind', async () => {
    const { server, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.tryAcquire();
    expect(lease?.held).toBe(true);
    expect(await lockOfOther.tryAcquire()).toBeNull();
    await until(() => namesIn(server).length === 1);
    await lease?.release();
    expect(namesIn(server)).toEqual([]);
  });

  it('leaves no watcher and no listener when all is released', async () => {
    const { one, other, lockOfOne, lockOfOther } = newLocks({ onSuspended: 'abort' });
    const lease = await lockOfOne.acquire();
    const waiting = lockOfOther.acquire();
    await until(() => other.watchCount === 1);
    await lease.release();
    await (await waiting).release();
    await turns(5);
    expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
    expect([one.listenerCount, other.listenerCount]).toEqual([0, 0]);
  });

  it('wakes one waiter for a release', async () => {
    const { server, lockOfOne } = newLocks();
    const lease = await lockOfOne.acquire();
    const clients = Array.from({ length: 5 }, () => newClient(server));
    const waits: Promise<Lease>[] = [];
    for (const client of clients) {
      waits.push(new Lock(client, PATH).acquire());
      await until(() => client.watchCount === 1);
    }
    const before = clients.map((client) => client.sent.length);
    await lease.release();
    await waits[0];
    await turns(10);
    const busy = clients.filter((client, index) => client.sent.length > (before[index] ?? 0));
    expect(busy).toEqual([clients[0]]);
    for (const wait of waits) await (await wait).release();
  });
});

describe('a failed acquire', () => {
  it('is a LockTimeoutError in time and leaves no znode', async () => {
    const { server, surroundings, other, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.acquire();
    const failed = expect(lockOfOther.acquire({ timeoutMs: 500 })).rejects.toThrow(
      LockTimeoutError,
    );
    await until(() => other.watchCount === 1);
    surroundings.advance(500);
    await failed;
    expect(other.watchCount).toBe(0);
    await until(() => namesIn(server).length === 1);
    await lease.release();
    expect(surroundings.timerCount).toBe(0);
  });

  it('is an AbortError with the reason as its cause', async () => {
    const { server, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOne.acquire();
    const controller = new AbortController();
    const waiting = lockOfOther.acquire({ signal: controller.signal });
    await until(() => namesIn(server).length === 2);
    controller.abort('enough');
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    await until(() => namesIn(server).length === 1);
    await expect(lockOfOther.acquire({ signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await lease.release();
  });

  it.each([0, 1, 2, 3, 4, 5, 6])(
    'leaves no znode when aborted %i turns after the call',
    async (turnsBefore) => {
      const { server, lockOfOne } = newLocks();
      const controller = new AbortController();
      const outcome = lockOfOne.acquire({ signal: controller.signal }).then(
        (lease) => lease.release(),
        () => {},
      );
      await turns(turnsBefore);
      controller.abort();
      await outcome;
      await turns(30);
      expect(namesIn(server)).toEqual([]);
    },
  );

  it('leaves no znode when aborted while the reply to its create is lost for good', async () => {
    const { server, one, other, lockOfOne } = newLocks();
    await other.create('/locks');
    await other.create(PATH);
    one.comesBack = false;
    one.failNext('create', 'reply-lost');
    const controller = new AbortController();
    const failed = expect(lockOfOne.acquire({ signal: controller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    await until(() => one.state === 'suspended');
    expect(namesIn(server)).toHaveLength(1);
    controller.abort();
    await failed;
    one.comesBack = true;
    one.comeBack();
    await until(() => namesIn(server).length === 0);
  });

  it('passes on what the server answers', async () => {
    const { one, lockOfOne } = newLocks();
    one.failNext('create', new NoAuthError(PATH));
    await expect(lockOfOne.acquire()).rejects.toThrow(NoAuthError);
  });

  it('fails with the session, or with the client', async () => {
    const { server, one, lockOfOne, lockOfOther } = newLocks();
    const lease = await lockOfOther.acquire();
    const lost = expect(lockOfOne.acquire()).rejects.toThrow(SessionExpiredError);
    await until(() => one.watchCount === 1);
    one.expire();
    await lost;
    const closed = expect(lockOfOne.acquire()).rejects.toThrow(ClientClosedError);
    await until(() => one.watchCount === 1);
    await one.close();
    await closed;
    expect(namesIn(server)).toHaveLength(1);
    await lease.release();
  });
});

describe('run', () => {
  it('gives the result, and releases', async () => {
    const { server, lockOfOne } = newLocks();
    const result = await lockOfOne.run(async (lease) => {
      expect(lease.held).toBe(true);
      return await lockOfOne.run(() => 'inner', { holder: lease });
    });
    expect(result).toBe('inner');
    expect(namesIn(server)).toEqual([]);
  });

  it("gives the function's error, not that of the release", async () => {
    const { one, lockOfOne } = newLocks();
    one.failNext('delete', new NoAuthError(PATH));
    await expect(
      lockOfOne.run(() => {
        throw new RangeError('of the function');
      }),
    ).rejects.toThrow(RangeError);
  });

  it('gives the error of the release when the function succeeded', async () => {
    const { one, lockOfOne } = newLocks();
    one.failNext('delete', new NoAuthError(PATH));
    await expect(lockOfOne.run(() => 'done')).rejects.toThrow(NoAuthError);
  });

  it('rejects when the lease was lost while the function ran, and releases', async () => {
    const { server, one, lockOfOne } = newLocks();
    const lost = lockOfOne.run(() => {
      one.expire();
      return 'worked beside the next holder';
    });
    await expect(lost).rejects.toMatchObject({ name: 'LeaseLostError', lossCause: 'expired' });
    const kept = lockOfOne.run(
      () => {
        one.expire();
        return 'harmless';
      },
      { onLost: 'ignore' },
    );
    expect(await kept).toBe('harmless');
    const failed = lockOfOne.run(() => {
      one.expire();
      throw new RangeError('of the function');
    });
    await expect(failed).rejects.toThrow(RangeError);
    await turns(20);
    expect(namesIn(server)).toEqual([]);
  });

  it('lets a fenced transaction through only while the lease stands', async () => {
    const { server, one, lockOfOne } = newLocks();
    await one.create('/result', 'none');
    const lease = await lockOfOne.acquire();
    await one.fenced(lease, [{ kind: 'setData', path: '/result', data: 'mine' }]);
    server.delete(lease.path);
    await expect(
      one.fenced(lease, [{ kind: 'setData', path: '/result', data: 'late' }]),
    ).rejects.toThrow(LeaseLostError);
    expect(server.read('/result').data?.toString()).toBe('mine');
    expect(() => server.read(lease.path)).toThrow(NoNodeError);
  });
});
