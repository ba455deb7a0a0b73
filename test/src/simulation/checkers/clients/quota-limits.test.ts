/** Creates against hard limits, in small histories. */
import { expect, it } from 'vitest';
import type { Operation } from '../../contract/history.js';
import { ClientView } from './client-view.js';
import { createOp, GET, OPEN, SmallHistory, STAT, setOp } from './small-history.js';

const RULES = '/zookeeper/quota/l/zookeeper_limits';
const CREATE: Operation = { kind: 'create', path: '/l/b', data: 'x', mode: 'persistent' };

/** /l has a limit of two, itself included, and /l/a since 5. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  const of = { session: 0 };
  history.applied(1, OPEN, of);
  history.applied(2, createOp('/l'), of);
  history.applied(3, createOp('/zookeeper/quota/l'), of);
  history.applied(4, createOp(RULES, limited(2)), of);
  history.applied(5, createOp('/l/a'), of);
  return history;
}

function limited(count: number): string {
  return `count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=${count};by=1.1`;
}

function sees(history: SmallHistory, zxid: number): void {
  const stat = { ...STAT, czxid: 2, mzxid: 2, pzxid: zxid < 5 ? 2 : 5 };
  const children = zxid < 5 ? 0 : 1;
  const shown = { ...stat, cversion: children, numChildren: children };
  history.done(GET('/l'), { zxid, data: 'x', stat: shown });
}

function creates(history: SmallHistory, zxid: number): void {
  const asked = history.ask(CREATE);
  history.applied(zxid, createOp('/l/b'));
  history.answer(asked, { zxid, path: '/l/b' });
}

it('is violated by a create of one who has seen that there is no room', () => {
  const history = begun();
  sees(history, 5);
  expect(() => creates(history, 6)).toThrow(/there were 2 or more since 0x5, of at most 2/);
});

it('allows what was in flight, and what a changed limit may have allowed', () => {
  const history = begun();
  sees(history, 4);
  creates(history, 6);
  const changed = begun();
  sees(changed, 5);
  changed.applied(6, setOp(RULES, 1, limited(3)), { session: 0 });
  creates(changed, 7);
});
