/** The end of sessions, in small histories of one with a timeout of 4 s. */
import { describe, expect, it } from 'vitest';
import { newExpiry } from './expiry.js';
import { BEGIN_CLOSE, CLOSE, GET, SmallHistory } from './small-history.js';

const EXPIRY = { origin: 0, session: 1 };
const PROPERTY = /^no session expires early: /;

/** The session was last heard from by a request that was sent at 1000. */
function begun(): SmallHistory {
  const history = new SmallHistory(newExpiry);
  history.session('opened');
  history.nowMs = 999;
  history.done(GET('/a'), { zxid: 5 });
  return history;
}

describe('a session', () => {
  it('may expire once its timeout has passed', () => {
    const history = begun();
    history.nowMs = 5_000;
    history.applied(6, CLOSE, EXPIRY);
    history.session('expired');
  });

  it('may expire a little earlier on a clock that runs too fast, but no more', () => {
    const history = begun();
    history.nowMs = 1_000 + 4_000 / 1.01;
    history.applied(6, CLOSE, EXPIRY);
    const early = begun();
    early.nowMs = 1_000 + 4_000 / 1.01 - 3;
    expect(() => early.applied(6, CLOSE, EXPIRY)).toThrow(PROPERTY);
  });

  it('counts as heard from by a request whose answer comes after the expiry', () => {
    const history = begun();
    history.nowMs = 2_999;
    const asked = history.ask(GET('/a'));
    history.nowMs = 5_000;
    history.applied(6, CLOSE, EXPIRY);
    expect(() => history.answer(asked, { zxid: 5 })).toThrow(PROPERTY);
  });

  it('does not count as heard from by a request that was never answered', () => {
    const history = begun();
    history.nowMs = 2_999;
    history.lose(history.ask(GET('/a')));
    history.nowMs = 5_000;
    history.applied(6, CLOSE, EXPIRY);
  });

  it('may be closed by its own client at any time', () => {
    const history = begun();
    history.applied(6, CLOSE);
    history.session('closed');
  });

  it('is not reported as expired before its end', () => {
    expect(() => begun().session('expired')).toThrow(/whose close nobody has applied/);
  });

  it('is not reported as expired or closed while it is closing', () => {
    for (const change of ['expired', 'closed'] as const) {
      const history = begun();
      history.nowMs = 9_000;
      history.applied(6, BEGIN_CLOSE, EXPIRY);
      expect(() => history.session(change)).toThrow(/whose close nobody has applied/);
      history.applied(7, CLOSE, EXPIRY);
      history.session(change);
    }
  });

  it('is judged when its end is decided, by whether its client had requested it', () => {
    const early = begun();
    early.nowMs = 4_000;
    expect(() => early.applied(6, BEGIN_CLOSE, EXPIRY)).toThrow(PROPERTY);
    const asked = begun();
    asked.nowMs = 4_000;
    asked.applied(6, BEGIN_CLOSE);
    // The close is that of the next leader.
    asked.applied(7, CLOSE, EXPIRY);
  });

  it('receives no answers once its end is decided', () => {
    const history = begun();
    const [before, after] = [history.ask(GET('/a')), history.ask(GET('/a'))];
    history.applied(6, BEGIN_CLOSE);
    history.answer(before, { zxid: 5 });
    expect(() => history.answer(after, { zxid: 6 })).toThrow(PROPERTY);
  });
});
