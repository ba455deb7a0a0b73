/** Writes against the ACLs that decide on them, in small histories. */
import { ErrorCode, Perms } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { type Grant, SELF, storedAcl } from '../../contract/grants.js';
import type { Operation, Result } from '../../contract/history.js';
import { ClientView } from './client-view.js';
import { createOp, GET, OPEN, refusal, SET, SmallHistory, STAT, setOp } from './small-history.js';

const { noAuth, noNode, badVersion, invalidAcl } = ErrorCode;
const RULES: readonly Grant[] = [
  { perms: Perms.all, to: 'ann' },
  { perms: Perms.read | Perms.create, to: 'bob' },
];
const ANN = { users: ['ann'] };
const BOB = { users: ['bob'] };
const NOBODY_KNOWN = {};
const CHILD: Operation = { kind: 'create', path: '/s/a', data: 'x', mode: 'persistent' };
const FIRST = { ...CHILD, path: '/s', grants: RULES } as const;

/** /s was created at 2, for ann, and for bob, who may read it and create below it. */
function begun(): SmallHistory {
  const history = new SmallHistory(() => new ClientView());
  history.applied(1, OPEN, { session: 0 });
  const asked = history.ask(FIRST);
  history.applied(2, createOp('/s', 'x', 'persistent', storedAcl(RULES, [])));
  history.answer(asked, { zxid: 2, path: '/s' });
  return history;
}

/** The next transaction refuses the operation. */
function refused(operation: Operation, error: number, by: { users?: string[] } = {}): void {
  const history = begun();
  const asked = history.ask(operation, by);
  history.applied(3, refusal(error));
  history.answer(asked, { zxid: 3, error });
}

function set(by: { users?: string[] }): void {
  const history = begun();
  const asked = history.ask(SET('/s'), by);
  history.applied(3, setOp('/s', 1));
  const stat = { ...STAT, czxid: 2, mzxid: 3, pzxid: 2, version: 1 };
  history.answer(asked, { zxid: 3, stat });
}

describe('a write', () => {
  it('of one who has the permission is done, or refused for another reason', () => {
    set(ANN);
    refused(SET('/s', 'x', 7), badVersion, ANN);
    refused({ kind: 'delete', path: '/none', version: -1 }, noNode);
  });

  it('of one who has not is refused for that alone', () => {
    for (const by of [BOB, NOBODY_KNOWN]) {
      refused(SET('/s', 'x', 7), noAuth, by);
      expect(() => set(by)).toThrow(/answered 0, and digest:ann:.* forbids it/);
      expect(() => refused(SET('/s', 'x', 7), badVersion, by)).toThrow(/answered -103, and/);
    }
    refused({ kind: 'delete', path: '/s/none', version: -1 }, noAuth, BOB);
    refused(CHILD, noAuth);
    // This is found before.
    refused({ ...CHILD, grants: [{ perms: 31, to: SELF }] }, invalidAcl);
  });

  it('of one who has the permission is not refused for want of it', () => {
    expect(() => refused(SET('/s'), noAuth, ANN)).toThrow(/as ann, was .* and digest.* permits it/);
    expect(() => refused(CHILD, noAuth, BOB)).toThrow(/permits it/);
    expect(() => refused(SET('/none'), noAuth)).toThrow(/by a znode that does not exist/);
  });
});

describe('a multi', () => {
  const PARTS = [
    { ...CHILD, grants: [{ perms: Perms.read, to: SELF }] },
    { ...CHILD, path: '/s/a/b' },
  ] as const;

  function answered(...codes: readonly number[]): void {
    const history = begun();
    const asked = history.ask({ kind: 'multi', parts: PARTS }, BOB);
    const code = codes.find((one) => one !== 0) ?? 0;
    history.applied(3, refusal(code, codes));
    const parts = codes.map((error) => ({ error, path: null, stat: null }));
    history.answer(asked, { zxid: 3, error: code, parts });
  }

  it('is decided by what its earlier parts have made', () => {
    answered(0, noAuth);
    expect(() => answered(noAuth, -2)).toThrow(/part 0: refused, and digest.* permits it/);
    expect(() => answered(0, noNode)).toThrow(/part 1: answered -101, and digest:bob:.*:1 forbids/);
  });
});

describe('what is stored', () => {
  const asked: Operation = { ...FIRST, path: '/t', grants: [{ perms: 3, to: SELF }] };

  function stored(...users: readonly string[]): void {
    const history = begun();
    const invocation = history.ask(asked, { users: ['ann', 'bob'] });
    const acl = storedAcl([{ perms: 3, to: SELF }], users);
    history.applied(3, createOp('/t', 'x', 'persistent', acl));
    history.answer(invocation, { zxid: 3, path: '/t' });
  }

  it('names the users of the connection, in any order, and nobody else', () => {
    stored('ann', 'bob');
    stored('bob', 'ann');
    expect(() => stored('ann')).toThrow(/stored digest:ann:\S* and not digest:ann:\S* digest:bob/);
    expect(() => stored('ann', 'bob', 'eve')).toThrow(/stored digest:ann/);
  });
});

describe('a read', () => {
  const shown: Partial<Result> = {
    zxid: 2,
    data: 'x',
    stat: { ...STAT, czxid: 2, mzxid: 2, pzxid: 2 },
  };

  it('shows a znode to those alone who may read it', () => {
    begun().done(GET('/s'), shown, BOB);
    begun().done(GET('/s'), { zxid: 2, error: noAuth });
    expect(() => begun().done(GET('/s'), shown)).toThrow(/0, where digest:ann:.* may read/);
    expect(() => begun().done(GET('/s'), { zxid: 2, error: noAuth }, BOB)).toThrow(/existed since/);
    expect(() => begun().done(GET('/s'), { zxid: 2, error: noNode })).toThrow(/-101, where digest/);
  });
});
