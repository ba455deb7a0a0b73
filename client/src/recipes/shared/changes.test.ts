/** Waits that end by something else than a change leave nothing behind. */
import { expect, it } from 'vitest';
import { newWorld, turns, until } from '../../testing/lock-world.js';
import { NodeCache } from '../node-cache.js';
import { Queue } from '../queue.js';
import { Changes, waitUntil } from './changes.js';

it('a wait that was taken back or given up is not registered any more', async () => {
  const { one, surroundings } = newWorld();
  const changes = new Changes();
  const wait = waitUntil(one, changes, { path: '/a', timeoutMs: 10 }, () => null);
  wait.catch(() => {});
  expect(changes.waiterCount).toBe(1);
  surroundings.advance(10);
  await expect(wait).rejects.toThrow();
  const next = changes.next();
  next.forget();
  expect(changes.waiterCount).toBe(0);
  const other = changes.next();
  changes.notify();
  await other.happens;
  expect(changes.waiterCount).toBe(0);
});

/** How many reactions `act` leaves on promises that live on: counted as waits of `Changes`. */
async function waitsLeft(act: () => Promise<void>): Promise<number> {
  const { next } = Changes.prototype;
  const seen = new Set<Changes>();
  Changes.prototype.next = function (this: Changes) {
    seen.add(this);
    return next.call(this);
  };
  try {
    await act();
  } finally {
    Changes.prototype.next = next;
  }
  return [...seen].reduce((sum, { waiterCount }) => sum + waiterCount, 0);
}

it('a cache and a queue wait as often as they like without a trace', async () => {
  const { one, other } = newWorld();
  await other.create('/n', '0');
  const cache = new NodeCache(one, '/n');
  const queue = new Queue(one, '/q');
  const left = await waitsLeft(async () => {
    cache.start();
    await cache.ready();
    for (let round = 0; round < 200; round++) {
      await other.setData('/n', String(round));
      await until(() => cache.get()?.data?.toString() === String(round));
      const taken = queue.take();
      await turns(3);
      await new Queue(other, '/q').put('x');
      await (await taken).done();
    }
  });
  expect(left).toBeLessThanOrEqual(1);
  await cache.close();
});
