/** Compares the ranges with plain lists of zxids, which is what they stand for. */
import {
  type HistorySummary,
  holds,
  lastOfRanges,
  makeZxid,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commonPoint, History } from './history.js';

const BODY = new Uint8Array(4);

function chain(zxids: readonly Zxid[], base: Zxid = 0): ProposalBatch {
  return ProposalBatch.of(
    zxids.map((zxid, index) => ({ zxid, previous: zxids[index - 1] ?? base, body: BODY })),
  );
}

/** From the index on. */
function suffixOf(list: readonly Zxid[], index: number): readonly ProposalBatch[] {
  return [chain(list.slice(index), list[index - 1])];
}

function zxids(...counts: readonly (readonly [epoch: number, count: number])[]): Zxid[] {
  return counts.flatMap(([epoch, count]) =>
    Array.from({ length: count }, (_, index) => makeZxid(epoch, index + 1)),
  );
}

function historyOf(list: readonly Zxid[]): History {
  const history = new History({ base: 0, ranges: [] }, 0, []);
  list.forEach((zxid, index) => {
    history.append(chain([zxid], list[index - 1] ?? 0), index + 1);
  });
  history.onPersisted(list.length);
  return history;
}

describe('a history', () => {
  it('refuses a proposal whose predecessor is not its last', () => {
    const history = historyOf(zxids([1, 3]));
    expect(() => history.append(chain([makeZxid(1, 5)], makeZxid(1, 4)), 9)).toThrow(/follows/);
    expect(() => history.append(chain([makeZxid(1, 5)], makeZxid(1, 3)), 9)).toThrow(/hole/);
  });

  it('counts as durable only what a completed ticket has covered', () => {
    const history = new History({ base: 0, ranges: [] }, 0, []);
    history.append(chain(zxids([1, 2])), 1);
    history.append(chain([makeZxid(1, 3)], makeZxid(1, 2)), 2);
    expect(history.durable).toBe(0);
    history.onPersisted(1);
    expect(history.durable).toBe(makeZxid(1, 2));
    expect(history.last).toBe(makeZxid(1, 3));
  });

  it('lets an append that completes after a truncation vouch for nothing behind it', () => {
    const history = historyOf(zxids([1, 2]));
    history.append(chain([makeZxid(1, 3)], makeZxid(1, 2)), 3);
    history.truncate(makeZxid(1, 2));
    history.append(chain([makeZxid(2, 1)], makeZxid(1, 2)), 5);
    history.onPersisted(3);
    expect(history.durable).toBe(makeZxid(1, 2));
    history.onPersisted(4);
    expect(history.durable).toBe(makeZxid(1, 2));
    history.onPersisted(5);
    expect(history.durable).toBe(makeZxid(2, 1));
  });

  it('does not truncate to a zxid that it does not hold', () => {
    const history = historyOf(zxids([1, 2], [3, 2]));
    expect(() => history.truncate(makeZxid(1, 3))).toThrow(/does not hold/);
    expect(() => history.truncate(makeZxid(2, 1))).toThrow(/does not hold/);
  });

  it('keeps what is not delivered in memory, however small the window', () => {
    const history = historyOf(zxids([1, 4]));
    history.trim(makeZxid(1, 2), 0);
    expect(history.windowBase).toBe(makeZxid(1, 2));
    expect(history.slice(makeZxid(1, 2), makeZxid(1, 4))).toHaveLength(2);
    expect(() => history.slice(makeZxid(1, 1), makeZxid(1, 4))).toThrow(/older than the window/);
  });

  it('starts after the snapshot that replaced it', () => {
    const history = historyOf(zxids([1, 4]));
    history.reset(makeZxid(2, 7));
    expect(history.summary).toEqual({ base: makeZxid(2, 7), ranges: [] });
    expect(history.durable).toBe(makeZxid(2, 7));
    history.append(chain([makeZxid(2, 8)], makeZxid(2, 7)), 20);
    expect(history.last).toBe(makeZxid(2, 8));
  });

  it('is the same after recovery from its own summary', () => {
    const list = zxids([1, 3], [4, 2]);
    const { summary } = historyOf(list);
    const recovered = new History(summary, makeZxid(1, 2), suffixOf(list, 2));
    expect(recovered.summary).toEqual(summary);
    expect(recovered.durable).toBe(makeZxid(4, 2));
    expect(() => new History(summary, makeZxid(1, 2), suffixOf(list, 3))).toThrow();
  });
});

/** A log as storage may have it: some epochs, some counters of each, purged up to a point. */
const anyLog = fc
  .record({
    counts: fc.array(fc.nat(4), { minLength: 1, maxLength: 5 }),
    purged: fc.nat(6),
  })
  .map(({ counts, purged }) => {
    const all = zxids(...counts.map((count, index) => [index + 1, count] as const));
    const gone = Math.min(purged, all.length);
    return { base: all[gone - 1] ?? 0, log: all.slice(gone) };
  });

function summaryOf({ base, log }: { base: Zxid; log: readonly Zxid[] }): HistorySummary {
  const history = historyOf([]);
  history.reset(base);
  log.forEach((zxid, index) => {
    history.append(chain([zxid], log[index - 1] ?? base), index + 1);
  });
  return history.summary;
}

describe('the ranges of a history', () => {
  it('hold exactly the zxids that were appended, and the base', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(6), fc.nat(6), (log, epoch, counter) => {
        const zxid = makeZxid(epoch, counter);
        const summary = summaryOf(log);
        expect(holds(summary, zxid)).toBe(zxid === log.base || log.log.includes(zxid));
        expect(lastOfRanges(summary)).toBe(log.log.at(-1) ?? log.base);
      }),
    );
  });

  it('have as common point the newest zxid that both lists hold', () => {
    fc.assert(
      fc.property(anyLog, anyLog, (mine, theirs) => {
        const both = [mine.base, ...mine.log].filter(
          (zxid) => zxid === theirs.base || theirs.log.includes(zxid),
        );
        expect(commonPoint(summaryOf(mine), summaryOf(theirs))).toBe(Math.max(-1, ...both));
      }),
    );
  });
});
