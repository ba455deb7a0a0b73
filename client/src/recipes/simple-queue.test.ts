import { describe, expect, expectTypeOf, it } from 'vitest';
import { namesIn, newWorld, until } from '../testing/lock-world.js';
import { WaitTimeoutError } from './shared/errors.js';
import { SimpleQueue, type SimpleQueueOptions } from './simple-queue.js';

const PATH = '/queues/simple';

function setUp() {
  const world = newWorld();
  return {
    ...world,
    ofOne: new SimpleQueue(world.one, PATH),
    ofOther: new SimpleQueue(world.other, PATH),
  };
}

describe('a simple queue', () => {
  it('has no option for a codec or for locks, which it does not use', () => {
    expectTypeOf<keyof SimpleQueueOptions>().toEqualTypeOf<'acl' | 'marksPath' | 'onSessionLost'>();
  });

  it('gives what was offered, in order, once; peek leaves it', async () => {
    const { server, ofOne, ofOther } = setUp();
    expect([await ofOne.peek(), await ofOne.poll()]).toEqual([null, null]);
    for (const data of ['a', Buffer.of(0, 255), null]) await ofOne.offer(data);
    expect(namesIn(server, PATH)).toEqual(['qn-0000000000', 'qn-0000000001', 'qn-0000000002']);
    expect((await ofOther.peek())?.toString()).toBe('a');
    expect((await ofOther.take()).toString()).toBe('a');
    expect(await ofOne.poll()).toEqual(Buffer.of(0, 255));
    expect(await ofOther.take()).toEqual(Buffer.alloc(0));
    expect(await ofOther.poll()).toBeNull();
  });

  it('wakes who waits, and ends a wait by its time', async () => {
    const { surroundings, one, ofOne, ofOther } = setUp();
    const timed = expect(ofOne.take({ timeoutMs: 100 })).rejects.toThrow(WaitTimeoutError);
    const taken = ofOne.take();
    await until(() => one.watchCount > 0);
    surroundings.advance(100);
    await timed;
    await ofOther.offer('x');
    expect((await taken).toString()).toBe('x');
    expect([one.watchCount, one.listenerCount, surroundings.timerCount]).toEqual([0, 0, 0]);
  });

  it.each(['request-lost', 'reply-lost'] as const)('offers and takes once (%s)', async (fault) => {
    const { server, one, ofOne } = setUp();
    await ofOne.offer('before');
    one.failNext('multi', fault);
    await ofOne.offer('x');
    expect(namesIn(server, PATH)).toHaveLength(2);
    one.failNext('multi', fault);
    const given = [await ofOne.take(), await ofOne.take()].map(String);
    expect(given).toEqual(['before', 'x']);
    await until(() => namesIn(server, `${PATH}-in-flight`).length === 0);
  });
});
