import { describe, expect, it } from 'vitest';
import type { FakeSurroundings } from '../testing/fake-surroundings.js';
import { newWorld } from '../testing/lock-world.js';
import { pick, randomFrom, runToEnd, strike } from '../testing/random-faults.js';
import { AtomicLong, type AtomicLongOptions } from './atomic-long.js';
import { WaitTimeoutError } from './shared/errors.js';
import { CorruptDataError, NumberRangeError } from './shared/value-errors.js';

const PATH = '/numbers/a';

function setUp(options: AtomicLongOptions = {}) {
  const world = newWorld();
  const bytes = () => [...(world.server.read(PATH).data ?? [])];
  return { ...world, bytes, number: new AtomicLong(world.one, PATH, options) };
}

describe('an atomic long', () => {
  it('is 0 while it is missing, and is made by its first change', async () => {
    const { server, number, bytes } = setUp();
    expect(await number.get()).toBe(0n);
    expect(server.stat(PATH)).toBeNull();
    const tries = { optimisticTries: 1, promotedTries: 0 };
    expect(await number.increment()).toEqual({ succeeded: true, pre: 0n, post: 1n, ...tries });
    expect(await number.add(257n)).toEqual({ succeeded: true, pre: 1n, post: 258n, ...tries });
    expect(bytes()).toEqual([0, 0, 0, 0, 0, 0, 1, 2]);
    expect((await number.subtract(259n)).post).toBe(-1n);
    expect(bytes()).toEqual([255, 255, 255, 255, 255, 255, 255, 255]);
    expect((await number.decrement()).post).toBe(-2n);
    expect((await number.trySet(2n ** 63n - 1n)).pre).toBe(-2n);
    await expect(number.increment()).rejects.toThrow(NumberRangeError);
    expect(await number.get()).toBe(2n ** 63n - 1n);
  });

  it('is compared and set only where it is there and is that number', async () => {
    const { server, number } = setUp();
    expect((await number.compareAndSet(0n, 5n)).succeeded).toBe(false);
    expect(server.stat(PATH)).toBeNull();
    expect([await number.initialize(3n), await number.initialize(4n)]).toEqual([true, false]);
    expect(await number.compareAndSet(4n, 5n)).toMatchObject({ succeeded: false, pre: 3n });
    expect(await number.compareAndSet(3n, 5n)).toMatchObject({ succeeded: true, post: 5n });
  });

  it.each([
    ['int64', 'seven b'],
    ['int32', 'five!'],
    ['text', 'x1'],
    ['text', '1.5'],
  ] as const)('says that as %s %j is none, and can be set all the same', async (format, data) => {
    const { server, number } = setUp({ format });
    await number.set(1n);
    server.setData(PATH, data);
    await expect(number.get()).rejects.toThrow(CorruptDataError);
    await expect(number.increment()).rejects.toThrow(CorruptDataError);
    await number.set(2n);
    expect(await number.get()).toBe(2n);
  });

  it("has kazoo's formats: decimal text, and 4 bytes", async () => {
    const text = setUp({ format: 'text' });
    text.server.create({ path: '/numbers', data: null, ...PLAIN });
    // kazoo's Counter begins with an empty znode.
    text.server.create({ path: PATH, data: '', ...PLAIN });
    expect((await text.number.subtract(12n)).post).toBe(-12n);
    expect(text.server.read(PATH).data?.toString()).toBe('-12');
    expect((await text.number.add(2n ** 70n)).succeeded).toBe(true);
    const int = setUp({ format: 'int32' });
    await int.number.set(-2n);
    expect(int.bytes()).toEqual([255, 255, 255, 254]);
    await expect(int.number.set(2n ** 31n)).rejects.toThrow(NumberRangeError);
  });

  it('goes on while others are faster, unless it was told how often to try', async () => {
    const { server, surroundings, one, number } = setUp();
    await number.set(0n);
    let rivals = 40;
    one.onSend = ({ op }) => {
      if (op === 'setData' && rivals-- > 0) server.setData(PATH, Buffer.alloc(8));
    };
    const changing = number.increment();
    await settleWith(surroundings, changing);
    expect(await changing).toMatchObject({ succeeded: true, post: 1n, optimisticTries: 41 });
  });

  it('gives up after as many tries as it was told, when others are faster each time', async () => {
    const { server, surroundings, one, number } = setUp({ optimisticTries: 3 });
    await number.set(0n);
    one.onSend = ({ op }) => {
      if (op === 'setData') server.setData(PATH, Buffer.alloc(8, 1));
    };
    const changing = number.increment();
    await settleWith(surroundings, changing);
    expect(await changing).toMatchObject({ succeeded: false, optimisticTries: 3 });
    expect((await changing).pre).toBe((await changing).post);
  });

  it('goes on under the lock when others are faster too often', async () => {
    const promotion = { lockPath: '/numbers/lock' };
    const { server, one, number, surroundings } = setUp({ optimisticTries: 2, promotion });
    await number.set(0n);
    let rivals = 2;
    one.onSend = ({ op }) => {
      if (op === 'setData' && rivals-- > 0) server.setData(PATH, Buffer.alloc(8));
    };
    const changing = number.increment();
    await surroundings.settle();
    expect(await changing).toMatchObject({ succeeded: true, post: 1n, promotedTries: 1 });
    await surroundings.settle();
    expect(server.children('/numbers/lock')).toEqual([]);
    expect([one.watchCount, one.listenerCount]).toEqual([0, 0]);
  });

  it('waits no longer than it may', async () => {
    const { one, number, surroundings } = setUp();
    one.comesBack = false;
    one.loseConnection();
    const waiting = number.increment({ timeoutMs: 100 });
    surroundings.advance(100);
    await expect(waiting).rejects.toThrow(WaitTimeoutError);
    expect([one.listenerCount, surroundings.timerCount]).toEqual([0, 0]);
  });

  it('says that it is in doubt when a reply was lost and cannot be told from a rival', async () => {
    const { one, number } = setUp();
    await number.set(1n);
    one.failNext('setData', 'reply-lost');
    await expect(number.increment()).rejects.toMatchObject({ ambiguous: true });
    expect(await number.get()).toBe(2n);
    one.failNext('setData', 'request-lost');
    expect((await number.increment()).post).toBe(3n);
  });
});

