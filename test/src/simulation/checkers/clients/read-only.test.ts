/** Read-only sessions against the replay of the committed transactions, in small histories. */
import { expect, it } from 'vitest';
import type { Operation } from '../../contract/history.js';
import { ClientView } from './client-view.js';
import { createOp, GET, OPEN, SET, SmallHistory, STAT, setOp } from './small-history.js';

const AT_2 = { zxid: 2, data: 'x', stat: { ...STAT, czxid: 2, mzxid: 2, pzxid: 2 } };
const AT_3 = { zxid: 3, data: 'y', stat: { ...AT_2.stat, mzxid: 3, version: 1 } };
const SYNC: Operation = { kind: 'sync', path: '/a' };

/** /a was created at 2 and set at 3. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  const of = { session: 0 };
  history.applied(1, OPEN, of);
  history.applied(2, createOp('/a', 'x'), of);
  history.applied(3, setOp('/a', 1, 'y'), of);
  return history;
}

it('shows an old state, and a newer one on a later connection', () => {
  const history = begun();
  history.readOnly(GET('/a'), AT_2);
  history.readOnly(GET('/none'), { zxid: 2, error: -101 });
  history.readOnly({ kind: 'ephemerals', path: '/' }, { zxid: 2, children: [] });
  history.readOnly(GET('/a'), AT_3, { connection: 10 });
  expect(() => history.readOnly(GET('/a'), AT_2, { connection: 11 })).toThrow(/behind an answer/);
});

it('is violated by a state that changes on one connection, or that never was', () => {
  const history = begun();
  history.readOnly(GET('/a'), AT_2);
  expect(() => history.readOnly(GET('/a'), AT_3)).toThrow(/^a member without a quorum shows one/);
  expect(() => begun().readOnly(GET('/a'), { ...AT_2, data: 'y' })).toThrow(/the data are y/);
  expect(() => begun().readOnly(GET('/a'), { ...AT_2, zxid: 4 })).toThrow(/nobody has applied/);
});

it('refuses writes and syncs', () => {
  const history = begun();
  for (const operation of [SET('/a'), SYNC]) {
    history.readOnly(operation, { zxid: 2, error: -119 });
    expect(() => begun().readOnly(operation, { zxid: 2 })).toThrow(/with 0, not refused/);
    expect(() => begun().readOnly(operation, { zxid: 2, error: -4 })).toThrow(/with -4/);
  }
});
