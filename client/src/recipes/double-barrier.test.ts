import { SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, LeaseLostError, OperationAbortedError } from '../api/errors.js';
import type { Lease } from '../api/lease.js';
import { FakeClient } from '../testing/fake-client.js';
import { namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, seeds, strike } from '../testing/random-faults.js';
import { DoubleBarrier } from './double-barrier.js';
import { RecipeStateError, WaitTimeoutError } from './shared/errors.js';

const PATH = '/barriers/double';

function setUp(memberCount = 2, count = 2) {
  const { server, surroundings } = newWorld();
  const clients = Array.from({ length: count }, () => new FakeClient(server, { surroundings }));
  const barriers = clients.map((client) => new DoubleBarrier(client, PATH, { memberCount }));
  return { server, surroundings, clients, barriers };
}

function first<T>(values: readonly T[], index = 0): T {
  const value = values[index];
  if (value === undefined) throw new Error(`there are ${values.length}`);
  return value;
}

/** Promises that tell whether they are settled. */
function watched<T>(promise: Promise<T>) {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  settled.catch(() => {});
  return { promise: settled, isSettled: () => isSettled };
}

function expectNothingLeft(clients: readonly FakeClient[]): void {
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a double barrier', () => {
  it('lets in all at once when there are enough, and out when all leave', async () => {
    const { server, clients, barriers } = setUp(3, 3);
    const enters = barriers.slice(0, 2).map((barrier) => watched(barrier.enter()));
    await until(() => namesIn(server, PATH).length === 2);
    await turns(30);
    expect(enters.map(({ isSettled }) => isSettled())).toEqual([false, false]);
    await first(barriers, 2).enter();
    await Promise.all(enters.map(({ promise }) => promise));
    expect(namesIn(server, PATH)).toContain('ready');

    const leaves = barriers.slice(0, 2).map((barrier) => watched(barrier.leave()));
    await turns(50);
    expect(leaves.map(({ isSettled }) => isSettled())).toEqual([false, false]);
    await Promise.all([first(barriers, 2).leave(), ...leaves.map(({ promise }) => promise)]);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(clients);
  });

  it('lets in more than it needs, and waits for those as well', async () => {
    const { server, barriers } = setUp(2, 4);
    await Promise.all(barriers.map((barrier) => barrier.enter()));
    expect(namesIn(server, PATH)).toHaveLength(5);
    const leaves = barriers.slice(0, 3).map((barrier) => watched(barrier.leave()));
    await turns(50);
    expect(leaves.some(({ isSettled }) => isSettled())).toBe(false);
    await Promise.all([first(barriers, 3).leave(), ...leaves.map(({ promise }) => promise)]);
    expect(namesIn(server, PATH)).toEqual([]);
  });

  it('can be entered again, and each group waits for its own members', async () => {
    const { server, barriers } = setUp(2, 2);
    for (let round = 0; round < 3; round++) {
      await Promise.all(barriers.map((barrier) => barrier.enter()));
      await Promise.all(barriers.map((barrier) => barrier.leave()));
      expect(namesIn(server, PATH)).toEqual([]);
    }
  });

  it('runs a function between entering and leaving', async () => {
    const { barriers } = setUp(2, 2);
    let inside = 0;
    const most: number[] = [];
    const work = async (lease: Lease) => {
      inside++;
      await turns(10);
      most.push(inside);
      return lease.held;
    };
    const results = await Promise.all(barriers.map((barrier) => barrier.run(work)));
    expect([results, most]).toEqual([
      [true, true],
      [2, 2],
    ]);
  });

  it('gives what the function gave also when the members do not leave together', async () => {
    const { server, surroundings, clients, barriers } = setUp(2, 2);
    const { promise } = watched(first(barriers).run(() => 'done', { timeoutMs: 1_000 }));
    await first(barriers, 1).enter();
    await turns(50);
    surroundings.advance(1_000);
    await expect(promise).rejects.toMatchObject({
      name: 'BarrierLeaveError',
      code: 'BARRIER_LEAVE',
      path: PATH,
      result: 'done',
      cause: expect.any(WaitTimeoutError),
    });
    await first(barriers, 1).leave();
    await turns(20);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(clients);
  });

  it('is as Curator has it: only `ready` is watched to enter, by all', async () => {
    const { clients, barriers, server } = setUp(3, 2);
    const enters = barriers.map((barrier) => watched(barrier.enter()));
    await until(() => namesIn(server, PATH).length === 2);
    await turns(30);
    // A watch on the own znode, and one on `ready`.
    expect(clients.map(({ watchCount }) => watchCount)).toEqual([2, 2]);
    expect(clients.map((client) => client.sentCount('getChildren'))).toEqual([1, 1]);
    await server.create({
      path: `${PATH}/ready`,
      data: null,
      mode: 'persistent',
      acl: undefined,
      session: 0n,
    });
    await Promise.all(enters.map(({ promise }) => promise));
  });

  it('lets nobody in by a `ready` that a group left which is gone', async () => {
    const { server, clients, barriers } = setUp(2, 4);
    await Promise.all(barriers.slice(0, 2).map((barrier) => barrier.enter()));
    first(clients).expire();
    first(clients, 1).expire();
    expect(namesIn(server, PATH)).toEqual(['ready']);
    const third = watched(first(barriers, 2).enter());
    await turns(50);
    expect(third.isSettled()).toBe(false);
    await first(barriers, 3).enter();
    await third.promise;
    await Promise.all(barriers.slice(2).map((barrier) => barrier.leave()));
    expect(namesIn(server, PATH)).toEqual([]);
  });

  it('lets in a member that sees `ready` only when the others have crashed', async () => {
    const { clients, barriers, server } = setUp(2, 2);
    const [slow, quick] = [first(clients), first(clients, 1)];
    const entered = watched(first(barriers).enter());
    await until(() => slow.watchCount === 2);
    slow.comesBack = false;
    slow.loseConnection();
    await first(barriers, 1).enter();
    quick.expire();
    expect(namesIn(server, PATH)).toHaveLength(2);
    slow.comeBack();
    await entered.promise;
    await first(barriers).leave();
    expect(namesIn(server, PATH)).toEqual([]);
  });

  it('does not wait to leave for a member that has crashed, also the lowest', async () => {
    for (const crashed of [0, 1, 2]) {
      const { clients, barriers, server } = setUp(3, 3);
      await Promise.all(barriers.map((barrier) => barrier.enter()));
      const others = barriers.filter((_, index) => index !== crashed);
      const leaves = others.map((barrier) => watched(barrier.leave()));
      await turns(50);
      expect(leaves.some(({ isSettled }) => isSettled())).toBe(false);
      first(clients, crashed).expire();
      await Promise.all(leaves.map(({ promise }) => promise));
      expect(namesIn(server, PATH)).toEqual([]);
    }
  });
});

