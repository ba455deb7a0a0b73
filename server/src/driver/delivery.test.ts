/**
 * Goal: a turn delivers what it has time for, but never nothing, and what there is to send does not
 * wait for a long delivery. Method: parts that take time.
 */
import { expect, it } from 'vitest';
import { deliverParts } from './delivery.js';

const MANY = 1000;

/** How many of `parts` that take `partMs` each one turn delivers, and after how many it sends. */
function delivered(partMs: number, deliveryMsMax: number, parts = MANY) {
  let done = 0;
  const sentAfter: number[] = [];
  const zab = {
    get hasMore() {
      return done < parts;
    },
  };
  const timers = { nowMs: () => done * partMs };
  deliverParts(
    { zab, timers, options: { deliveryMsMax } },
    {
      next: () => {
        done += 1;
      },
      sendAll: () => sentAfter.push(done),
    },
  );
  return { done, sentAfter };
}

it('delivers all that there is time for', () => {
  expect(delivered(1, 10).done).toBe(10);
  expect(delivered(4, 10).done).toBe(3);
  expect(delivered(0.001, 10).done).toBe(MANY);
});

it('delivers one part at least, however long it takes', () => {
  expect(delivered(50, 10).done).toBe(1);
  expect(delivered(1, 0).done).toBe(1);
});

it('sends what is ready once, when a delivery turns out to be long', () => {
  expect(delivered(1, 10).sentAfter).toEqual([2]);
  expect(delivered(1, 10, 2).sentAfter).toEqual([]);
  expect(delivered(50, 10).sentAfter).toEqual([]);
});
