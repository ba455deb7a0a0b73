/** The three queues of Curator whose entries' names say something: priority, time, id. */
import { describe, expect, it } from 'vitest';
import { OptionError } from '../api/errors.js';
import { newWorld, turns, until } from '../testing/lock-world.js';
import { randomFrom } from '../testing/random-faults.js';
import { DelayQueue } from './delay-queue.js';
import { IdQueue } from './id-queue.js';
import { PriorityQueue } from './priority-queue.js';
import type { QueueEntry } from './queues/queue-entry.js';

const PATH = '/queues/a';
const KINDS = [{}, { lockPath: '/queues/a-locks' }];
const textOf = ({ items }: QueueEntry) => items.map(String).join();

describe('a priority queue', () => {
  it("has Curator's names", async () => {
    const { server, one } = newWorld();
    const queue = new PriorityQueue(one, PATH);
    for (const priority of [0, 10, -1, -10, 2 ** 31 - 1, -(2 ** 31)]) {
      await queue.put('x', { priority });
    }
    expect(server.children(PATH)).toEqual([
      'queue-0800000000000000005',
      'queue-0FFFFFFF60000000003',
      'queue-0FFFFFFFF0000000002',
      'queue-1000000000000000000',
      'queue-10000000A0000000001',
      'queue-17FFFFFFF0000000004',
    ]);
    await expect(queue.put('x', { priority: 2 ** 31 })).rejects.toThrow(OptionError);
    await expect(queue.put('x', { priority: 0.5 })).rejects.toThrow(OptionError);
  });

  it.each(KINDS)('gives by priority, negative ones first, then by age (%o)', async (options) => {
    const { one } = newWorld();
    const queue = new PriorityQueue(one, PATH, options);
    const random = randomFrom(7);
    const put: { priority: number; index: number }[] = [];
    for (let index = 0; index < 40; index++) {
      const priority = Math.floor(random() * 7) - 3;
      await queue.put(`${priority} ${index}`, { priority });
      put.push({ priority, index });
    }
    put.sort((left, right) => left.priority - right.priority || left.index - right.index);
    const given: string[] = [];
    for (const _ of put) {
      const entry = await queue.take();
      given.push(textOf(entry));
      await entry.done();
    }
    expect(given).toEqual(put.map(({ priority, index }) => `${priority} ${index}`));
  });

  it('gives an urgent entry before those that were there when it was listed last', async () => {
    const { one, other } = newWorld();
    const queue = new PriorityQueue(one, PATH);
    const patient = new PriorityQueue(one, PATH, { entriesPerListing: 100 });
    for (const item of ['a', 'b', 'c', 'd']) await queue.put(item, { priority: 5 });
    expect(textOf(await queue.take())).toBe('a');
    expect(textOf(await patient.take())).toBe('b');
    await new PriorityQueue(other, PATH).put('urgent', { priority: -1 });
    expect(textOf(await patient.take())).toBe('c');
    expect(textOf(await queue.take())).toBe('urgent');
  });
});

describe('a delay queue', () => {
  function setUp(options = {}) {
    const world = newWorld();
    const startMs = 1_700_000_000_000;
    const now = () => startMs + world.surroundings.nowMs();
    return { ...world, startMs, queue: new DelayQueue(world.one, PATH, { ...options, now }) };
  }

  it("has Curator's names", async () => {
    const { server, queue, startMs } = setUp();
    await queue.put('x', startMs);
    await queue.put('x', 1);
    expect(server.children(PATH)).toEqual([
      'queue-|00000001|0000000001',
      'queue-|18BCFE56800|0000000000',
    ]);
    await expect(queue.put('x', -1)).rejects.toThrow(OptionError);
  });

  it.each(KINDS)('gives each entry when its time has come, not before (%o)', async (options) => {
    const { one, surroundings, queue, startMs } = setUp(options);
    await queue.put('late', startMs + 1_000);
    await queue.put('early', startMs + 100);
    expect(await queue.poll()).toBeNull();
    const given: string[] = [];
    const taking = (async () => {
      for (let count = 0; count < 3; count++) {
        const entry = await queue.take();
        given.push(`${textOf(entry)} ${surroundings.nowMs()}`);
        await entry.done();
      }
    })();
    await until(() => surroundings.timerCount > 0);
    surroundings.advance(99);
    await turns(20);
    expect(given).toEqual([]);
    surroundings.advance(1);
    await until(() => given.length === 1 && surroundings.timerCount > 0);
    // One that is put meanwhile and is due sooner ends the wait for the other.
    await new DelayQueue(one, PATH).put('sooner', startMs + 500);
    await turns(20);
    surroundings.advance(400);
    await until(() => given.length === 2 && surroundings.timerCount > 0);
    surroundings.advance(500);
    await taking;
    expect(given).toEqual(['early 100', 'sooner 500', 'late 1000']);
    expect([surroundings.timerCount, one.watchCount, one.listenerCount]).toEqual([0, 0, 0]);
  });
});

describe('an id queue', () => {
  it.each(KINDS)('gives in the order of the puts, but what was removed (%o)', async (options) => {
    const { server, one, other } = newWorld();
    const queue = new IdQueue(one, PATH, options);
    for (const id of ['b', 'a', 'x/|y', 'b', 'c']) await queue.put(id, id);
    expect(server.children(PATH)).toContain('queue-|x__y|0000000002');
    const first = await queue.take();
    expect(textOf(first)).toBe('b');
    const fromOther = new IdQueue(other, PATH, options);
    // The first one is taken already.
    expect(await fromOther.remove('b')).toBe(1);
    expect(await fromOther.remove('x/|y')).toBe(1);
    expect(await fromOther.remove('none')).toBe(0);
    await first.done();
    const rest = [await fromOther.take(), await fromOther.take()].map(textOf);
    expect(rest).toEqual(['a', 'c']);
    expect(await fromOther.poll()).toBeNull();
  });
});