describe('entering', () => {
  it.each([
    ['its time', WaitTimeoutError],
    ['its signal', OperationAbortedError],
    ['the session', SessionExpiredError],
    ['the client', ClientClosedError],
    ['a deletion of its znode', LeaseLostError],
  ] as const)('ends by %s, with nothing left', async (end, error) => {
    const { server, surroundings, clients, barriers } = setUp(2, 2);
    const [client, other] = [first(clients), first(clients, 1)];
    const controller = new AbortController();
    const options = { signal: controller.signal, timeoutMs: 1_000 };
    const { promise } = watched(first(barriers).enter(options));
    await until(() => client.watchCount === 2);
    if (end === 'its time') surroundings.advance(1_000);
    else if (end === 'its signal') controller.abort();
    else if (end === 'the session') client.expire();
    else if (end === 'the client') await client.close();
    else await other.delete(`${PATH}/${first(namesIn(server, PATH))}`);
    await expect(promise).rejects.toThrow(error);
    await turns(20);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(clients);
    expect(surroundings.timerCount).toBe(0);
    if (end === 'the client') return;
    // And the same object can enter again.
    await Promise.all(barriers.map((barrier) => barrier.enter()));
  });

  it.each(['create', 'getData', 'exists', 'getChildren'])(
    'survives lost replies of %s',
    async (op) => {
      for (const fault of ['reply-lost', 'request-lost'] as const) {
        const { server, surroundings, clients, barriers } = setUp(2, 2);
        for (const client of clients) client.failNext(op, fault);
        const entered = Promise.all(barriers.map((barrier) => barrier.enter()));
        await surroundings.settle();
        await entered;
        for (const client of clients) client.failNext(op, fault);
        const left = Promise.all(barriers.map((barrier) => barrier.leave()));
        await surroundings.settle();
        await left;
        expect(namesIn(server, PATH)).toEqual([]);
        expectNothingLeft(clients);
      }
    },
  );

  it('twice, and leaving from outside, are mistakes', async () => {
    const { barriers } = setUp(1, 1);
    const barrier = first(barriers);
    await expect(barrier.leave()).rejects.toThrow(RecipeStateError);
    await barrier.enter();
    await expect(barrier.enter()).rejects.toThrow(RecipeStateError);
    await barrier.leave();
    expect(() => new DoubleBarrier(first(setUp().clients), PATH, { memberCount: 0 })).toThrow();
  });
});

