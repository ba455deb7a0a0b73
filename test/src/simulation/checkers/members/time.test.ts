/**
 * Goal: Time accepts a standing and a going clock, also from who is behind; refuses a falling one.
 */
import { describe, expect, it } from 'vitest';
import { Told, zxid } from './testing/observations.js';
import { newTime } from './time.js';

const told = () =>
  new Told(newTime).applied(1, zxid(1, 1), { time: 5 }).applied(1, zxid(1, 2), { time: 9 });

describe('the checker of time', () => {
  it('accepts equal and later times, and who applies the same later', () => {
    told().applied(2, zxid(1, 1), { time: 5 }).applied(1, zxid(2, 1), { time: 9 });
  });

  it('refuses a time that falls', () => {
    expect(() => told().applied(2, zxid(2, 1), { time: 8 })).toThrow(
      /time of transactions never falls.*: member 2 .*0x200000001 of 8; 0x100000002 has 9/,
    );
  });
});
