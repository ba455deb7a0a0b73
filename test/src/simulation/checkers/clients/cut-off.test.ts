/** Answers of a member that reaches no quorum, by small histories of three members. */
import { describe, expect, it } from 'vitest';
import { newCutOff } from './cut-off.js';
import { GET, SmallHistory } from './small-history.js';

/** (1000 + 2 * 100) * 1.01 + 2 * 5, after what is cut off at 101. */
const BOUND_MS = 101 + 1_222;
const PROPERTY = /^a cut-off member answers no client past its bound: /;

/** Client 1 is at member 1, which is cut off at 101. */
function begun(): SmallHistory {
  const history = new SmallHistory(newCutOff);
  history.session('opened');
  history.nowMs = 100;
  history.reach(1, []);
  return history;
}

describe('a cut-off member', () => {
  it('may answer until its bound', () => {
    const history = begun();
    history.nowMs = BOUND_MS - 1;
    history.done(GET('/a'), { zxid: 5 });
  });

  it('answers nothing that was asked later', () => {
    const history = begun();
    history.nowMs = BOUND_MS;
    expect(() => history.done(GET('/a'), { zxid: 5 })).toThrow(PROPERTY);
  });

  it('may have answered in time what a client takes late', () => {
    const history = begun();
    history.nowMs = BOUND_MS - 1;
    const asked = history.ask(GET('/a'));
    history.nowMs = 60_000;
    history.answer(asked, { zxid: 5 });
  });

  it('opens, resumes and ends no session later', () => {
    for (const change of ['opened', 'resumed', 'expired'] as const) {
      const history = begun();
      history.nowMs = BOUND_MS + 5;
      expect(() => history.session(change, { connection: 2 })).toThrow(PROPERTY);
    }
  });

  it('is one that reaches no quorum, for the whole of that time', () => {
    const history = begun();
    history.nowMs = 1_000;
    history.reach(1, [3]);
    history.reach(1, []);
    history.nowMs = BOUND_MS;
    history.done(GET('/a'), { zxid: 5 });
    history.reach(2, [1]);
    history.nowMs = 60_000;
    history.session('resumed', { connection: 2, member: 2 });
    history.done(GET('/a'), { zxid: 5 }, { connection: 2 });
  });
});
