import {
  type AckEpoch,
  type HistorySummary,
  lastOfRanges,
  makeZxid,
  ProposalBatch,
  type Zxid,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { planSync } from './catch-up.js';
import { History } from './history.js';
import { Lineage } from './lineage.js';

const BODY = new Uint8Array(1);

function leaderWith(base: Zxid, ...zxids: readonly Zxid[]): History {
  const history = new History({ base, ranges: [] }, base, []);
  zxids.forEach((zxid, index) => {
    const proposal = { zxid, previous: zxids[index - 1] ?? base, body: BODY };
    history.append(ProposalBatch.of([proposal]), index + 1);
  });
  return history;
}

function learnerWith(history: HistorySummary, applied: Zxid): AckEpoch {
  const last = lastOfRanges(history);
  return {
    kind: 'ackEpoch',
    epoch: 3,
    currentEpoch: 1,
    last,
    applied,
    history,
    snapshotOnly: false,
    lineage: [],
  };
}

/** The plan for histories of which no leadership is known. */
function planned(leader: History, learner: AckEpoch) {
  return planSync(leader, new Lineage([]), learner);
}

const range = (epoch: number, first: number, last: number) => ({ epoch, first, last });
const e = makeZxid;

describe('the plan for a learner', () => {
  const leader = leaderWith(0, e(1, 1), e(1, 2), e(2, 1), e(2, 2));

  it('is DIFF when the leader holds its last zxid', () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 2)] }, 0);
    expect(planned(leader, learner)).toEqual({ mode: 'diff', after: e(1, 2) });
  });

  it("is TRUNC when its last zxid lies within the leader's log by number only", () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 3)] }, e(1, 2));
    expect(planned(leader, learner)).toEqual({ mode: 'trunc', after: e(1, 2), divergence: null });
  });

  it("is TRUNC when its log is longer than the leader's", () => {
    const ranges = [range(1, 1, 2), range(2, 1, 5)];
    expect(planned(leader, learnerWith({ base: 0, ranges }, 0))).toEqual({
      mode: 'trunc',
      after: e(2, 2),
      divergence: null,
    });
  });

  it("is DIFF when the leader's log starts right after its last zxid, SNAP one later", () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 2)] }, 0);
    expect(planned(leaderWith(e(1, 2), e(1, 3)), learner).mode).toBe('diff');
    expect(planned(leaderWith(e(1, 3), e(1, 4)), learner).mode).toBe('snap');
  });

  it('says that histories differ when the learner applied what is beyond all that the leader has', () => {
    // The learner's log begins behind the leader's end: there is no common zxid to look at.
    const learner = learnerWith({ base: e(2, 4), ranges: [range(2, 5, 6)] }, e(2, 6));
    const lost = 'it applied what was never committed';
    expect(planned(leader, learner)).toMatchObject({ mode: 'snap', divergence: lost });
    const behind = learnerWith({ base: 0, ranges: [range(1, 1, 1)] }, e(1, 1));
    const short = leaderWith(e(2, 1), e(2, 2));
    expect(planned(short, behind)).toMatchObject({ mode: 'snap', divergence: null });
  });

  it('is never a truncation below what the learner has applied', () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 3)] }, e(1, 3));
    expect(planned(leader, learner).mode).toBe('snap');
  });

  it('is SNAP for an empty learner, unless the leader is empty too', () => {
    const learner = learnerWith({ base: 0, ranges: [] }, 0);
    expect(planned(leader, learner).mode).toBe('snap');
    expect(planned(leaderWith(0), learner)).toEqual({ mode: 'diff', after: 0 });
  });

  it('is SNAP for a damaged learner, whatever it claims to hold', () => {
    const learner = learnerWith({ base: 0, ranges: [range(1, 1, 2)] }, 0);
    expect(planned(leader, { ...learner, snapshotOnly: true }).mode).toBe('snap');
  });
});
