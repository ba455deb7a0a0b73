/** Acknowledged and refused writes against the committed transactions, in small histories. */

import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES, ReplicatedState, type TxnOp } from '../../../simulated.js';
import { OPEN_ACL } from '../../contract/grants.js';
import type { Operation } from '../../contract/history.js';
import { ClientView } from './client-view.js';
import { CLOSE, createOp, OPEN, refusal, SET, SmallHistory, STAT, setOp } from './small-history.js';

const LOST = /^no acknowledged write is lost and no refused one applied: /;
const CREATE: Operation = { kind: 'create', path: '/a', data: 'x', mode: 'persistent' };

/** Session 1 is open, and has created /a at 2. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  history.applied(1, OPEN, { session: 0 });
  const asked = history.ask(CREATE);
  history.applied(2, createOp('/a'));
  history.answer(asked, { zxid: 2, path: '/a' });
  return history;
}

/** The Stat of /a after this many sets, the last of them at `zxid`. */
function statOf(zxid: number, version: number) {
  return { ...STAT, czxid: 2, pzxid: 2, mzxid: zxid, version };
}

describe('acknowledged writes', () => {
  it('are accepted when the transaction at their zxid is theirs', () => {
    const history = begun();
    const set = history.ask(SET('/a', 'y'));
    const refused = history.ask(SET('/b', 'z'));
    history.applied(3, setOp('/a', 1, 'y'));
    history.applied(4, refusal(-101));
    history.applied(3, setOp('/a', 1, 'y'), { member: 2, request: 3 });
    history.answer(set, { zxid: 3, stat: statOf(3, 1) });
    history.answer(refused, { zxid: 4, error: -101 });
  });

  it('of a number are those that raise it far enough, and are told the number', () => {
    const RAISE: Operation = { kind: 'raise', path: '/a', atLeast: 7 };
    const begin = (creates: number, path = '/a') => {
      const history = begun();
      const asked = history.ask(RAISE);
      history.applied(3, { kind: 'raiseSequence', path, creates });
      return { history, asked };
    };
    const { history, asked } = begin(7);
    const after = { ...statOf(2, 0), cversion: 14 };
    history.answer(asked, { zxid: 3, data: '7' });
    history.done({ kind: 'exists', path: '/a', watch: false }, { zxid: 3, stat: after });
    const stale = { zxid: 3, stat: statOf(2, 0) };
    expect(() => history.done({ kind: 'exists', path: '/a', watch: false }, stale)).toThrow('Stat');
    const other = begin(9);
    expect(() => other.history.answer(other.asked, { zxid: 3, data: '7' })).toThrow('it was 9');
    expect(() => begin(6)).toThrow(LOST);
    expect(() => begin(7, '/')).toThrow(LOST);
    const lowered = begin(7).history;
    lowered.ask({ ...RAISE, atLeast: 5 });
    const lower = { kind: 'raiseSequence', path: '/a', creates: 5 } as const;
    expect(() => lowered.applied(4, lower)).toThrow('makes number 5 of /a from 7');
  });

  it('of an ACL are told apart by what they set, and change no data version', () => {
    const SET_ACL: Operation = { kind: 'setAcl', path: '/a', acl: '1.7', version: 0 };
    const after = { ...statOf(2, 0), aversion: 1 };
    const begin = (version: number, id = '1.7:x') => {
      const history = begun();
      const asked = history.ask(SET_ACL);
      history.applied(3, {
        kind: 'setAcl',
        path: '/a',
        acl: [...OPEN_ACL, { perms: 31, scheme: 'digest', id }],
        version,
      });
      return { history, asked };
    };
    const { history, asked } = begin(1);
    history.answer(asked, { zxid: 3, stat: after });
    history.done({ kind: 'exists', path: '/a', watch: false }, { zxid: 3, stat: after });
    const stale = { zxid: 3, stat: statOf(2, 0) };
    expect(() => history.done({ kind: 'exists', path: '/a', watch: false }, stale)).toThrow('Stat');
    expect(() => begin(2)).toThrow('makes ACL 2 of /a, not 1');
    expect(() => begin(1, '1.8:x')).toThrow(LOST);
  });

  it('must have been applied by some member', () => {
    const history = begun();
    expect(() => history.done(SET('/a'), { zxid: 3 })).toThrow(
      /^no ack.* which nobody has applied/,
    );
  });

  it('and writes without an answer are done before a sync of their session, or never', () => {
    const inDoubt = (syncsFirst: boolean) => {
      const history = begun();
      history.lose(history.ask(SET('/a', 'y')));
      const done = () => history.applied(3, setOp('/a', 1, 'y'));
      if (!syncsFirst) done();
      history.done({ kind: 'sync', path: '/' }, { zxid: syncsFirst ? 2 : 3 }, { connection: 2 });
      if (syncsFirst) done();
    };
    expect(() => inDoubt(false)).not.toThrow();
    expect(() => inDoubt(true)).toThrow(LOST);
  });

  it('must not be those of another session', () => {
    const history = begun();
    history.applied(3, OPEN, { session: 0 });
    history.ask(SET('/a', 'y'), { session: 3, client: 2, connection: 2 });
    history.applied(4, setOp('/a', 1, 'y'), { session: 3 });
    expect(() => history.done(SET('/a'), { zxid: 4 })).toThrow(/a transaction of session 0x3/);
  });

  it.each<[string, Operation, TxnOp]>([
    ['data', SET('/a', 'y'), setOp('/a', 1, 'z')],
    ['path', SET('/a', 'y'), setOp('/b', 1, 'y')],
    ['version', SET('/a', 'y', 3), setOp('/a', 1, 'y')],
    ['kind', SET('/a', 'y'), { kind: 'delete', path: '/a' }],
    ['owner', CREATE, createOp('/a', 'x', 'ephemeral')],
  ])('must have the %s that was requested', (_, asked, op) => {
    const history = begun();
    history.applied(3, createOp('/b'), { session: 0 });
    if (op.kind === 'create') history.applied(4, { kind: 'delete', path: '/a' }, { session: 0 });
    history.ask(asked);
    const zxid = op.kind === 'create' ? 5 : 4;
    expect(() => history.applied(zxid, op)).toThrow(/had not asked for/);
  });

  it('are applied at most once', () => {
    const history = begun();
    history.ask(SET('/a', 'y'));
    history.applied(3, setOp('/a', 1, 'y'));
    expect(() => history.applied(4, setOp('/a', 2, 'y'))).toThrow(/or not once more/);
  });

  it('are not applied after a later one of the same session', () => {
    const history = begun();
    history.lose(history.ask(SET('/a', 'first')));
    history.ask(SET('/a', 'second'), { connection: 2 });
    history.applied(3, setOp('/a', 1, 'second'));
    expect(() => history.applied(4, setOp('/a', 2, 'first'))).toThrow(LOST);
  });

  it('may be applied although the answer was lost', () => {
    const history = begun();
    history.lose(history.ask(SET('/a', 'y')));
    history.applied(3, setOp('/a', 1, 'y'));
  });

  it('are answered with the effect that they had', () => {
    const history = begun();
    const set = history.ask(SET('/a', 'y'));
    history.applied(3, setOp('/a', 1, 'y'));
    expect(() => history.answer(set, { zxid: 3, stat: statOf(3, 2) })).toThrow(/the Stat is/);
  });

  it('are answered with the name that was created', () => {
    const history = begun();
    const asked: Operation = { ...CREATE, path: '/a/n-', mode: 'persistentSequential' };
    const create = history.ask(asked);
    history.applied(3, createOp('/a/n-0000000000'));
    const wrong = { zxid: 3, path: '/a/n-0000000001' };
    expect(() => history.answer(create, wrong)).toThrow(/it was \/a\/n-0000000000/);
  });
});

