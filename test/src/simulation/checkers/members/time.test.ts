/**
 * Time accepts a constant, an advancing and a corrected clock, also from a member that is behind;
 * it rejects one that goes back a little, and one that follows a single clock.
 */
import { describe, expect, it } from 'vitest';
import { WALL_START_MS } from '../../world/clocks.js';
import { Told, zxid } from './testing/observations.js';
import { newTime } from './time.js';

const YEAR_MS = 365 * 86_400_000;
const at = (ms: number) => ({ time: WALL_START_MS + ms });
const told = () =>
  new Told(newTime).applied(1, zxid(1, 1), at(5)).applied(1, zxid(1, 2), at(90_000));

describe('the checker of time', () => {
  it('accepts equal and later times, and a member that applies the same later', () => {
    told().applied(2, zxid(1, 1), at(5)).applied(1, zxid(2, 1), at(90_000));
  });

  it('accepts a time that goes back by more than clocks may differ, and rejects one by less', () => {
    told().applied(2, zxid(2, 1), at(79_999));
    expect(() => told().applied(2, zxid(2, 1), at(80_000))).toThrow(
      /time of the clocks of most.*: member 2 .*0x200000001 of 1700000080000; 0x100000002 has/,
    );
  });

  it('rejects the time of one wrong clock, and accepts that of the majority', () => {
    const one = () => told().clockSet(1, YEAR_MS);
    expect(() => one().applied(1, zxid(1, 3), at(YEAR_MS))).toThrow(/ms ahead/);
    one().clockSet(2, YEAR_MS).applied(1, zxid(1, 3), at(YEAR_MS));
  });

  it('accepts the time of one wrong clock for the first transaction of all', () => {
    const first = new Told(newTime).clockSet(1, YEAR_MS);
    first.applied(1, zxid(1, 1), at(YEAR_MS)).applied(1, zxid(1, 2), at(YEAR_MS));
  });

  it('rejects a wrong time once all clocks have been right for long', () => {
    const healed = () =>
      told().clockSet(1, YEAR_MS).clockSet(2, YEAR_MS).clockSet(1, 0).clockSet(2, 0);
    healed().applied(1, zxid(1, 3), at(YEAR_MS));
    const later = () => healed().wait(20_000);
    expect(() => later().applied(1, zxid(1, 3), at(YEAR_MS))).toThrow(/ms ahead/);
  });
});
