/**
 * Goal: no single clock moves the time of transactions or ages a znode, and time returns to the
 * majority's. Method: clocks are arguments, so years pass in a line.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppliedTimes, LeaderNodeAges } from './applied-times.js';
import { type ClockVerdict, MemberClocks, TermTime, type TermTimeStart } from './member-clocks.js';

const TEN_YEARS = 10 * 365 * 86_400_000;
const DATE = 1_700_000_000_000;
const TOLERANCE = 10_000;

function clocks(members: number): MemberClocks {
  return new MemberClocks({ members, toleranceMs: TOLERANCE });
}

describe('the clocks of members', () => {
  it('let the own clock count if it agrees with a majority, even if another one is wrong or unknown', () => {
    const three = clocks(3);
    three.heard(2, DATE + 3, 0);
    expect(three.judge(0, DATE).by).toBe('own');
    three.heard(3, DATE - TEN_YEARS, 0);
    expect(three.judge(500, DATE + 500)).toMatchObject({ by: 'own', baseMs: DATE });
  });

  it('contradict the own clock at once if it jumps away from the majority', () => {
    const three = clocks(3);
    three.heard(2, DATE + 3, 0);
    three.heard(3, DATE + 5, 0);
    expect(three.judge(100, DATE + 100).by).toBe('own');
    const jumped = three.judge(101, DATE + TEN_YEARS);
    expect([jumped.by, jumped.baseMs]).toEqual(['others', DATE + 5]);
    expect(three.judge(102, DATE + 102).by).toBe('own');
  });

  it('form no majority if too few are heard, or too few agree', () => {
    const three = clocks(3);
    expect(three.judge(0, DATE).by).toBe('nobody');
    three.heard(2, DATE + TOLERANCE + 1, 0);
    expect(three.judge(0, DATE).by).toBe('nobody');
    three.heard(2, DATE + TOLERANCE, 0);
    expect(three.judge(0, DATE).by).toBe('own');
    three.forget(2);
    expect(three.judge(0, DATE).by).toBe('nobody');
  });

  it('consist of its own for a standalone server, whatever it says', () => {
    expect(clocks(1).judge(0, DATE + TEN_YEARS).by).toBe('own');
  });

  it('follow a majority whose clocks are right, whatever the others say', () => {
    const wrong = fc.integer({ min: -TEN_YEARS, max: TEN_YEARS });
    const near = fc.integer({ min: 0, max: TOLERANCE / 2 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(near, { minLength: 5, maxLength: 5 }),
        fc.array(wrong, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        (faulty, right, errors, isOwnWrong) => {
          const members = 2 * faulty + 1;
          const good = right.slice(0, faulty + 1);
          const bad = errors.slice(0, faulty);
          const all = isOwnWrong ? [...bad, ...good] : [...good, ...bad];
          const judged = clocks(members);
          all.slice(1).forEach((error, at) => {
            judged.heard(at + 2, DATE + error, 0);
          });
          const { by, baseMs } = judged.judge(0, DATE + (all[0] ?? 0));
          expect(by).not.toBe('nobody');
          expect(Math.abs(baseMs - DATE)).toBeLessThanOrEqual(2 * TOLERANCE);
        },
      ),
    );
  });
});

function verdict(by: ClockVerdict['by'], baseMs: number, ...more: readonly number[]): ClockVerdict {
  return { by, baseMs, basesMs: [baseMs, ...more].sort((one, other) => one - other) };
}

function term(start: Partial<TermTimeStart> = {}): TermTime {
  const plain = { toleranceMs: TOLERANCE, lastMs: DATE, lastAtMs: 0 };
  return new TermTime({ ...plain, ...start });
}

describe('the time of transactions', () => {
  it('is the own clock while most agree, and stands still for as long as that is a little behind', () => {
    const time = term();
    expect(time.read(100, DATE + 100, verdict('own', DATE))).toBe(DATE + 100);
    expect(time.read(200, DATE + 90, verdict('own', DATE - 110))).toBe(DATE + 100);
    expect(time.read(400, DATE + 290, verdict('own', DATE - 110))).toBe(DATE + 290);
    expect(time.takeStep()).toBeNull();
  });

  it('does not follow a jump of the own clock that the majority contradicts', () => {
    const time = term();
    expect(time.read(100, DATE + TEN_YEARS, verdict('others', DATE + 2))).toBe(DATE + 102);
    expect(time.takeStep()).toBeNull();
  });

  it('keeps to the clock that is nearest to what is expected while there is no majority', () => {
    const split = verdict('nobody', DATE + TEN_YEARS, DATE + 5);
    expect(term().read(100, DATE + TEN_YEARS + 100, split)).toBe(DATE + 105);
    const fresh = term({ lastMs: 0 });
    expect(fresh.read(100, DATE + 100, verdict('nobody', DATE, DATE - TEN_YEARS))).toBe(DATE + 100);
  });

  it('falls to what the majority agrees on, and reports it', () => {
    const time = term({ lastMs: DATE + TEN_YEARS });
    expect(time.read(100, DATE + 100, verdict('own', DATE))).toBe(DATE + 100);
    expect(time.takeStep()).toEqual({ fromWallMs: DATE + TEN_YEARS, toWallMs: DATE + 100 });
    expect(time.takeStep()).toBeNull();
  });

  it('does not fall without a majority', () => {
    const ahead = DATE + TEN_YEARS;
    expect(term({ lastMs: ahead }).read(100, DATE + 100, verdict('nobody', DATE))).toBe(ahead);
  });

  it('continues with the date that the majority agrees on, however far away, and reports it', () => {
    const time = term();
    const later = DATE + TEN_YEARS;
    expect(time.read(100, DATE + 100, verdict('own', DATE))).toBe(DATE + 100);
    expect(time.read(200, later, verdict('own', later - 200))).toBe(later);
    expect(time.takeStep()).toEqual({ fromWallMs: DATE + 200, toWallMs: later });
  });

  it('reports no step ahead of what was decided before the term, but one back of it', () => {
    const [ahead, back] = [term(), term()];
    const hourMs = 3_600_000;
    expect(ahead.read(100, DATE + hourMs, verdict('own', DATE + hourMs - 100))).toBe(DATE + hourMs);
    expect(ahead.takeStep()).toBeNull();
    expect(back.read(hourMs, DATE + 100, verdict('own', DATE + 100 - hourMs))).toBe(DATE + 100);
    expect(back.takeStep()).toEqual({ fromWallMs: DATE + hourMs, toWallMs: DATE + 100 });
  });
});

describe('the age of what is applied', () => {
  it('is never overestimated, nor underestimated by more than a mark', () => {
    const applied = new AppliedTimes(10, DATE, 1_000);
    expect(applied.ageMs(7, 1_500)).toBe(500);
    applied.mark(12, DATE, 2_000);
    applied.mark(20, DATE, 3_000);
    expect([11, 12, 13, 20, 21].map((zxid) => applied.ageMs(zxid, 5_000))).toEqual([
      3_000, 3_000, 2_000, 2_000, 0,
    ]);
  });

  it('is known to a thirty-second of it, in few marks, however long the process lives', () => {
    const applied = new AppliedTimes(0, DATE, 0);
    const stepMs = 50;
    const at = (zxid: number) => zxid * stepMs;
    const last = 200_000;
    for (let zxid = 1; zxid <= last; zxid++) {
      applied.mark(zxid, DATE, at(zxid));
      if (applied.count > 2_048) throw new Error(`${applied.count} marks at ${zxid}`);
    }
    const nowMs = at(last);
    for (let zxid = 1; zxid <= last; zxid += 37) {
      const trueMs = nowMs - at(zxid);
      const ageMs = applied.ageMs(zxid, nowMs);
      expect(ageMs).toBeLessThanOrEqual(trueMs);
      expect(ageMs).toBeGreaterThanOrEqual(trueMs - trueMs / 16 - 2 * stepMs);
    }
  });

  it('starts anew with another state', () => {
    const applied = new AppliedTimes(10, DATE, 0);
    applied.reset(5, DATE, 1_000);
    expect(applied.ageMs(3, 1_500)).toBe(500);
  });
});

describe('the age of a znode', () => {
  it('by the date counts for what was there before the term, less what two clocks may be wrong', () => {
    const ages = new LeaderNodeAges({ ageMs: () => 5 }, { lastZxid: 100, toleranceMs: TOLERANCE });
    ages.tick(1_000, verdict('own', DATE));
    expect(ages.ageMs(100, DATE + 1_000 - 50_000)).toBe(30_000);
    expect(ages.ageMs(100, DATE + 1_000 - 20_000)).toBe(5);
    expect(ages.ageMs(101, DATE - TEN_YEARS)).toBe(5);
  });

  it('by the date does not count without a majority, nor by a later date than the first one', () => {
    const ages = new LeaderNodeAges({ ageMs: () => 5 }, { lastZxid: 100, toleranceMs: TOLERANCE });
    ages.tick(1_000, verdict('nobody', DATE + TEN_YEARS));
    expect(ages.ageMs(1, DATE - TEN_YEARS)).toBe(5);
    ages.tick(2_000, verdict('own', DATE));
    ages.tick(3_000, verdict('own', DATE + TEN_YEARS));
    expect(ages.ageMs(1, DATE)).toBe(5);
  });
});
