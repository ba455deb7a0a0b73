/** Reads against the replay of the committed transactions, in small histories. */
import { describe, expect, it } from 'vitest';
import type { Operation, Result } from '../../contract/history.js';
import { ClientView } from './client-view.js';
import { CLOSE, createOp, GET, OPEN, SmallHistory, STAT, setOp } from './small-history.js';

const EXISTS: Operation = { kind: 'exists', path: '/a', watch: false };
const CHILDREN: Operation = { kind: 'children', path: '/a', watch: false };
/** The Stat of /a at 4. */
const NOW = { ...STAT, czxid: 2, mzxid: 3, pzxid: 4, version: 1, cversion: 1, numChildren: 1 };
/** The Stat of /a at 2. */
const BEFORE = { ...STAT, czxid: 2, mzxid: 2, pzxid: 2 };

/** /a with one child: created at 2, set at 3, and its child (an ephemeral) created at 4. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  const of = { session: 0 };
  history.applied(1, OPEN, of);
  history.applied(2, createOp('/a', 'x'), of);
  history.applied(3, setOp('/a', 1, 'y'), of);
  history.ask({ kind: 'create', path: '/a/b', data: 'z', mode: 'ephemeral' });
  history.applied(4, createOp('/a/b', 'z', 'ephemeral'));
  return history;
}

describe('reads', () => {
  it('are accepted when they show the state at their zxid, even if it is an old one', () => {
    const history = begun();
    history.done(GET('/a'), { zxid: 4, data: 'y', stat: NOW });
    history.done(EXISTS, { zxid: 4, stat: NOW });
    history.done(CHILDREN, { zxid: 4, children: ['b'], stat: NOW });
    history.done(GET('/a'), { zxid: 2, data: 'x', stat: BEFORE }, { client: 2, connection: 2 });
    history.done(GET('/a'), { zxid: 1, error: -101 }, { client: 3, connection: 3 });
    history.done(GET('/none'), { zxid: 4, error: -101 });
  });

  it('do not show ephemerals of a closed session', () => {
    const history = begun();
    history.applied(5, CLOSE);
    history.done(GET('/a/b'), { zxid: 5, error: -101 });
    const stale = { zxid: 5, data: 'z', stat: { ...STAT, czxid: 4, mzxid: 4, ephemeralOwner: 1 } };
    expect(() => history.done(GET('/a/b'), stale)).toThrow(/did not exist/);
  });

  it.each<[string, Operation, Partial<Result>, RegExp]>([
    [
      'of a znode that nobody created',
      GET('/a'),
      { zxid: 5, data: 'y', stat: NOW },
      /nobody has applied/,
    ],
    ['of older data', GET('/a'), { zxid: 4, data: 'x', stat: NOW }, /the data are x, they were y/],
    ['of an older Stat', GET('/a'), { zxid: 4, data: 'y', stat: BEFORE }, /the Stat is/],
    ['of newer data', GET('/a'), { zxid: 2, data: 'y', stat: NOW }, /the Stat is/],
    ['of a missing znode that exists', GET('/a'), { zxid: 3, error: -101 }, /existed since 0x2/],
    [
      'of an existing znode that is missing',
      GET('/b'),
      { zxid: 4, data: 'y', stat: NOW },
      /did not exist/,
    ],
    ['without a child', CHILDREN, { zxid: 4, children: [], stat: NOW }, /0 children/],
    ['with a wrong child', CHILDREN, { zxid: 4, children: ['c'], stat: NOW }, /1 children/],
    ['of another owner', EXISTS, { zxid: 4, stat: { ...NOW, ephemeralOwner: 1 } }, /the Stat/],
    ['of another cversion', EXISTS, { zxid: 4, stat: { ...NOW, cversion: 2 } }, /the Stat is/],
    ['of another pzxid', EXISTS, { zxid: 4, stat: { ...NOW, pzxid: 3 } }, /the Stat is/],
    ['of a sync with an error', { kind: 'sync', path: '/' }, { zxid: 4, error: -1 }, /error -1/],
  ])('are rejected: %s', (_, operation, result, what) => {
    const property = /^a read shows the state at the zxid of its reply: /;
    expect(() => begun().done(operation, result)).toThrow(what);
    expect(() => begun().done(operation, result)).toThrow(property);
  });
});

describe('reads at once', () => {
  const ASKED: Operation = {
    kind: 'multiRead',
    reads: [
      { kind: 'get', path: '/a' },
      { kind: 'children', path: '/a' },
      { kind: 'get', path: '/none' },
    ],
  };
  const none = { error: -101, data: null, stat: null, children: null };
  const data = { ...none, error: 0, data: 'y', stat: NOW };
  const children = { ...none, error: 0, children: ['b'] };

  it('are all of the zxid of their reply', () => {
    const history = begun();
    history.done(ASKED, { zxid: 4, reads: [data, children, none] });
    const old = { ...data, data: 'x', stat: BEFORE };
    const mixed = () => history.done(ASKED, { zxid: 4, reads: [old, children, none] });
    expect(mixed).toThrow(/read 0, get \/a: the Stat is/);
    const later = { ...children, children: [] };
    const empty = () => history.done(ASKED, { zxid: 4, reads: [data, later, none] });
    expect(empty).toThrow(/read 1, children \/a: 0 children are not the 1 it had/);
  });

  it('are as many as were asked for, and none is refused', () => {
    const history = begun();
    const few = () => history.done(ASKED, { zxid: 4, reads: [data, children] });
    expect(few).toThrow(/2 reads were answered/);
    const throttled = { ...none, error: -127 };
    const refused = () => history.done(ASKED, { zxid: 4, reads: [data, throttled, none] });
    expect(refused).toThrow(/read 1, children \/a: where it existed/);
    expect(() => history.done(ASKED, { zxid: 4, error: -5 })).toThrow(/error -5/);
  });
});

describe('a list of ephemerals', () => {
  const ASKED: Operation = { kind: 'ephemerals', path: '/a' };

  it('has those of the session that asks, at the zxid of the reply', () => {
    const history = begun();
    history.done(ASKED, { zxid: 4, children: ['/a/b'] });
    history.done(ASKED, { zxid: 3, children: [] }, { connection: 2 });
    history.done({ ...ASKED, path: '/b' }, { zxid: 4, children: [] });
    history.done(ASKED, { zxid: 4, children: [] }, { client: 2, session: 2, connection: 3 });
    const lacks = () => history.done(ASKED, { zxid: 4, children: [] });
    expect(lacks).toThrow(/its ephemerals are \[\], they were \[\/a\/b\]/);
    history.applied(5, CLOSE);
    expect(() => history.done(ASKED, { zxid: 5, children: ['/a/b'] })).toThrow(/they were \[\]/);
  });
});
