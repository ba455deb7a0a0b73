/** What an old connection may still receive, and what it must not, in histories of a few lines. */
import { describe, expect, it } from 'vitest';
import { newMovedOn } from './moved-on.js';
import { SET, SmallHistory } from './small-history.js';

function moved(): SmallHistory {
  const history = new SmallHistory(newMovedOn);
  history.session('opened', { connection: 1 });
  history.session('resumed', { connection: 2 });
  return history;
}

describe('a connection that its session has left', () => {
  it('may receive state from before its session moved', () => {
    const history = moved();
    history.overheard(7);
    history.done(SET('/a'), { zxid: 9 }, { connection: 2 });
    history.overheard(8);
  });

  it('receives nothing about a write that was requested after that', () => {
    const history = moved();
    history.done(SET('/a'), { zxid: 9 }, { client: 5, session: 5, connection: 7 });
    expect(() => history.overheard(9)).toThrow('moved on');
  });

  it('may receive writes that were requested before, or refused without being proposed', () => {
    const history = new SmallHistory(newMovedOn);
    history.session('opened', { connection: 1 });
    const before = history.ask(SET('/a'), { client: 5, session: 5, connection: 7 });
    history.session('resumed', { connection: 2 });
    history.answer(before, { zxid: 9 });
    history.done(SET('/a'), { zxid: 10, error: -103 }, { connection: 2 });
    history.overheard(10);
  });

  it('of an ended session does not affect the next session', () => {
    const history = moved();
    history.session('opened', { session: 2, connection: 3 });
    history.session('resumed', { session: 2, connection: 4 });
    history.done(SET('/a'), { zxid: 9 }, { session: 2, connection: 4 });
    history.overheard(9, { session: 1, connection: 1 });
  });
});
