/** The order of answers, and the visibility of a session's own writes. */
import { describe, expect, it } from 'vitest';
import { newSessionFifo } from './session-fifo.js';
import { GET, SET, SmallHistory, STAT } from './small-history.js';

const begun = () => new SmallHistory(newSessionFifo);
const PROPERTY = /^a session is answered in the order of its requests and sees its own writes: /;

describe('a session', () => {
  it('is answered in the order of its requests, on each connection', () => {
    const history = begun();
    const first = history.ask(SET('/a'));
    const second = history.ask(GET('/a'));
    const elsewhere = history.ask(GET('/a'), { client: 2, session: 2, connection: 2 });
    history.answer(elsewhere, { zxid: 9, stat: STAT });
    history.answer(first, { zxid: 3 });
    history.answer(second, { zxid: 3, stat: { ...STAT, mzxid: 3 } });
  });

  it('is broken when an answer overtakes another', () => {
    const history = begun();
    history.ask(SET('/a'));
    const second = history.ask({ kind: 'ping' });
    expect(() => history.answer(second, { zxid: 3 })).toThrow(PROPERTY);
  });

  it('is broken when it is answered twice', () => {
    const history = begun();
    const asked = history.ask(SET('/a'));
    history.answer(asked, { zxid: 3 });
    expect(() => history.answer(asked, { zxid: 4 })).toThrow(/before what was asked at undefined/);
  });

  it('has increasing zxids in its writes, including refused ones, also on its next connection', () => {
    const history = begun();
    history.done(SET('/a'), { zxid: 3, error: -101 });
    history.session('disconnected');
    const late = () => history.done(SET('/b'), { zxid: 3 }, { connection: 2 });
    expect(late).toThrow(/follows its write of 0x3/);
    history.done(SET('/b'), { zxid: 2 }, { client: 2, session: 2, connection: 3 });
  });

  it('sees its own write, or something newer', () => {
    const history = begun();
    history.done(SET('/a'), { zxid: 3 });
    history.done(GET('/a'), { zxid: 3, stat: { ...STAT, mzxid: 3 } });
    history.done(GET('/a'), { zxid: 5, stat: { ...STAT, mzxid: 5 } });
    history.done(GET('/a'), { zxid: 6, error: -101 });
    const stale = () => history.done(GET('/a'), { zxid: 7, stat: { ...STAT, mzxid: 2 } });
    expect(stale).toThrow(/shows a znode of 0x2 behind its own write of 0x3/);
  });

  it('sees what it has created, under the name in the reply', () => {
    const history = begun();
    const create = { kind: 'create', path: '/a-', data: '', mode: 'persistentSequential' } as const;
    history.done(create, { zxid: 3, path: '/a-0000000000' });
    const gone = () => history.done(GET('/a-0000000000'), { zxid: 3, error: -101 });
    expect(gone).toThrow(/shows no znode behind its own write/);
  });

  it('does not see what it has deleted', () => {
    const history = begun();
    history.done({ kind: 'delete', path: '/a', version: -1 }, { zxid: 3 });
    history.done(GET('/a'), { zxid: 3, error: -101 });
    history.done(GET('/a'), { zxid: 5, stat: { ...STAT, czxid: 4, mzxid: 4 } });
    const stale = () => history.done(GET('/a'), { zxid: 6, stat: { ...STAT, czxid: 1, mzxid: 2 } });
    expect(stale).toThrow(PROPERTY);
  });

  it('sees what its multi has set', () => {
    const history = begun();
    const set = { kind: 'set', path: '/a', data: 'x', version: -1 } as const;
    history.done({ kind: 'multi', parts: [set] }, { zxid: 3 });
    const stale = () => history.done(GET('/a'), { zxid: 3, stat: { ...STAT, mzxid: 2 } });
    expect(stale).toThrow(PROPERTY);
  });
});
