import { describe, expect, it } from 'vitest';
import { LeaseLostError, OptionError } from '../api/errors.js';
import { namesIn, newClient, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, strike } from '../testing/random-faults.js';
import { IdempotentQueue } from './idempotent-queue.js';
import { RecipeStateError } from './shared/errors.js';

const PATH = '/orders';
const SEEDS = Array.from({ length: 15 }, (_, index) => index + 1);

function setUp() {
  const world = newWorld();
  return {
    ...world,
    ofOne: new IdempotentQueue(world.one, PATH),
    ofOther: new IdempotentQueue(world.other, PATH),
  };
}

describe('an idempotent queue', () => {
  it('has an id once, however often and by whomever it is enqueued', async () => {
    const { server, ofOne, ofOther } = setUp();
    expect(await ofOne.stateOf('a/b')).toBe('unknown');
    await ofOne.enqueue('a/b', 'first');
    await ofOther.enqueue('a/b', 'second');
    expect(namesIn(server, `${PATH}/items`)).toEqual(['item-|a%2Fb|0000000000']);
    const entry = await ofOther.take();
    expect([entry.id, entry.data?.toString()]).toEqual(['a/b', 'first']);
    await ofOne.enqueue('a/b', 'while somebody is busy with it');
    expect(await ofOne.stateOf('a/b')).toBe('queued');
    await entry.done();
    expect(await ofOne.stateOf('a/b')).toBe('done');
    await ofOne.enqueue('a/b', 'after it was done');
    expect(await ofOther.poll()).toBeNull();
    await ofOne.forget('a/b');
    await ofOne.enqueue('a/b', 'again');
    expect((await ofOther.take()).data?.toString()).toBe('again');
  });

  it('takes any id but none', async () => {
    const { ofOne } = setUp();
    for (const id of ['.', '..', '|', 'ä/%2F']) {
      await ofOne.enqueue(id, null);
      const entry = await ofOne.take();
      expect(entry.id).toBe(id);
      await entry.done();
    }
    await expect(ofOne.enqueue('', null)).rejects.toThrow(OptionError);
  });

  it('may be enqueued again after a session was lost on the way', async () => {
    const { server, one, ofOne } = setUp();
    await ofOne.enqueue('before', null);
    one.failNext('multi', 'reply-lost');
    one.comesBack = false;
    const failed = expect(ofOne.enqueue('x', null)).rejects.toMatchObject({
      name: 'SessionExpiredError',
      ambiguous: true,
    });
    await until(() => one.state === 'suspended');
    one.expire();
    one.comesBack = true;
    one.comeBack();
    await failed;
    await ofOne.enqueue('x', null);
    expect(namesIn(server, `${PATH}/items`)).toHaveLength(2);
  });

  it('gives no item whose flag is not its own', async () => {
    const { server, one, ofOne } = setUp();
    await ofOne.enqueue('a', 'true');
    // A producer that repeats the create of the item alone; one without a flag at all.
    const mode = 'persistentSequential';
    await one.create(`${PATH}/items/item-|a|`, 'copy', { mode });
    await one.create(`${PATH}/items/item-|b|`, 'flagless', { mode });
    const entry = await ofOne.take();
    expect(entry.data?.toString()).toBe('true');
    expect(await ofOne.poll()).toBeNull();
    await entry.done();
    await until(() => namesIn(server, `${PATH}/locks`).length === 0);
    expect(namesIn(server, `${PATH}/items`)).toEqual([]);
  });

  it('withdraws what is forgotten while it waits, and tells who is busy with it', async () => {
    const { ofOne, ofOther } = setUp();
    await ofOne.enqueue('a', 'old');
    await ofOne.enqueue('b', 'old');
    const entry = await ofOne.take();
    for (const id of ['a', 'b']) await ofOther.forget(id);
    await expect(entry.done()).rejects.toThrow(RecipeStateError);
    await entry.release();
    await ofOther.enqueue('b', 'new');
    expect((await ofOne.take()).data?.toString()).toBe('new');
    expect(await ofOther.poll()).toBeNull();
  });

  it('commits effects with the end, refuses with their index, requeues', async () => {
    const { server, one, ofOne } = setUp();
    for (const id of ['a', 'b']) await ofOne.enqueue(id, id);
    const entry = await ofOne.take();
    const ops = [
      { kind: 'create', path: '/effect' } as const,
      { kind: 'delete', path: '/none' } as const,
    ];
    await expect(entry.done(ops)).rejects.toMatchObject({ failedIndex: 1 });
    expect([entry.lease.held, server.stat('/effect')]).toEqual([true, null]);
    one.failNext('multi', 'reply-lost');
    await entry.requeue();
    for (const id of ['b', 'a']) {
      const next = await ofOne.take();
      expect(next.id).toBe(id);
      one.failNext('multi', 'reply-lost');
      await next.done([{ kind: 'create', path: `/effect-${id}` }]);
    }
  });
});

describe('an idempotent queue under random faults', () => {
  it.each(SEEDS)('has each id done exactly once (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings, one, other } = newWorld();
    const clients = [one, other, newClient(server, surroundings)];
    const ids = Array.from({ length: 15 }, (_, index) => `id-${index}`);
    const stop = new AbortController();
    let producing = clients.length;
    // Each of them enqueues all of them, and again after each error.
    const producers = clients.map(async (client) => {
      const queue = new IdempotentQueue(client, PATH, { onSessionLost: 'rejoin' });
      for (const id of ids) await queue.enqueue(id, id);
      producing--;
    });
    const consumers = clients.map(async (client) => {
      const queue = new IdempotentQueue(client, PATH, { onSessionLost: 'rejoin' });
      await queue.consume(
        async (entry) => {
          await turns(Math.floor(random() * 6));
          if (random() < 0.1) throw new Error('later');
          const ops = [{ kind: 'create', path: `/effect-${entry.id}` } as const];
          await entry.done(ops).catch((error: unknown) => {
            if (!(error instanceof LeaseLostError)) throw error;
          });
        },
        { concurrency: 2, signal: stop.signal, onError: 'requeue' },
      );
    });
    await runToEnd([...producers, ...consumers], {
      surroundings,
      random,
      faultySteps: 400,
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
      check: () => {
        const isEmpty = namesIn(server, `${PATH}/items`).length === 0;
        if (producing === 0 && isEmpty) stop.abort();
      },
    });
    await surroundings.settle();
    for (const id of ids) expect(server.stat(`/effect-${id}`)?.version, id).toBe(0);
    expect(namesIn(server, `${PATH}/locks`)).toEqual([]);
    for (const client of clients) {
      expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
    }
    expect(surroundings.timerCount).toBe(0);
  });
});
