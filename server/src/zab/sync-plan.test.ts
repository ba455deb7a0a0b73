import { type AckEpoch, type HistorySummary, makeZxid, type Zxid } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { History, lastOf } from './history.js';
import { planSync } from './sync-plan.js';

const BODY = new Uint8Array(1);

function leaderWith(base: Zxid, ...zxids: readonly Zxid[]): History {
  const history = new History({ base, ranges: [] }, base, []);
  zxids.forEach((zxid, index) => {
    history.append([{ zxid, previous: zxids[index - 1] ?? base, body: BODY }], index + 1);
  });
  return history;
}

function learnerWith(history: HistorySummary, applied: Zxid): AckEpoch {
  const last = lastOf(history);
  return {
    kind: 'ackEpoch',
    epoch: 3,
    currentEpoch: 1,
    last,
    applied,
    history,
    snapshotOnly: false,
  };
}

const range = (epoch: number, first: number, last: number) => ({ epoch, first, last });
const e = makeZxid;

describe('the plan for a learner', () => {
  const leader = leaderWith(0, e(1, 1), e(1, 2), e(2, 1), e(2, 2));

  it('is DIFF when the leader holds its last zxid', () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 2)] }, 0);
    expect(planSync(leader, learner)).toEqual({ mode: 'diff', after: e(1, 2) });
  });

  it("is TRUNC when its last zxid lies within the leader's log by number only", () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 3)] }, e(1, 2));
    expect(planSync(leader, learner)).toEqual({ mode: 'trunc', after: e(1, 2) });
  });

  it("is TRUNC when its log is longer than the leader's", () => {
    const ranges = [range(1, 1, 2), range(2, 1, 5)];
    expect(planSync(leader, learnerWith({ base: 0, ranges }, 0))).toEqual({
      mode: 'trunc',
      after: e(2, 2),
    });
  });

  it("is DIFF when the leader's log starts right after its last zxid, SNAP one later", () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 2)] }, 0);
    expect(planSync(leaderWith(e(1, 2), e(1, 3)), learner).mode).toBe('diff');
    expect(planSync(leaderWith(e(1, 3), e(1, 4)), learner).mode).toBe('snap');
  });

  it('is never a truncation below what the learner has applied', () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 3)] }, e(1, 3));
    expect(planSync(leader, learner).mode).toBe('snap');
  });

  it('is SNAP for an empty learner, unless the leader is empty too', () => {
    const learner = learnerWith({ base: 0, ranges: [] }, 0);
    expect(planSync(leader, learner).mode).toBe('snap');
    expect(planSync(leaderWith(0), learner)).toEqual({ mode: 'diff', after: 0 });
  });

  it('is SNAP for a damaged learner, whatever it claims to hold', () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 2)] }, 0);
    expect(planSync(leader, { ...learner, snapshotOnly: true }).mode).toBe('snap');
  });
});
