import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COUNTER_MAX,
  counterOf,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  isZxid,
  makeZxid,
} from './zxid.js';

/** Only the synchronous overload: an asynchronous property does not compile. */
const holds: <T>(property: fc.IProperty<T>, parameters?: fc.Parameters<T>) => void = fc.assert;

const epochs = fc.integer({ min: 0, max: EPOCH_MAX });
const counters = fc.integer({ min: 0, max: COUNTER_MAX });

describe('a zxid', () => {
  it('is taken apart into what it was made of', () => {
    holds(
      fc.property(epochs, counters, (epoch, counter) => {
        const zxid = makeZxid(epoch, counter);
        expect(isZxid(zxid)).toBe(true);
        expect([epochOf(zxid), counterOf(zxid)]).toEqual([epoch, counter]);
      }),
    );
  });

  it('of a later epoch is greater than any of an earlier one', () => {
    expect(makeZxid(3, 0)).toBeGreaterThan(makeZxid(2, COUNTER_MAX));
    expect(makeZxid(EPOCH_MAX, COUNTER_MAX)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('is not made of an epoch or counter out of range', () => {
    expect(() => makeZxid(EPOCH_MAX + 1, 0)).toThrowError('epoch');
    expect(() => makeZxid(0, COUNTER_MAX + 1)).toThrowError('counter');
    expect(() => makeZxid(-1, 0)).toThrowError('epoch');
    expect(() => makeZxid(0, 0.5)).toThrowError('counter');
  });

  it('prints as ZooKeeper prints it', () => {
    expect(formatZxid(makeZxid(1, 0x33))).toBe('0x100000033');
  });
});
