/** What a session's connections may have done, one after the other, by histories of a few lines. */
import { describe, expect, it } from 'vitest';
import { ClientView } from './client-view.js';
import { createOp, OPEN, refusal, SET, SmallHistory, setOp } from './small-history.js';

const BROKEN = /^a beginning of what a connection asked for is done, before a newer one acts: /;

/** Session 1 is open on connection 1, and there is /a. */
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

describe('what one connection asked for', () => {
  it('is done from the first on, refusals among it', () => {
    const history = begun();
    begins(history, 'one', 'two', 'three');
    history.applied(3, setOp('/a', 1, 'one'));
    history.applied(4, refusal(-103));
    history.applied(5, setOp('/a', 2, 'three'));
  });

  it('is refused, and nothing of it is done, behind the end of its session', () => {
    const history = begun();
    begins(history, 'one', 'two');
    history.applied(3, { kind: 'closeSession' });
    history.applied(4, refusal(-112));
    expect(() => history.applied(5, setOp('/a', 1, 'one'))).toThrow();
  });

  it('is done with none left out', () => {
    const history = begun();
    begins(history, 'one', 'two', 'three');
    history.applied(3, setOp('/a', 1, 'one'));
    expect(() => history.applied(4, setOp('/a', 2, 'three'))).toThrow(BROKEN);
  });

  it('may end anywhere when its session goes on by another connection', () => {
    const history = begun();
    begins(history, 'one', 'two', 'three');
    history.applied(3, setOp('/a', 1, 'one'));
    history.session('resumed', { connection: 2 });
    history.lose(history.ask(SET('/a', 'four'), { connection: 2 }));
    history.applied(4, setOp('/a', 2, 'four'));
  });

  it('is not done behind what a newer connection did', () => {
    const history = begun();
    begins(history, 'one', 'two');
    history.session('resumed', { connection: 2 });
    history.lose(history.ask(SET('/a', 'four'), { connection: 2 }));
    history.applied(3, setOp('/a', 1, 'four'));
    expect(() => history.applied(4, setOp('/a', 2, 'one'))).toThrow();
  });

  it('is not done when it was asked for after its session went on elsewhere', () => {
    const history = begun();
    history.session('resumed', { connection: 2 });
    begins(history, 'late');
    expect(() => history.applied(3, setOp('/a', 1, 'late'))).toThrow(BROKEN);
  });

  it('is done by the time a newer connection is answered, or never', () => {
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
