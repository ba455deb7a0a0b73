/**
 * What follows a znode for ever costs no memory for each change: the heap after thousands of
 * changes is what it was after the first ones. The limit is far below the 420 bytes that a reaction
 * left behind on a promise that lives on would cost for each.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { newWorld, until } from '../testing/lock-world.js';
import { NodeCache } from './node-cache.js';

const CHANGES = 5_000;
const BYTES_PER_CHANGE_MAX = 200;

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

function heapBytes(): number {
  if (typeof collect !== 'function') throw new Error('there is no garbage collector to call');
  for (let round = 0; round < 3; round++) collect();
  return process.memoryUsage().heapUsed;
}

it('a cache of one znode needs no memory for each change', async () => {
  const { one, other } = newWorld();
  await other.create('/n', '0');
  const cache = new NodeCache(one, '/n');
  cache.start();
  await cache.ready();
  const change = async (count: number) => {
    for (let round = 0; round < count; round++) {
      const { version } = await other.setData('/n', String(round));
      await until(() => cache.get()?.stat.version === version);
      one.sent.length = 0;
      other.sent.length = 0;
    }
  };
  await change(1_000);
  const before = heapBytes();
  await change(CHANGES);
  expect((heapBytes() - before) / CHANGES).toBeLessThan(BYTES_PER_CHANGE_MAX);
  await cache.close();
});
