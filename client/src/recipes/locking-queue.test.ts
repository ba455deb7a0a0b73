import { describe, expect, it, vi } from 'vitest';
import { LeaseLostError, OptionError } from '../api/errors.js';
import { namesIn, newClient, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, strike } from '../testing/random-faults.js';
import { LockingQueue } from './locking-queue.js';

const PATH = '/crawler';
const ENTRIES = `${PATH}/entries`;
const TAKEN = `${PATH}/taken`;
const SEEDS = Array.from({ length: 15 }, (_, index) => index + 1);

function setUp() {
  const world = newWorld();
  return {
    ...world,
    ofOne: new LockingQueue(world.one, PATH, { worker: 'one' }),
    ofOther: new LockingQueue(world.other, PATH),
  };
}

describe('a locking queue', () => {
  it("has kazoo's znodes", async () => {
    const { server, ofOne } = setUp();
    await ofOne.putAll(['a', 'b']);
    await ofOne.put('urgent', { priority: 7 });
    expect(namesIn(server, ENTRIES)).toEqual([
      'entry-007-0000000002',
      'entry-100-0000000000',
      'entry-100-0000000001',
    ]);
    const entry = await ofOne.take();
    expect(entry.data?.toString()).toBe('urgent');
    expect(namesIn(server, TAKEN)).toEqual(['entry-007-0000000002']);
    expect(server.read(`${TAKEN}/${entry.name}`).data?.toString()).toMatch(/^[0-9a-f-]{36}\none$/);
    expect(await entry.holdsLock()).toBe(true);
    await entry.done();
    expect([namesIn(server, TAKEN), namesIn(server, ENTRIES).length]).toEqual([[], 2]);
    expect(await entry.holdsLock()).toBe(false);
    for (const priority of [-1, 1_000, 0.5]) {
      await expect(ofOne.put('x', { priority })).rejects.toThrow(OptionError);
    }
  });

  it('keeps the ACL of an entry that is put to the end', async () => {
    const { one } = newWorld();
    const acl = [{ perms: 31, scheme: 'digest', id: 'me:secret' }];
    const multi = vi.spyOn(one, 'multi');
    const queue = new LockingQueue(one, PATH, { acl });
    await queue.put('x');
    await (await queue.take()).requeue();
    const created = multi.mock.calls.flatMap(([ops]) =>
      ops.filter(({ kind }) => kind === 'create'),
    );
    expect(created.some(({ path }) => path.includes('/entry-'))).toBe(true);
    for (const op of created) expect(op).toMatchObject({ acl });
  });

  it.each([0, -1, 1.5])('is not consumed by %d at once', async (concurrency) => {
    const queue = new LockingQueue(newWorld().one, PATH);
    await expect(queue.consume(() => {}, { concurrency })).rejects.toThrow(OptionError);
  });

  it('puts all or none', async () => {
    const { server, one, ofOne } = setUp();
    one.failNext('multi', 'reply-lost');
    await ofOne.putAll(['a', 'b', 'c']);
    expect(namesIn(server, ENTRIES)).toHaveLength(3);
    await ofOne.putAll([]);
    expect(namesIn(server, ENTRIES)).toHaveLength(3);
  });

  it('gives the page of a crawler that dies to another, and the first one knows', async () => {
    const { one, other, ofOne, ofOther } = setUp();
    await ofOne.put('http://example.org/');
    const first = await ofOne.take();
    const taken = ofOther.take();
    await until(() => other.watchCount >= 2);
    await turns(20);
    one.loseSession();
    expect(first.signal.reason).toBeInstanceOf(LeaseLostError);
    expect(await first.holdsLock()).toBe(false);
    await expect(first.done()).rejects.toThrow(LeaseLostError);
    // The server finds out later.
    one.fake.endSession(first.lease.sessionId);
    const second = await taken;
    expect(second.data).toEqual(first.data);
    await second.done();
    expect(await ofOne.poll()).toBeNull();
    expect([one.watchCount, other.watchCount]).toEqual([0, 0]);
  });

  it('knows that its lock was taken away by force', async () => {
    const { server, ofOne } = setUp();
    await ofOne.put('x');
    const entry = await ofOne.take();
    server.delete(`${TAKEN}/${entry.name}`);
    expect(await entry.holdsLock()).toBe(false);
    await expect(entry.done()).rejects.toThrow(LeaseLostError);
    const again = await ofOne.take();
    await again.done();
  });

  it("does not end an entry that is another worker's by now, though nobody has told it", async () => {
    const { server, one, ofOne, ofOther } = setUp();
    await ofOne.put('x');
    const entry = await ofOne.take();
    one.onSend = ({ op }) => {
      if (op === 'multi') server.delete(`${TAKEN}/${entry.name}`);
    };
    await expect(entry.done()).rejects.toThrow(LeaseLostError);
    await (await ofOther.take()).done();
  });

  it.each(['request-lost', 'reply-lost'] as const)('consumes once (%s)', async (fault) => {
    const { server, one, ofOne } = setUp();
    for (const item of ['a', 'b']) await ofOne.put(item);
    for (const op of ['create', 'getData']) {
      one.failNext(op, fault);
      const entry = await ofOne.take();
      one.failNext('multi', fault);
      await entry.done();
    }
    expect(await ofOne.poll()).toBeNull();
    await until(() => namesIn(server, TAKEN).length === 0);
  });
});

describe('a locking queue under random faults', () => {
  it.each(SEEDS)('has every page crawled, each effect once (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings, one, other } = newWorld();
    const clients = [one, other, newClient(server, surroundings)];
    const pages = Array.from({ length: 20 }, (_, index) => `page-${index}`);
    await new LockingQueue(one, PATH).putAll(pages);
    const stop = new AbortController();
    const crawlers = clients.map(async (client) => {
      const queue = new LockingQueue(client, PATH, { onSessionLost: 'rejoin' });
      await queue.consume(
        async (entry) => {
          await turns(Math.floor(random() * 6));
          if (random() < 0.1) throw new Error('the page does not answer');
          const path = `/${entry.data}`;
          await entry.done([{ kind: 'create', path }]).catch((error: unknown) => {
            if (!(error instanceof LeaseLostError)) throw error;
          });
        },
        { concurrency: 2, signal: stop.signal, onError: 'requeue' },
      );
    });
    await runToEnd(crawlers, {
      surroundings,
      random,
      faultySteps: 400,
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
      check: () => {
        if (namesIn(server, ENTRIES).length === 0) stop.abort();
      },
    });
    await surroundings.settle();
    for (const page of pages) expect(server.stat(`/${page}`)?.version, page).toBe(0);
    expect(namesIn(server, TAKEN)).toEqual([]);
    for (const client of clients) {
      expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
    }
    expect(surroundings.timerCount).toBe(0);
  });
});
