import { setMaxListeners } from 'node:events';
import { NoAuthError, SessionExpiredError } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { ClientClosedError, LeaseLostError, OperationAbortedError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { namesIn, newWorld, turns, until } from '../testing/lock-world.js';
import { Queue } from './queue.js';
import { QueueFormatError } from './queues/item-format.js';
import type { QueueEntry } from './queues/queue-entry.js';
import { WaitTimeoutError } from './shared/errors.js';

const PATH = '/queues/a';
const LOCKS = '/queues/a-locks';
const LOCKED = { lockPath: LOCKS } as const;

function setUp(options = {}) {
  const world = newWorld();
  return {
    ...world,
    ofOne: new Queue(world.one, PATH, options),
    ofOther: new Queue(world.other, PATH, options),
  };
}

const textOf = ({ items }: QueueEntry) => items.map(String).join();

/** A take that has come to wait. */
async function waitingTake(queue: Queue, client: FakeClient) {
  const watches = client.watchCount;
  const take = queue.take();
  await until(() => client.watchCount >= watches + 2 || client.sentCount('getChildren') > 0);
  await turns(10);
  return { take };
}

async function expectNothingLeft(...clients: FakeClient[]): Promise<void> {
  await turns(10);
  for (const client of clients) {
    expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
  }
}

describe('a queue', () => {
  it("has entries in Curator's format, and leaves no mark", async () => {
    const { server, ofOne } = setUp();
    await ofOne.put('hi');
    await ofOne.putAll(['a', '']);
    await turns(5);
    expect(server.paths()).toEqual([
      '/queues',
      PATH,
      `${PATH}-in-flight`,
      `${PATH}/queue-0000000000`,
      `${PATH}/queue-0000000001`,
    ]);
    const data = (name: string) => server.read(`${PATH}/${name}`).data?.toString('hex');
    expect(data('queue-0000000000')).toBe('00010001' + '01' + '00000002' + '6869' + '02');
    expect(data('queue-0000000001')).toBe('00010001' + '0100000001' + '61' + '0100000000' + '02');
  });

  it.each([{}, LOCKED])('gives entries in the order of the puts (%o)', async (options) => {
    const { one, other, ofOne, ofOther } = setUp(options);
    for (let index = 0; index < 20; index++) await ofOne.put(`${index}`);
    const order: string[] = [];
    for (let index = 0; index < 20; index++) {
      const entry = await ofOther.take();
      order.push(textOf(entry));
      await entry.done();
    }
    expect(order).toEqual(Array.from({ length: 20 }, (_, index) => `${index}`));
    expect(await ofOther.poll()).toBeNull();
    await expectNothingLeft(one, other);
  });

  it.each([{}, LOCKED])('gives each entry to one of many who wait (%o)', async (options) => {
    const { server, one, other, ofOne, ofOther } = setUp(options);
    const takes = Array.from({ length: 10 }, (_, index) => (index % 2 ? ofOne : ofOther).take());
    await until(() => one.watchCount > 0 && other.watchCount > 0);
    for (let index = 0; index < 10; index++) await ofOne.put(`${index}`);
    const entries = await Promise.all(takes);
    expect(entries.map(textOf).map(Number).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    await Promise.all(entries.map((entry) => entry.done()));
    expect(namesIn(server, PATH)).toEqual([]);
    await expectNothingLeft(one, other);
  });

  it('is watched once by a process, however many wait there', async () => {
    const { one, ofOne } = setUp();
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const takes = Array.from({ length: 50 }, () => ofOne.take({ signal: stop.signal }));
    await until(() => one.watchCount > 0);
    await turns(20);
    expect(one.watchCount).toBe(1);
    stop.abort();
    for (const take of takes) await expect(take).rejects.toThrow(OperationAbortedError);
    await expectNothingLeft(one);
  });

  it('leaves znodes of other names alone', async () => {
    const { server, one, ofOne } = setUp();
    await ofOne.put('x');
    await one.create(`${PATH}/foreign`);
    await one.create(`${PATH}/queue-12`);
    expect(textOf(await ofOne.take())).toBe('x');
    expect(await ofOne.poll()).toBeNull();
    expect(server.children(PATH)).toEqual(['foreign', 'queue-12']);
  });

  it('gives what is in no format, and says so when it is looked at', async () => {
    const { server, one, ofOne } = setUp(LOCKED);
    await ofOne.put('x');
    const [name] = server.children(PATH);
    await one.setData(`${PATH}/${name}`, 'nonsense');
    const entry = await ofOne.take();
    expect(() => entry.items).toThrow(QueueFormatError);
    await entry.done();
  });

  it('reads only the first pages of a huge directory', async () => {
    const { one, other, ofOne, ofOther } = setUp();
    await ofOne.put('first');
    for (let index = 0; index < 5_000; index++) await other.create(`${PATH}/x-${index}`);
    expect(textOf(await ofOther.take())).toBe('first');
    await expectNothingLeft(one, other);
  });
});

describe('a wait for an entry', () => {
  it('ends by its time', async () => {
    const { surroundings, one, ofOne } = setUp(LOCKED);
    const taken = expect(ofOne.take({ timeoutMs: 500 })).rejects.toThrow(WaitTimeoutError);
    await until(() => one.watchCount > 0);
    surroundings.advance(500);
    await taken;
    await expectNothingLeft(one);
    expect(surroundings.timerCount).toBe(0);
  });

  it('ends by its signal, and the next one who waits here sees what comes', async () => {
    const { one, ofOne } = setUp();
    const stop = new AbortController();
    const first = expect(ofOne.take({ signal: stop.signal })).rejects.toThrow(
      OperationAbortedError,
    );
    const second = ofOne.take();
    await until(() => one.watchCount > 0);
    stop.abort();
    await first;
    await ofOne.put('x');
    expect(textOf(await second)).toBe('x');
    await expectNothingLeft(one);
  });

  it('ends with the session, or goes on in the next', async () => {
    const { one, other, ofOne } = setUp();
    const rejoining = new Queue(other, PATH, { onSessionLost: 'rejoin' });
    const first = expect(ofOne.take()).rejects.toThrow(SessionExpiredError);
    const second = rejoining.take();
    await until(() => one.watchCount > 0 && other.watchCount > 0);
    one.expire();
    other.expire();
    await first;
    await ofOne.put('x');
    expect(textOf(await second)).toBe('x');
    await expectNothingLeft(one, other);
  });

  it('ends with the client', async () => {
    const { one, ofOne } = setUp();
    const taken = expect(ofOne.take()).rejects.toThrow(ClientClosedError);
    await until(() => one.watchCount > 0);
    await one.close();
    await taken;
    await expectNothingLeft(one);
  });

  it('sees a put that was made while its connection was away', async () => {
    const { one, ofOne, ofOther } = setUp();
    const taken = await waitingTake(ofOne, one);
    one.comesBack = false;
    one.loseConnection();
    await ofOther.put('x');
    one.comeBack();
    expect(textOf(await taken.take)).toBe('x');
  });

  it('fails by what the server answers', async () => {
    const { one, ofOne } = setUp();
    one.failNext('getChildren', new NoAuthError(PATH));
    await ofOne.put('x');
    await expect(ofOne.take()).rejects.toThrow(NoAuthError);
    expect(textOf(await ofOne.take())).toBe('x');
    await expectNothingLeft(one);
  });
});

describe('an entry of a queue with locks', () => {
  it("is nobody else's until it is done", async () => {
    const { server, one, other, ofOne, ofOther } = setUp(LOCKED);
    await ofOne.put('x');
    const entry = await ofOne.take();
    expect(namesIn(server, LOCKS)).toEqual([entry.name]);
    expect(await ofOther.poll()).toBeNull();
    await entry.done();
    expect(await ofOther.poll()).toBeNull();
    expect([namesIn(server, LOCKS), namesIn(server, PATH)]).toEqual([[], []]);
    await expect(entry.done()).rejects.toThrow();
    await expectNothingLeft(one, other);
  });

  it('goes to who waits when it is given back, or when its holder dies', async () => {
    const { one, other, ofOne, ofOther } = setUp(LOCKED);
    await ofOne.put('x');
    const entry = await ofOne.take();
    const next = await waitingTake(ofOther, other);
    await entry.release();
    const second = await next.take;
    expect(textOf(second)).toBe('x');
    const last = await waitingTake(ofOne, one);
    other.expire();
    expect(second.lease?.signal.reason).toBeInstanceOf(LeaseLostError);
    await expect(second.done()).rejects.toThrow(LeaseLostError);
    await (await last.take).done();
    await expectNothingLeft(one, other);
  });

  it('goes to the end when it is requeued, even if the reply is lost', async () => {
    const { one, ofOne } = setUp(LOCKED);
    for (const item of ['a', 'b']) await ofOne.put(item);
    const entry = await ofOne.take();
    one.failNext('multi', 'reply-lost');
    await entry.requeue();
    const order = [await ofOne.take(), await ofOne.take()].map(textOf);
    expect(order).toEqual(['b', 'a']);
    expect(await ofOne.poll()).toBeNull();
  });

  it('commits its effects with its end, once, also when the reply is lost', async () => {
    const { server, one, ofOne } = setUp(LOCKED);
    await ofOne.put('x');
    await one.create('/count', '0');
    const entry = await ofOne.take();
    one.failNext('multi', 'reply-lost');
    await entry.done([{ kind: 'setData', path: '/count', data: '1' }]);
    expect(server.stat('/count')?.version).toBe(1);
    expect(server.children(PATH)).toEqual([]);
  });

  it('is held still when its effects are refused', async () => {
    const { ofOne, ofOther } = setUp(LOCKED);
    await ofOne.put('x');
    const entry = await ofOne.take();
    await expect(entry.done([{ kind: 'delete', path: '/none' }])).rejects.toMatchObject({
      code: 'TRANSACTION_FAILED',
      failedIndex: 0,
    });
    expect(entry.lease?.held).toBe(true);
    await entry.release();
    expect(textOf(await ofOther.take())).toBe('x');
  });
});

describe('consuming', () => {
  it('by a loop: going on is done, leaving gives back', async () => {
    const { server, one, ofOne } = setUp(LOCKED);
    for (const item of ['a', 'b', 'c']) await ofOne.put(item);
    const seen: string[] = [];
    for await (const entry of ofOne.entries()) {
      seen.push(textOf(entry));
      if (seen.length === 2) break;
    }
    expect(seen).toEqual(['a', 'b']);
    expect(server.children(PATH)).toHaveLength(2);
    expect(textOf(await ofOne.take())).toBe('b');
    await one.close();
  });

  it('by a function: so many at once, until the signal', async () => {
    const { server, one, other, ofOne, ofOther } = setUp(LOCKED);
    for (let index = 0; index < 12; index++) await ofOne.put(`${index}`);
    const stop = new AbortController();
    let running = 0;
    let runningMax = 0;
    let count = 0;
    await ofOther.consume(
      async () => {
        runningMax = Math.max(runningMax, ++running);
        await turns(5);
        running--;
        if (++count === 12) stop.abort();
      },
      { concurrency: 3, signal: stop.signal },
    );
    expect([runningMax, running, count]).toEqual([3, 0, 12]);
    expect(server.children(PATH)).toEqual([]);
    await expectNothingLeft(one, other);
  });

  it('by a function that throws: stops and gives back, requeues, or drops', async () => {
    const { server, ofOne } = setUp(LOCKED);
    for (const item of ['a', 'b']) await ofOne.put(item);
    const failing = async () => {
      throw new Error('no');
    };
    await expect(ofOne.consume(failing)).rejects.toThrow('no');
    expect(server.children(PATH)).toHaveLength(2);
    const stop = new AbortController();
    const seen: string[] = [];
    await ofOne.consume(
      (entry) => {
        seen.push(textOf(entry));
        if (seen.length < 3) throw new Error('later');
        if (seen.length === 4) stop.abort();
      },
      { onError: 'requeue', signal: stop.signal },
    );
    expect(seen).toEqual(['a', 'b', 'a', 'b']);
    await ofOne.put('c');
    const dropped = new AbortController();
    await ofOne.consume(
      () => {
        dropped.abort();
        throw new Error('never');
      },
      { onError: 'drop', signal: dropped.signal },
    );
    expect(server.children(PATH)).toEqual([]);
  });
});