const PLAIN = { mode: 'persistent', acl: undefined, session: 0n } as const;

async function settleWith(surroundings: FakeSurroundings, work: Promise<unknown>) {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    surroundings.advance(50);
    await new Promise(setImmediate);
  }
  await done;
}

const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1);

it.each(SEEDS)('no acknowledged increment is lost or doubled, seed %i', async (seed) => {
  const random = randomFrom(seed);
  const { server, surroundings, one, other } = newWorld();
  const clients = [one, other];
  const promotion = { lockPath: '/numbers/lock' };
  let acknowledged = 0n;
  let doubtful = 0n;
  const tasks = clients.flatMap((client) =>
    [0, 1].map(async () => {
      const number = new AtomicLong(client, PATH, { optimisticTries: 2, promotion });
      for (let round = 0; round < 8; round++) {
        try {
          const { succeeded, pre, post } = await number.increment();
          if (!succeeded) continue;
          expect(post).toBe(pre + 1n);
          acknowledged += 1n;
        } catch (error) {
          // Only where nobody can tell, or the lock's session was lost.
          const isDoubt = Object(error).ambiguous === true;
          if (isDoubt) doubtful += 1n;
          else expect(error).toMatchObject({ name: 'SessionExpiredError' });
        }
      }
    }),
  );
  const fault = () => {
    const client = pick(clients, random);
    if (client !== undefined) strike({ server, client, random });
  };
  await runToEnd(tasks, { surroundings, random, faultySteps: 300, fault, check: () => {} });
  await surroundings.settle();
  const total = server.read(PATH).data?.readBigInt64BE() ?? 0n;
  expect(total).toBeGreaterThanOrEqual(acknowledged);
  expect(total).toBeLessThanOrEqual(acknowledged + doubtful);
  expect(clients.map(({ watchCount }) => watchCount)).toEqual([0, 0]);
});
