/** What an old connection may still be told, and what it must not, by histories of a few lines. */
import { describe, expect, it } from 'vitest';
import { newMovedOn } from './moved-on.js';
import { SET, SmallHistory } from './small-history.js';

function moved(): SmallHistory {
  const history = new SmallHistory(newMovedOn);
  history.session('opened', { connection: 1 });
  history.session('resumed', { connection: 2 });
  return history;
}

describe('a connection that was left for another', () => {
  it('may be told what was there before its session moved', () => {
    const history = moved();
    history.overheard(7);
    history.done(SET('/a'), { zxid: 9 }, { connection: 2 });
    history.overheard(8);
  });

  it('is told nothing of a write that anybody asked for after that', () => {
    const history = moved();
    history.done(SET('/a'), { zxid: 9 }, { client: 5, session: 5, connection: 7 });
    expect(() => history.overheard(9)).toThrow('moved on');
  });

  it('may be told of writes that were asked for before, or refused without being proposed', () => {
    const history = new SmallHistory(newMovedOn);
    history.session('opened', { connection: 1 });
    const before = history.ask(SET('/a'), { client: 5, session: 5, connection: 7 });
    history.session('resumed', { connection: 2 });
    history.answer(before, { zxid: 9 });
    history.done(SET('/a'), { zxid: 10, error: -103 }, { connection: 2 });
    history.overheard(10);
  });

  it('of a session that is over says nothing of the next one', () => {
    const history = moved();
    history.session('opened', { session: 2, connection: 3 });
    history.session('resumed', { session: 2, connection: 4 });
    history.done(SET('/a'), { zxid: 9 }, { session: 2, connection: 4 });
    history.overheard(9, { session: 1, connection: 1 });
  });
});
