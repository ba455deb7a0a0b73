/** Semaphore and Mutex on an in-memory server; under random faults in contention.test.ts. */
import { describe, expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import { namesIn, newClient, newWorld, turns, until } from '../testing/lock-world.js';
import { Mutex } from './mutex.js';
import { Semaphore } from './semaphore.js';
import { decodeInt32, encodeInt32 } from './shared/curator.js';
import { LockTimeoutError } from './shared/errors.js';

const PATH = '/semaphore';
const LEASES = `${PATH}/leases`;
const LOCKS = `${PATH}/locks`;

function newSemaphores(maxLeases = 2) {
  const world = newWorld();
  const semaphoreOfOne = new Semaphore(world.one, PATH, { maxLeases });
  const semaphoreOfOther = new Semaphore(world.other, PATH, { maxLeases });
  return { ...world, semaphoreOfOne, semaphoreOfOther };
}

describe('Semaphore', () => {
  it('gives so many leases and no more, in the order of asking', async () => {
    const { server, semaphoreOfOne, semaphoreOfOther } = newSemaphores();
    const [first, second] = await semaphoreOfOne.acquireMany(2);
    const got: string[] = [];
    const third = semaphoreOfOther.acquire().then((lease) => {
      got.push('third');
      return lease;
    });
    await until(() => namesIn(server, LEASES).length === 3);
    const fourth = semaphoreOfOne.acquire().then((lease) => {
      got.push('fourth');
      return lease;
    });
    await until(() => namesIn(server, LOCKS).length === 2);
    await turns(10);
    expect(got).toEqual([]);
    await first?.release();
    await third;
    await second?.release();
    const rest = [await third, await fourth];
    expect(got).toEqual(['third', 'fourth']);
    expect(rest[0]?.fencingToken).not.toBe(rest[1]?.fencingToken);
    for (const lease of rest) await lease.release();
    expect([namesIn(server, LEASES), namesIn(server, LOCKS)]).toEqual([[], []]);
  });

  it("uses Curator's names", async () => {
    const { server, semaphoreOfOne } = newSemaphores();
    const lease = await semaphoreOfOne.acquire();
    expect(namesIn(server, LEASES)[0]).toMatch(/^_c_[0-9a-f-]{36}-lease-\d{10}$/);
    const [holder] = await semaphoreOfOne.holders();
    expect(holder?.path).toBe(lease.path);
    await lease.release();
  });

  it('CURATOR-335: several are given all or none; a timeout leaves no lease znode', async () => {
    const { server, surroundings, semaphoreOfOne, semaphoreOfOther } = newSemaphores(3);
    const lease = await semaphoreOfOne.acquire();
    const failed = expect(semaphoreOfOther.acquireMany(3, { timeoutMs: 100 })).rejects.toThrow(
      LockTimeoutError,
    );
    await until(() => namesIn(server, LEASES).length === 4);
    surroundings.advance(100);
    await failed;
    await until(() => namesIn(server, LEASES).length === 1);
    await until(() => namesIn(server, LOCKS).length === 0);
    await lease.release();
  });

  it.each(Array.from({ length: 20 }, (_, count) => count))(
    'CURATOR-595: aborted %i turns after the call it leaves no permit behind',
    async (turnsBefore) => {
      const { server, semaphoreOfOne } = newSemaphores();
      const controller = new AbortController();
      const outcome = semaphoreOfOne.acquireMany(2, { signal: controller.signal }).then(
        (leases) => Promise.all(leases.map((lease) => lease.release())),
        () => [],
      );
      await turns(turnsBefore);
      controller.abort();
      await outcome;
      await turns(60);
      expect([namesIn(server, LEASES), namesIn(server, LOCKS)]).toEqual([[], []]);
    },
  );

  it('refuses what can never be had', async () => {
    const { one, semaphoreOfOne } = newSemaphores(2);
    await expect(semaphoreOfOne.acquireMany(3)).rejects.toThrow(OptionError);
    await expect(semaphoreOfOne.acquireMany(0)).rejects.toThrow(OptionError);
    expect(() => new Semaphore(one, PATH, { maxLeases: 0 })).toThrow(OptionError);
  });

  it('follows a shared maximum while somebody waits', async () => {
    const { server, one, other } = newWorld();
    const maxLeases = { countPath: '/counts/semaphore', seed: 1 };
    const first = await new Semaphore(one, PATH, { maxLeases }).acquire();
    expect(decodeInt32(server.read('/counts/semaphore').data)).toBe(1);
    const waiting = new Semaphore(other, PATH, { maxLeases }).acquire();
    await until(() => namesIn(server, LEASES).length === 2);
    await turns(10);
    server.setData('/counts/semaphore', encodeInt32(2));
    const second = await waiting;
    await first.release();
    await second.release();
    await turns(5);
    expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
  });

  it('has one watcher of its leases, whoever many wait', async () => {
    const { server, semaphoreOfOne } = newSemaphores(1);
    const lease = await semaphoreOfOne.acquire();
    const clients = Array.from({ length: 5 }, () => newClient(server));
    const waits = clients.map((client) => new Semaphore(client, PATH, { maxLeases: 1 }).acquire());
    await until(() => namesIn(server, LOCKS).length === 5);
    await until(() => namesIn(server, LEASES).length === 2);
    await turns(10);
    const listings = clients.map((client) => client.sentCount('getChildren'));
    await lease.release();
    const winner = await Promise.race(waits);
    await winner.release();
    for (const wait of waits) await (await wait).release();
    expect(listings.filter((count) => count > 1)).toHaveLength(1);
  });
});

describe('Mutex', () => {
  it('is not reentrant, and whoever has the lease may release it', async () => {
    const { server, one, other } = newWorld();
    const lease = await new Mutex(one, PATH).acquire();
    const waiting = new Mutex(one, PATH).acquire();
    await until(() => namesIn(server, LEASES).length === 2);
    const second = new Mutex(other, PATH).acquire();
    await until(() => namesIn(server, LOCKS).length === 2);
    await lease.release();
    const next = await waiting;
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    await next.release();
    await (await second).release();
    expect([namesIn(server, LEASES), namesIn(server, LOCKS)]).toEqual([[], []]);
  });
});
