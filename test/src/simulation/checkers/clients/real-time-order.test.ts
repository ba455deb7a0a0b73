/** Real time: what any client has seen, and what is requested after that. */
import { describe, expect, it } from 'vitest';
import { newRealTimeOrder } from './real-time-order.js';
import { GET, SET, SmallHistory } from './small-history.js';

const begun = () => {
  const history = new SmallHistory(newRealTimeOrder);
  history.done(SET('/a'), { zxid: 5 });
  return history;
};
const OTHER = { client: 2, session: 2, connection: 2 };
const SYNC = { kind: 'sync', path: '/' } as const;
const PROPERTY = /^writes and syncs respect real time: /;

describe('real time', () => {
  it('is respected by writes after an acknowledged one', () => {
    const history = begun();
    history.done(SET('/b'), { zxid: 6 }, OTHER);
    expect(() => history.done(SET('/b'), { zxid: 6 })).toThrow(PROPERTY);
  });

  it('is respected by writes after a read of any client', () => {
    const history = begun();
    history.done(GET('/a'), { zxid: 9 }, OTHER);
    expect(() => history.done(SET('/b'), { zxid: 8, error: -101 })).toThrow(/0x9 had been shown/);
  });

  it('does not bind earlier requests', () => {
    const history = begun();
    const set = history.ask(SET('/b'), OTHER);
    history.done(SET('/a'), { zxid: 7 });
    history.answer(set, { zxid: 6 });
  });

  it('is respected by syncs, not by plain reads', () => {
    const history = begun();
    history.done(GET('/a'), { zxid: 3 }, OTHER);
    history.done(SYNC, { zxid: 5 }, OTHER);
    expect(() => history.done(SYNC, { zxid: 4 }, OTHER)).toThrow(PROPERTY);
  });

  it('does not bind a sync to what was seen after it was requested', () => {
    const history = begun();
    const sync = history.ask(SYNC, OTHER);
    history.done(SET('/a'), { zxid: 7 });
    history.answer(sync, { zxid: 5 });
  });
});