describe('leaving', () => {
  it('ends by its time, outside', async () => {
    const { server, surroundings, clients, barriers } = setUp(2, 2);
    await Promise.all(barriers.map((barrier) => barrier.enter()));
    const { promise } = watched(first(barriers).leave({ timeoutMs: 1_000 }));
    await turns(20);
    surroundings.advance(1_000);
    await expect(promise).rejects.toThrow(WaitTimeoutError);
    await first(barriers, 1).leave();
    await turns(20);
    expect(namesIn(server, PATH)).toEqual([]);
    expectNothingLeft(clients);
  });

  it('tells that the place had been lost', async () => {
    const { clients, barriers } = setUp(2, 2);
    const [lease] = await Promise.all(barriers.map((barrier) => barrier.enter()));
    first(clients).expire();
    expect(lease?.signal.aborted).toBe(true);
    await expect(first(barriers).leave()).rejects.toThrow(LeaseLostError);
    await first(barriers, 1).leave();
  });

  it('takes the last znode and `ready` away in one transaction', async () => {
    const { server, clients, barriers } = setUp(1, 1);
    await first(barriers).enter();
    const zxids = new Set<bigint>();
    server.onChange(({ path, zxid, type }) => {
      if (path.startsWith(`${PATH}/`)) zxids.add(zxid);
      expect(type).toBeDefined();
    });
    await first(barriers).leave();
    expect(zxids.size).toBe(1);
    expect(first(clients).sentCount('multi')).toBe(1);
    expect(namesIn(server, PATH)).toEqual([]);
  });
});

describe('a double barrier under random faults', () => {
  it.each(seeds(25))('keeps nobody for ever and leaves nothing (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { server, surroundings, clients, barriers } = setUp(3, 4);
    let finished = 0;
    /** Members come and go for as long as anybody needs company. */
    const member = async (barrier: DoubleBarrier) => {
      for (let rounds = 0; finished < 4; ) {
        try {
          await barrier.enter({ timeoutMs: 2_000 });
          await turns(Math.floor(random() * 5));
          await barrier.leave({ timeoutMs: 2_000 });
          if (++rounds === 3) finished++;
        } catch (error) {
          const isExpected =
            error instanceof SessionExpiredError ||
            error instanceof LeaseLostError ||
            error instanceof WaitTimeoutError;
          if (!isExpected) throw error;
        }
      }
    };
    await runToEnd(barriers.map(member), {
      surroundings,
      random,
      faultySteps: 400,
      check: () => {},
      fault: () => {
        const client = pick(clients, random);
        if (client !== undefined) strike({ server, client, random });
      },
    });
    await surroundings.settle();
    expect(namesIn(server, PATH).filter((name) => name !== 'ready')).toEqual([]);
    expectNothingLeft(clients);
    expect(surroundings.timerCount).toBe(0);
  });
});
