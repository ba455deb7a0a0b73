/** The sessions of the gateway: whom they are shared by, how many there are, and when they end. */
import type { Client } from '@rookery/client';
import { type Caller, HttpError } from '@rookery/server/http';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ClientPool, IDLE_MS, SESSIONS_MAX } from './client-pool.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function callerOf(...users: readonly string[]): Caller {
  const identities = users.map((user) => ({ scheme: 'digest', id: user }));
  const auths = users.map((user) => Buffer.from(user));
  return {
    user: null,
    mayChange: true,
    remoteAddress: '',
    auths,
    requester: { identities, skipAcl: false },
  };
}

/** A pool whose clients tell only who they are, and whether they are open. */
function usePool() {
  const open: string[] = [];
  const closed: string[] = [];
  let failing = false;
  const pool = new ClientPool(async (auths) => {
    const name = auths.map((auth) => Buffer.from(auth).toString()).join(',');
    if (failing) throw new HttpError(503, 'Nobody serves.');
    open.push(name);
    let isOpen = true;
    const part: Partial<Client> = {
      name,
      get state() {
        return isOpen ? 'connected' : 'closed';
      },
      whoAmI: async () => [
        { authScheme: 'ip', user: '10.0.0.7' },
        { authScheme: 'digest', user: 'anna' },
        { authScheme: 'super', user: 'root' },
      ],
      close: async () => {
        isOpen = false;
        closed.push(name);
      },
    };
    return part as Client;
  });
  const fail = (isFailing: boolean): void => {
    failing = isFailing;
  };
  return { pool, open, closed, fail };
}

it('shares a session among those with the same identities, in any order, and no others', async () => {
  const { pool, open } = usePool();
  const [one, same, other, none] = await Promise.all([
    pool.lease(callerOf('a:1', 'b:2')),
    pool.lease(callerOf('b:2', 'a:1')),
    pool.lease(callerOf('a:1')),
    pool.lease(callerOf()),
  ]);
  expect(same.client).toBe(one.client);
  expect(other.client).not.toBe(one.client);
  expect(none.client).not.toBe(other.client);
  expect(open).toHaveLength(3);
});

it('knows as what the servers see it, beside the digests that it knows itself', async () => {
  const { pool } = usePool();
  const { requester } = await pool.lease(callerOf('a:1'));
  expect(requester.identities).toEqual([
    { scheme: 'digest', id: 'a:1' },
    { scheme: 'ip', id: '10.0.0.7' },
    { scheme: 'super', id: '' },
  ]);
});

it('closes a session that nobody has used for a while, and none that is in use', async () => {
  const { pool, closed } = usePool();
  const one = await pool.lease(callerOf('a:1'));
  const two = await pool.lease(callerOf('a:1'));
  one.release();
  one.release();
  await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
  expect(closed).toEqual([]);
  two.release();
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
  (await pool.lease(callerOf('a:1'))).release();
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1);
  expect(closed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect([closed, pool.size]).toEqual([['a:1'], 0]);
});

it('has so many sessions and no more: the longest idle one makes room, or the caller waits', async () => {
  const { pool, closed } = usePool();
  const leases = await Promise.all(
    Array.from({ length: SESSIONS_MAX }, (_, i) => pool.lease(callerOf(`u:${i}`))),
  );
  await expect(pool.lease(callerOf('late:1'))).rejects.toMatchObject({ status: 503 });
  leases[3]?.release();
  leases[1]?.release();
  await pool.lease(callerOf('late:1'));
  expect([closed, pool.size]).toEqual([['u:3'], SESSIONS_MAX]);
  await pool.close();
  expect(new Set(closed).size).toBe(SESSIONS_MAX + 1);
});

it('opens another session where the servers have ended one', async () => {
  const { pool, open } = usePool();
  const one = await pool.lease(callerOf('a:1'));
  await one.client.close();
  const two = await pool.lease(callerOf('a:1'));
  expect(two.client).not.toBe(one.client);
  expect(open).toEqual(['a:1', 'a:1']);
  one.release();
  two.release();
  expect(pool.size).toBe(1);
});

it('tries again after a session could not be opened', async () => {
  const { pool, fail } = usePool();
  fail(true);
  await expect(pool.lease(callerOf())).rejects.toMatchObject({ status: 503 });
  fail(false);
  expect((await pool.lease(callerOf())).client).toBeDefined();
});
