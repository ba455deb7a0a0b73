/** What the successive connections of a session may have done, in histories of a few lines. */
import { describe, expect, it } from 'vitest';
import { ClientView } from './client-view.js';
import { createOp, OPEN, refusal, SET, SmallHistory, setOp } from './small-history.js';

const BROKEN = /^a prefix of the requests of a connection is done, before a newer one acts: /;

/** Session 1 is open on connection 1, and /a exists. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  history.applied(1, OPEN, { session: 0 });
  history.session('opened', { connection: 1 });
  const create = { kind: 'create', path: '/a', data: 'x', mode: 'persistent' } as const;
  const asked = history.ask(create);
  history.applied(2, createOp('/a'));
  history.answer(asked, { zxid: 2, path: '/a' });
  return history;
}

function begins(history: SmallHistory, ...texts: readonly string[]): void {
  for (const text of texts) history.lose(history.ask(SET('/a', text), { connection: 1 }));
}

describe('the requests of one connection', () => {
  it('are done from the first one on, including refusals', () => {
    const history = begun();
    begins(history, 'one', 'two', 'three');
    history.applied(3, setOp('/a', 1, 'one'));
    history.applied(4, refusal(-103));
    history.applied(5, setOp('/a', 2, 'three'));
  });

  it('are refused and have no effect after the end of their session', () => {
    const history = begun();
    begins(history, 'one', 'two');
    history.applied(3, { kind: 'closeSession' });
    history.applied(4, refusal(-112));
    expect(() => history.applied(5, setOp('/a', 1, 'one'))).toThrow();
  });

  it('are done without omissions', () => {
    const history = begun();
    begins(history, 'one', 'two', 'three');
    history.applied(3, setOp('/a', 1, 'one'));
    expect(() => history.applied(4, setOp('/a', 2, 'three'))).toThrow(BROKEN);
  });

  it('may end anywhere when their session continues on another connection', () => {
    const history = begun();
    begins(history, 'one', 'two', 'three');
    history.applied(3, setOp('/a', 1, 'one'));
    history.session('resumed', { connection: 2 });
    history.lose(history.ask(SET('/a', 'four'), { connection: 2 }));
    history.applied(4, setOp('/a', 2, 'four'));
  });

  it('are not done after requests of a newer connection', () => {
    const history = begun();
    begins(history, 'one', 'two');
    history.session('resumed', { connection: 2 });
    history.lose(history.ask(SET('/a', 'four'), { connection: 2 }));
    history.applied(3, setOp('/a', 1, 'four'));
    expect(() => history.applied(4, setOp('/a', 2, 'one'))).toThrow();
  });

  it('are not done if they were sent after their session continued elsewhere', () => {
    const history = begun();
    history.session('resumed', { connection: 2 });
    begins(history, 'late');
    expect(() => history.applied(3, setOp('/a', 1, 'late'))).toThrow(BROKEN);
  });

  it('are done before a newer connection is answered, or never', () => {
    const inDoubt = (isDoneFirst: boolean): SmallHistory => {
      const history = begun();
      begins(history, 'one');
      const other = { client: 1, session: 1, connection: 2 };
      history.session('resumed', other);
      if (isDoneFirst) history.applied(3, setOp('/a', 1, 'one'));
      history.done({ kind: 'sync', path: '/' }, { zxid: 3 }, other);
      if (!isDoneFirst) history.applied(3, setOp('/a', 1, 'one'));
      return history;
    };
    expect(() => inDoubt(true)).not.toThrow();
    expect(() => inDoubt(false)).toThrow();
  });
});
