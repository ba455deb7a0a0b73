/**
 * Consumers of a directory that is too large to be listed, of which none of the first entries can
 * be had at the moment: they must hear of the next one all the same.
 */
import { UnimplementedError } from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { FakeServer } from '../../testing/fake-server.js';
import { newWorld, turns, until } from '../../testing/lock-world.js';
import { DelayQueue } from '../delay-queue.js';
import { Queue } from '../queue.js';
import { delayHead } from './entry-names.js';
import { HUGE_ENTRIES_MIN } from './entry-source.js';
import { encodeItems } from './item-format.js';

const PATH = '/queues/a';
const FAR_MS = 2_000_000_000_000;
const TAKES = 1_200;

function fill(server: FakeServer, head: string): void {
  const common = { acl: undefined, session: 0n };
  for (const path of ['/queues', PATH]) {
    server.create({ path, data: null, mode: 'persistent', ...common });
  }
  const data = encodeItems(['x']);
  for (let count = 0; count < HUGE_ENTRIES_MIN; count++) {
    server.create({ path: `${PATH}/${head}`, data, mode: 'persistentSequential', ...common });
  }
}

it.each(['watch', 'listing'])(
  'an entry that is due before all others is given, by a %s',
  async (by) => {
    const { server, one, other } = newWorld();
    fill(server, delayHead(FAR_MS));
    if (by === 'listing') one.failNext('addWatch', new UnimplementedError(PATH));
    const options = { now: () => 1_000 };
    const take = new DelayQueue(one, PATH, options).take();
    await until(() => one.watchCount > 0);
    await turns(20);
    await new DelayQueue(other, PATH, options).put('early', 500);
    expect(String((await take).items[0])).toBe('early');
    await turns(10);
    expect([one.watchCount, one.listenerCount]).toEqual([0, 0]);
  },
);

it('more consumers than are listed at once are all given something', async () => {
  const { server, one } = newWorld();
  fill(server, 'queue-');
  const queue = new Queue(one, PATH);
  const entries = await Promise.all(Array.from({ length: TAKES }, () => queue.take()));
  expect(new Set(entries.map(({ path }) => path)).size).toBe(TAKES);
  await turns(TAKES + 10);
  expect([one.watchCount, one.listenerCount]).toEqual([0, 0]);
});