describe('refused writes', () => {
  it('are not applied', () => {
    const history = begun();
    const set = history.ask(SET('/a', 'y'));
    history.applied(3, setOp('/a', 1, 'y'));
    expect(() => history.answer(set, { zxid: 3, error: -103 })).toThrow(/where a setData was done/);
  });

  it('are not applied later', () => {
    const history = begun();
    const set = history.ask(SET('/a', 'y'));
    history.applied(3, refusal(-103));
    history.answer(set, { zxid: 3, error: -103 });
    expect(() => history.applied(4, setOp('/a', 1, 'y'))).toThrow(/had not asked for/);
  });

  it('are answered with their error', () => {
    const history = begun();
    const set = history.ask(SET('/a', 'y'));
    history.applied(3, refusal(-103));
    expect(() => history.answer(set, { zxid: 3, error: -101 })).toThrow(/but its error is -103/);
  });

  it('are answered with the error of each part of a multi', () => {
    const parts = [
      { kind: 'delete', path: '/a', version: -1 },
      { kind: 'check', path: '/b', version: 0 },
    ] as const;
    const told = (errors: readonly number[]) => {
      return errors.map((error) => ({ error, path: null, stat: null }));
    };
    const history = begun();
    const multi = history.ask({ kind: 'multi', parts });
    history.applied(3, refusal(-101, [0, -101]));
    history.answer(multi, { zxid: 3, error: -101, parts: told([0, -101]) });
    const again = history.ask({ kind: 'multi', parts });
    history.applied(4, refusal(-101, [0, -101]));
    const wrong = { zxid: 4, error: -101, parts: told([-101, -2]) };
    expect(() => history.answer(again, wrong)).toThrow(/its error is 0 -101/);
  });
});

