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
