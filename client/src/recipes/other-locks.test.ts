/** SimpleLock, RevocableLock, MultiLock and NonBlockingLease on an in-memory server. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError, OptionError } from '../api/errors.js';
import {
  lossCauseOf,
  namesIn,
  newLocks,
  newWorld,
  PATH,
  turns,
  until,
} from '../testing/lock-world.js';
import { Lock } from './lock.js';
import { MultiLock } from './multi-lock.js';
import { MultiNonBlockingLease, NonBlockingLease } from './non-blocking-lease.js';
import { RevocableLock, requestRevocation } from './revocable-lock.js';
import { LockTimeoutError } from './shared/errors.js';
import { SimpleLock } from './simple-lock.js';

describe('SimpleLock', () => {
  it('is one znode, and goes to one of those who wait', async () => {
    const { server, one, other } = newWorld();
    const lease = await new SimpleLock(one, '/simple/a').acquire();
    expect(namesIn(server, '/simple')).toEqual(['a']);
    expect(await new SimpleLock(other, '/simple/a').tryAcquire()).toBeNull();
    const waiting = new SimpleLock(other, '/simple/a').acquire();
    await until(() => other.watchCount === 1);
    await lease.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
    expect(namesIn(server, '/simple')).toEqual([]);
  });

  it('is not taken for its own when another acquire of the same session holds it', async () => {
    const { server, one } = newWorld();
    const lease = await new SimpleLock(one, '/simple').acquire();
    one.failNext('create', 'reply-lost');
    const waiting = new SimpleLock(one, '/simple').acquire();
    await turns(30);
    expect(lease.held).toBe(true);
    await lease.release();
    await (await waiting).release();
    expect(server.stat('/simple')).toBeNull();
  });

  it('is not given on the znode of another that has taken its place', async () => {
    const { server, one, other } = newWorld();
    let isTaken = false;
    one.onSend = ({ op, path }) => {
      if (op !== 'getData' || path !== '/simple' || isTaken) return;
      isTaken = true;
      server.delete('/simple');
      void other.create('/simple', 'by force', { mode: 'ephemeral' });
    };
    expect(await new SimpleLock(one, '/simple').tryAcquire()).toBeNull();
    await turns(20);
    expect(server.read('/simple').data?.toString()).toBe('by force');
  });

  it("never deletes another's znode when the reply to its own deletion is lost", async () => {
    const { server, one, other } = newWorld();
    const lease = await new SimpleLock(one, '/simple').acquire();
    const waiting = new SimpleLock(other, '/simple').acquire();
    await until(() => other.watchCount === 1);
    one.comesBack = false;
    one.failNext('delete', 'reply-lost');
    await lease.release();
    const next = await waiting;
    one.comesBack = true;
    one.comeBack();
    await turns(30);
    expect(server.stat('/simple')?.czxid).toBe(next.fencingToken);
    await next.release();
  });
});

describe('RevocableLock', () => {
  it('is given back by a holder that consents', async () => {
    const { server, one, other } = newWorld();
    const lock = new RevocableLock(one, PATH, { onRevocationRequested: () => 'consent' });
    const lease = await lock.acquire();
    const [contestant] = await new Lock(other, PATH).contestants();
    expect(await requestRevocation(other, contestant?.path ?? '')).toBe(true);
    await until(() => !lease.held);
    expect(lossCauseOf(lease)).toBe('revoked');
    await until(() => namesIn(server).length === 0);
    expect(await requestRevocation(other, lease.path)).toBe(false);
  });

  it('is kept by a holder that refuses, which is asked again the next time', async () => {
    const { one, other } = newWorld();
    let asked = 0;
    const onRevocationRequested = async () => {
      asked++;
      return asked < 2 ? 'refuse' : 'consent';
    };
    const lease = await new RevocableLock(one, PATH, { onRevocationRequested }).acquire();
    await requestRevocation(other, lease.path);
    await until(() => asked === 1);
    await turns(10);
    expect(lease.held).toBe(true);
    await requestRevocation(other, lease.path);
    await until(() => !lease.held);
  });

  it('asks one that was asked while it waited, when it has got the lock', async () => {
    const { server, one, lockOfOther } = newLocks();
    const asked: string[] = [];
    const lock = new RevocableLock(one, PATH, {
      onRevocationRequested: (lease) => {
        asked.push(lease.path);
        return 'consent';
      },
    });
    const holder = await lockOfOther.acquire();
    const waiting = lock.acquire();
    await until(() => namesIn(server).length === 2);
    const [, waiter] = await lockOfOther.contestants();
    await requestRevocation(one, waiter?.path ?? '');
    await turns(10);
    expect(asked).toEqual([]);
    await holder.release();
    await waiting;
    await until(() => namesIn(server).length === 0);
    expect(asked).toEqual([waiter?.path]);
  });
});

describe('MultiLock', () => {
  it('holds all, and releases all', async () => {
    const { server, one } = newWorld();
    const locks = ['/m/b', '/m/a'].map((path) => new Lock(one, path));
    const lease = await new MultiLock(one, locks).acquire();
    expect(lease.leases.map(({ path }) => path.slice(0, 4))).toEqual(['/m/a', '/m/b']);
    expect([namesIn(server, '/m/a').length, namesIn(server, '/m/b').length]).toEqual([1, 1]);
    await lease.release();
    expect([namesIn(server, '/m/a'), namesIn(server, '/m/b')]).toEqual([[], []]);
    expect(() => new MultiLock(one, [])).toThrow(OptionError);
    const sames = ['/m/b', '/m/a', '/m/b'].map((path) => new Lock(one, path));
    expect(() => new MultiLock(one, sames)).toThrow(OptionError);
  });

  it('releases those it had taken when the others cannot be had', async () => {
    const { server, surroundings, one, other } = newWorld();
    const held = await new Lock(other, '/m/b').acquire();
    const multi = new MultiLock(one, [new Lock(one, '/m/a'), new Lock(one, '/m/b')]);
    const failed = expect(multi.acquire({ timeoutMs: 10 })).rejects.toThrow(LockTimeoutError);
    await until(() => namesIn(server, '/m/b').length === 2);
    surroundings.advance(10);
    await failed;
    await until(() => namesIn(server, '/m/a').length === 0);
    await until(() => namesIn(server, '/m/b').length === 1);
    await held.release();
  });

  it('gives up when a lock that it had taken is lost while it waits for the next', async () => {
    const { server, one, other } = newWorld();
    const held = await new Lock(other, '/m/b').acquire();
    const multi = new MultiLock(one, [new Lock(one, '/m/a'), new Lock(one, '/m/b')]);
    const failed = expect(multi.acquire()).rejects.toThrow(LeaseLostError);
    await until(() => namesIn(server, '/m/b').length === 2);
    server.delete(`/m/a/${namesIn(server, '/m/a')[0]}`);
    await failed;
    await until(() => namesIn(server, '/m/b').length === 1);
    await held.release();
  });

  it('is lost with one of its locks, and releases the others', async () => {
    const { server, one } = newWorld();
    const multi = new MultiLock(one, [new Lock(one, '/m/a'), new Lock(one, '/m/b')]);
    const lease = await multi.acquire();
    server.delete(lease.leases[0]?.path ?? '');
    await until(() => !lease.held);
    expect(lossCauseOf(lease)).toBe('deleted');
    await until(() => namesIn(server, '/m/b').length === 0);
    await lease.release();
  });
});

describe('NonBlockingLease', () => {
  const durationMs = 60_000;

  it("writes kazoo's record, and is refused to others until it ends", async () => {
    const { server, one, other } = newWorld();
    let nowMs = Date.UTC(2024, 1, 29, 12, 0, 0, 900);
    const wallClockMs = () => nowMs;
    const mine = new NonBlockingLease(one, '/nb', { durationMs, holder: 'me', wallClockMs });
    const yours = new NonBlockingLease(other, '/nb', { durationMs, holder: 'you', wallClockMs });
    const obtained = await mine.obtain();
    expect(obtained?.endsAtMs).toBe(Date.UTC(2024, 1, 29, 12, 1, 0));
    expect(JSON.parse(server.read('/nb/lease_holder').data?.toString() ?? '')).toEqual({
      version: 1,
      holder: 'me',
      end: '2024-02-29T12:01:00',
    });
    expect(await yours.obtain()).toBeNull();
    nowMs += 30_000;
    expect((await mine.obtain())?.endsAtMs).toBe(Date.UTC(2024, 1, 29, 12, 1, 30));
    nowMs = Date.UTC(2024, 1, 29, 12, 1, 30);
    expect((await yours.obtain())?.holder).toBe('you');
    expect(namesIn(server, '/nb')).toEqual(['lease_holder']);
  });

  it('leaves alone what is of another version, or no record at all', async () => {
    const { one } = newWorld();
    const lease = new NonBlockingLease(one, '/nb', { durationMs, holder: 'me' });
    await lease.obtain();
    for (const text of ['{"version":2,"holder":"me","end":"2000-01-01T00:00:00"}', '{', '7']) {
      await one.setData('/nb/lease_holder', text);
      expect(await lease.obtain()).toBeNull();
    }
  });

  it('is had by as many as there are', async () => {
    const { one } = newWorld();
    const obtained: (string | undefined)[] = [];
    for (const holder of ['a', 'b', 'c', 'a']) {
      const lease = new MultiNonBlockingLease(one, '/nb', { count: 2, durationMs, holder });
      obtained.push((await lease.obtain())?.path);
    }
    expect(obtained).toEqual(['/nb/0', '/nb/1', undefined, '/nb/0']);
  });

  it.each([Number.NaN, 0, -1, 1.5, 10_001])('of %d holders is refused', (count) => {
    const { one } = newWorld();
    const make = () => new MultiNonBlockingLease(one, '/nb', { count, durationMs });
    const text = `must be an integer from 1 to 10,000, is ${count}`;
    expect(make).toThrow(new OptionError('count', text));
  });
});
