/** How many watchers each change had. */
import { EventType } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { WatchFanOut } from './watch-fan-out.js';

it('counts the watchers of each change, and of a change in two places apart', () => {
  const fanOut = new WatchFanOut();
  fanOut.told(EventType.deleted, '/a/1');
  fanOut.told(EventType.deleted, '/a/1');
  fanOut.told(EventType.childrenChanged, '/a');
  fanOut.told(EventType.deleted, '/a/2');
  fanOut.end();
  fanOut.told(EventType.deleted, '/a/2');
  fanOut.end();
  fanOut.end();
  const { deleted, childrenChanged, created, dataChanged } = fanOut;
  expect([deleted.count, deleted.sum, deleted.max]).toEqual([3, 4, 2]);
  expect([childrenChanged.count, created.count, dataChanged.count]).toEqual([1, 0, 0]);
});
