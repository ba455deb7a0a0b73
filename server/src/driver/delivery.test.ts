/** Goal: a turn delivers what it has time for, but never nothing. Method: parts that take time. */
import { expect, it } from 'vitest';
import { deliverParts } from './delivery.js';

const MANY = 1000;

/** How many of `MANY` parts that take `partMs` each one turn delivers. */
function delivered(partMs: number, deliveryMsMax: number): number {
  let done = 0;
  const zab = {
    get hasMore() {
      return done < MANY;
    },
  };
  const timers = { nowMs: () => done * partMs };
  deliverParts({ zab, timers, options: { deliveryMsMax } }, () => {
    done += 1;
  });
  return done;
}

it('delivers all that there is time for', () => {
  expect(delivered(1, 10)).toBe(10);
  expect(delivered(4, 10)).toBe(3);
  expect(delivered(0.001, 10)).toBe(MANY);
});

it('delivers one part at least, however long it takes', () => {
  expect(delivered(50, 10)).toBe(1);
  expect(delivered(1, 0)).toBe(1);
});
