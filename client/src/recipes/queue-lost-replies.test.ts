/** A queue when a request, a reply, a connection or a session is lost at the worst moment. */
import { describe, expect, it } from 'vitest';
import { OperationAbortedError } from '../api/errors.js';
import type { FakeClient } from '../testing/fake-client.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { Queue } from './queue.js';
import type { QueueEntry } from './queues/queue-entry.js';

const PATH = '/queues/a';
const LOCKED = { lockPath: '/queues/a-locks' } as const;

function setUp(options = {}) {
  const world = newWorld();
  return {
    ...world,
    ofOne: new Queue(world.one, PATH, options),
    ofOther: new Queue(world.other, PATH, options),
  };
}

const textOf = ({ items }: QueueEntry) => items.map(String).join();

async function expectNothingLeft(client: FakeClient): Promise<void> {
  await turns(10);
  expect([client.watchCount, client.listenerCount]).toEqual([0, 0]);
}

describe('lost requests and replies', () => {
  it.each(['request-lost', 'reply-lost'] as const)('put once, take once (%s)', async (fault) => {
    const { server, surroundings, one, ofOne } = setUp();
    await ofOne.put('before');
    one.failNext('multi', fault);
    await ofOne.put('x');
    expect(server.children(PATH)).toHaveLength(2);
    one.failNext('multi', fault);
    expect(textOf(await ofOne.take())).toBe('before');
    expect(textOf(await ofOne.take())).toBe('x');
    await surroundings.settle();
    expect(server.children(`${PATH}-in-flight`)).toEqual([]);
  });

  it('leave it open, and say so, when the session is lost before the outcome is known', async () => {
    const { server, one, ofOne } = setUp();
    await ofOne.put('before');
    one.failNext('multi', 'reply-lost');
    one.comesBack = false;
    const put = ofOne.put('x').catch((error: unknown) => error);
    await until(() => one.state === 'suspended');
    one.expire();
    expect(await put).toMatchObject({ name: 'SessionExpiredError', ambiguous: true });
    expect(server.children(PATH)).toHaveLength(2);
    expect(server.children(`${PATH}-in-flight`)).toEqual([]);
  });

  it('leave a put open at its timeout or abort, and one that was not sent is not', async () => {
    const { surroundings, one, ofOne } = setUp();
    await ofOne.put('before');
    one.comesBack = false;
    one.failNext('multi', 'request-lost');
    const sent = expect(ofOne.put('x', { timeoutMs: 50 })).rejects.toMatchObject({
      name: 'WaitTimeoutError',
      ambiguous: true,
    });
    await until(() => one.state === 'suspended');
    const stop = new AbortController();
    const unsent = expect(ofOne.put('y', { signal: stop.signal })).rejects.toMatchObject({
      name: 'AbortError',
      ambiguous: false,
    });
    await turns(5);
    stop.abort();
    surroundings.advance(50);
    await Promise.all([sent, unsent]);
    one.comeBack();
    expect(textOf(await ofOne.take())).toBe('before');
    expect(await ofOne.poll()).toBeNull();
    await expectNothingLeft(one);
    expect(surroundings.timerCount).toBe(0);
  });

  it('leave the end of an entry open, and say so, when its lease is lost meanwhile', async () => {
    const { one, other, ofOne, ofOther } = setUp(LOCKED);
    await ofOne.put('x');
    const entry = await ofOne.take();
    one.failNext('multi', 'reply-lost');
    one.comesBack = false;
    const done = expect(entry.done()).rejects.toMatchObject({
      name: 'LeaseLostError',
      ambiguous: true,
    });
    await until(() => one.state === 'suspended');
    one.expire();
    await done;
    expect(await ofOther.poll()).toBeNull();
    expect(other.watchCount).toBe(0);
  });

  it('an abort during a removal does not lose the entry', async () => {
    const { one, ofOne } = setUp();
    await ofOne.put('x');
    const stop = new AbortController();
    one.onSend = ({ op }) => {
      if (op === 'multi') stop.abort();
    };
    expect(textOf(await ofOne.take({ signal: stop.signal }))).toBe('x');
  });

  it('an abort before a removal leaves the entry to the next one who waits here', async () => {
    const { one, ofOne } = setUp();
    const stop = new AbortController();
    const first = ofOne.take({ signal: stop.signal });
    const failed = expect(first).rejects.toThrow(OperationAbortedError);
    const second = ofOne.take();
    await until(() => one.watchCount > 0);
    one.onSend = ({ op }) => {
      if (op === 'getData') stop.abort();
    };
    await ofOne.put('x');
    await failed;
    expect(textOf(await second)).toBe('x');
    await expectNothingLeft(one);
  });
});
