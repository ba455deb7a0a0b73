/** Answers of a member that reaches no quorum, in small histories of three members. */
import { describe, expect, it } from 'vitest';
import { newCutOff } from './cut-off.js';
import { FACTS, GET, SmallHistory } from './small-history.js';

/** The bound is (1000 + 2 * 100) * 1.01 + 2 * 5, after the cut at 101. */
const BOUND_MS = 101 + 1_222;
/**
 * For a follower whose leader was cut off from the others at 101: the leader's bound and its own.
 */
const FOLLOWER_BOUND_MS = 101 + 2 * 1_222;
const PROPERTY = /^a cut-off member answers no client past its bound: /;

function whole(): SmallHistory {
  const history = new SmallHistory(newCutOff);
  history.reach(1, [2, 3]);
  history.reach(2, [1, 3]);
  history.reach(3, [1, 2]);
  history.session('opened');
  history.nowMs = 100;
  return history;
}

/** Client 1 is at member 1, which is cut off at 101. */
function begun(): SmallHistory {
  const history = whole();
  history.reach(1, []);
  return history;
}

describe('a cut-off member', () => {
  it('may answer until its bound', () => {
    const history = begun();
    history.nowMs = BOUND_MS - 1;
    history.done(GET('/a'), { zxid: 5 });
  });

  it('answers no request that was sent later', () => {
    const history = begun();
    history.nowMs = BOUND_MS;
    expect(() => history.done(GET('/a'), { zxid: 5 })).toThrow(PROPERTY);
  });

  it('may have sent an answer in time that a client receives late', () => {
    const history = begun();
    history.nowMs = BOUND_MS - 1;
    const asked = history.ask(GET('/a'));
    history.nowMs = 60_000;
    history.answer(asked, { zxid: 5 });
  });

  it('answers nothing on its old connections when it reaches a quorum again after the bound', () => {
    const history = begun();
    history.nowMs = BOUND_MS - 1;
    const inTime = history.ask(GET('/a'));
    const late = history.ask(GET('/a'));
    history.nowMs = 60_000;
    history.reach(1, [2, 3]);
    history.answer(inTime, { zxid: 5 });
    expect(() => history.answer(late, { zxid: 5 })).toThrow(PROPERTY);
    history.session('resumed', { connection: 2 });
    history.done(GET('/a'), { zxid: 5 }, { connection: 2 });
  });

  it('continues to answer when it reaches a quorum again before its bound', () => {
    const history = begun();
    history.nowMs = BOUND_MS - 10;
    history.reach(1, [2, 3]);
    history.nowMs = 60_000;
    history.done(GET('/a'), { zxid: 5 });
  });

  it('counts what a mute member had sent when it arrives, from when it was sent', () => {
    const sentMs = 600;
    const history = begun();
    history.nowMs = 1_000;
    history.reach(1, [], { from: 2, heardMs: sentMs });
    history.nowMs = sentMs + 1_221;
    history.done(GET('/a'), { zxid: 5 });
    // Member 2 has heard a leader that might serve itself until its own bound.
    history.nowMs = sentMs + 2 * 1_222 + 2;
    expect(() => history.done(GET('/a'), { zxid: 5 })).toThrow(PROPERTY);
  });

  it('opens, resumes and ends no session after the bound', () => {
    for (const change of ['opened', 'resumed', 'expired'] as const) {
      const history = begun();
      history.nowMs = BOUND_MS + 5;
      expect(() => history.session(change, { connection: 2 })).toThrow(PROPERTY);
    }
  });

  it('is a member that reaches nobody during the whole time', () => {
    const history = begun();
    history.nowMs = 1_000;
    history.reach(1, [3]);
    history.reach(1, []);
    history.nowMs = BOUND_MS;
    history.done(GET('/a'), { zxid: 5 });
    history.nowMs = 60_000;
    history.session('resumed', { connection: 2, member: 2 });
    history.done(GET('/a'), { zxid: 5 }, { connection: 2 });
  });

  it('may answer one lease longer when it follows a leader that is cut off with it', () => {
    const history = pairCutOff();
    history.nowMs = FOLLOWER_BOUND_MS - 1;
    history.done(GET('/a'), { zxid: 5 });
    const late = pairCutOff();
    late.nowMs = FOLLOWER_BOUND_MS + 1;
    expect(() => late.done(GET('/a'), { zxid: 5 })).toThrow(PROPERTY);
  });

  it('is not a member that reaches a leader which reaches a quorum', () => {
    const history = new SmallHistory(newCutOff);
    history.reach(2, [1, 3]);
    history.reach(1, [2]);
    history.reach(3, [2]);
    history.nowMs = 60_000;
    history.session('opened');
    history.done(GET('/a'), { zxid: 5 });
  });

  it('is also a member that has never reached anybody', () => {
    const history = new SmallHistory(newCutOff);
    history.reach(1, []);
    history.nowMs = 60_000;
    expect(() => history.session('opened')).toThrow(PROPERTY);
  });
});

describe('a handshake whose answer may be held back', () => {
  const heldAt = (member: number, askedAtMs: number) => {
    const history = new SmallHistory(newCutOff, { ...FACTS, clientsHeldMaxMs: 1_500 });
    history.reach(member, [2, 3]);
    history.nowMs = 100;
    history.reach(member, []);
    history.nowMs = BOUND_MS + 1_000;
    return () => history.session('opened', { member, askedAtMs });
  };

  it('may have been answered in time', () => {
    expect(heldAt(1, BOUND_MS - 1)).not.toThrow();
  });

  it('was not answered in time if it was requested after the bound', () => {
    expect(heldAt(1, BOUND_MS + 1)).toThrow(PROPERTY);
  });
});

/** Of five members, 1 and 2 reach only each other from 101 on. */
function pairCutOff(): SmallHistory {
  const history = new SmallHistory(newCutOff, { ...FACTS, members: 5 });
  history.reach(1, [2, 3, 4, 5]);
  history.reach(2, [1, 3, 4, 5]);
  history.session('opened');
  history.nowMs = 99;
  history.reach(1, [2]);
  history.reach(2, [1]);
  return history;
}
