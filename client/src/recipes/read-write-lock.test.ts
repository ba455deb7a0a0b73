/** ReadWriteLock on an in-memory server; under random faults it is in contention.test.ts. */
import { describe, expect, it } from 'vitest';
import { LeaseLostError } from '../api/errors.js';
import { namesIn, newClient, newWorld, PATH, turns, until } from '../testing/lock-world.js';
import { ReadWriteLock } from './read-write-lock.js';
import { LockUpgradeError } from './shared/errors.js';

function newLocks() {
  const world = newWorld();
  const lockOfOne = new ReadWriteLock(world.one, PATH);
  const lockOfOther = new ReadWriteLock(world.other, PATH);
  return { ...world, lockOfOne, lockOfOther };
}

describe('ReadWriteLock', () => {
  it('lets readers in together and writers alone, in the order of asking', async () => {
    const { server, lockOfOne, lockOfOther } = newLocks();
    const readers = [await lockOfOne.read.acquire(), await lockOfOther.read.acquire()];
    const got: string[] = [];
    const writing = lockOfOne.write.acquire().then((lease) => {
      got.push('write');
      return lease;
    });
    await until(() => namesIn(server).length === 3);
    const reading = lockOfOther.read.acquire().then((lease) => {
      got.push('read');
      return lease;
    });
    await until(() => namesIn(server).length === 4);
    await readers[1]?.release();
    await turns(10);
    expect(got).toEqual([]);
    await readers[0]?.release();
    const writer = await writing;
    await turns(10);
    expect(got).toEqual(['write']);
    await writer.release();
    await (await reading).release();
    expect(namesIn(server)).toEqual([]);
  });

  it("uses Curator's names", async () => {
    const { server, lockOfOne } = newLocks();
    const reader = await lockOfOne.read.acquire();
    expect(namesIn(server)[0]).toMatch(/^_c_[0-9a-f-]{36}-__READ__\d{10}$/);
    await reader.release();
    const writer = await lockOfOne.write.acquire();
    expect(namesIn(server)[0]).toMatch(/^_c_[0-9a-f-]{36}-__WRIT__\d{10}$/);
    await writer.release();
  });

  it('kazoo #649: a reader waits for the last writer before it, never for one behind', async () => {
    const { server, one, other, lockOfOne } = newLocks();
    const writer = await lockOfOne.write.acquire();
    const reading = new ReadWriteLock(other, PATH).read.acquire();
    await until(() => other.watchCount === 1);
    const behind = new ReadWriteLock(newClient(server), PATH).write.acquire();
    await until(() => namesIn(server).length === 3);
    await writer.release();
    const reader = await reading;
    expect(one.watchCount).toBe(0);
    await reader.release();
    await (await behind).release();
  });

  it('wakes all readers behind a writer at once and no writer', async () => {
    const { server, lockOfOne } = newLocks();
    const writer = await lockOfOne.write.acquire();
    const readers = Array.from({ length: 4 }, () => newClient(server));
    const reading = readers.map((client) => new ReadWriteLock(client, PATH).read.acquire());
    await until(() => readers.every(({ watchCount }) => watchCount === 1));
    const last = newClient(server);
    const writing = new ReadWriteLock(last, PATH).write.acquire();
    await until(() => last.watchCount === 1);
    const sent = last.sent.length;
    await writer.release();
    const leases = await Promise.all(reading);
    expect(last.sent.length).toBe(sent);
    for (const lease of leases) await lease.release();
    await (await writing).release();
    expect(namesIn(server)).toEqual([]);
  });

  it('downgrades without letting another writer in between', async () => {
    const { server, lockOfOne, lockOfOther } = newLocks();
    const writer = await lockOfOne.write.acquire();
    const waiting = lockOfOther.write.acquire();
    await until(() => namesIn(server).length === 2);
    const reader = await lockOfOne.downgrade(writer);
    expect(writer.held).toBe(false);
    expect(reader.path.slice(-10)).toBe(writer.path.slice(-10));
    await turns(10);
    expect(namesIn(server)).toHaveLength(2);
    await reader.release();
    await (await waiting).release();
    expect(namesIn(server)).toEqual([]);
  });

  it('does not downgrade a write lock that was deleted meanwhile', async () => {
    const { server, one, lockOfOne } = newLocks();
    const writer = await lockOfOne.write.acquire();
    one.onSend = ({ op, path }) => {
      const isReader = op === 'create' && path.includes('__READ__');
      if (isReader && server.stat(writer.path) !== null) server.delete(writer.path);
    };
    await expect(lockOfOne.downgrade(writer)).rejects.toThrow(LeaseLostError);
    await until(() => namesIn(server).length === 0);
  });

  it('refuses to make a reader a writer instead of letting it wait for itself', async () => {
    const { server, lockOfOne } = newLocks();
    const holder = {};
    const reader = await lockOfOne.read.acquire({ holder });
    await expect(lockOfOne.write.acquire({ holder })).rejects.toThrow(LockUpgradeError);
    await expect(lockOfOne.write.acquire({ holder: reader })).rejects.toThrow(LockUpgradeError);
    expect(namesIn(server)).toHaveLength(1);
    await reader.release();
    await (await lockOfOne.write.acquire({ holder })).release();
  });

  it('knows a holder by each of its leases', async () => {
    const { server, lockOfOne } = newLocks();
    const holder = {};
    const writer = await lockOfOne.write.acquire({ holder });
    const reader = await lockOfOne.read.acquire({ holder: writer });
    const again = await lockOfOne.write.acquire({ holder: reader });
    expect(namesIn(server)).toHaveLength(2);
    await writer.release();
    await again.release();
    await expect(lockOfOne.write.acquire({ holder })).rejects.toThrow(LockUpgradeError);
    await reader.release();
    expect(namesIn(server)).toEqual([]);
  });

  it("stands in line with kazoo's readers and writers", async () => {
    const { server, one, lockOfOther } = newLocks();
    const kazoo = new ReadWriteLock(one, PATH, { naming: 'kazoo' });
    const reader = await kazoo.read.acquire();
    expect(namesIn(server)[0]).toMatch(/^[0-9a-f]{32}__rlock__\d{10}$/);
    const other = await lockOfOther.read.acquire();
    const writing = kazoo.write.acquire();
    await until(() => namesIn(server).length === 3);
    await reader.release();
    await turns(10);
    expect(namesIn(server)).toHaveLength(2);
    await other.release();
    await (await writing).release();
  });
});