describe('members', () => {
  it('may not skip what another has applied', () => {
    const history = begun();
    const state = new ReplicatedState();
    history.applied(1, OPEN, { session: 0, member: 2, request: 1, state });
    history.applied(2, createOp('/a'), { member: 2, request: 2, state });
    history.ask(SET('/a', 'y'));
    history.ask(SET('/a', 'z'));
    history.applied(3, setOp('/a', 1, 'y'));
    history.applied(4, setOp('/a', 2, 'z'));
    const skips = () => history.applied(4, setOp('/a', 2, 'z'), { member: 2, request: 6, state });
    expect(skips).toThrow(/member 2.1 applies 0x4 .* behind 0x2, and never 0x3/);
  });

  it('may not have another transaction in the same place', () => {
    const history = begun();
    const other = () => history.applied(2, createOp('/b'), { member: 2, session: 7 });
    expect(other).toThrow(/but a create where others did a create/);
  });

  it('may not insert a transaction between those that others have applied', () => {
    const history = begun();
    history.applied(2 ** 32 + 1, OPEN, { session: 0 });
    expect(() => history.applied(3, OPEN, { session: 0, member: 2 })).toThrow(/others went past/);
  });

  it('must have applied all transactions at the end, and no others', () => {
    const ofAll = (ops: readonly TxnOp[]) => {
      const state = new ReplicatedState();
      for (const [index, op] of ops.entries()) {
        const session = op.kind === 'createSession' ? 0 : 1;
        const txn = { origin: 1, request: index + 1, session, time: 5, op };
        state.apply(index + 1, txn, IGNORE_CHANGES);
      }
      return state;
    };
    begun().end(2, ofAll([OPEN, createOp('/a')]));
    const wrong: readonly [readonly TxnOp[], RegExp][] = [
      [[OPEN], /is at 0x1, not at 0x2/],
      [[OPEN, refusal(-4)], /has no \/a/],
      [[OPEN, createOp('/a', 'other')], /shows \/a/],
      [[OPEN, OPEN], /has no \/a/],
      [[OPEN, { kind: 'multi', ops: [createOp('/a'), createOp('/b')] }], /has 6 znodes, not 5/],
    ];
    for (const [ops, what] of wrong) {
      expect(() => begun().end(ops.length, ofAll(ops))).toThrow(what);
    }
  });
});

describe('the replay', () => {
  it.each<[string, TxnOp, RegExp]>([
    ['creates what exists', createOp('/a'), /creates \/a, which exists/],
    ['creates below a missing parent', createOp('/b/c'), /is about \/b, which does not exist/],
    ['sets another version than the next one', setOp('/a', 2), /makes version 2 of \/a, not 1/],
    ['deletes what does not exist', { kind: 'delete', path: '/b' }, /is about \/b/],
    ['deletes what has children', { kind: 'delete', path: '/zookeeper' }, /which has children/],
  ])('accepts no transaction that %s', (_, op, what) => {
    expect(() => begun().applied(3, op)).toThrow(what);
  });

  it('accepts no transaction of a session that is not open, and none after a gap', () => {
    const history = begun();
    history.applied(3, CLOSE);
    expect(() => history.applied(4, setOp('/a', 1))).toThrow(/session 0x1, which is not open/);
    expect(() => begun().applied(4, OPEN, { session: 0 })).toThrow(/0x4 follows 0x2/);
  });
});
