/**
 * Ephemerals accepts what real states do, and rejects a znode without its session and a session
 * that leaves something behind. The wrong states are made by bypassing `apply`, which asserts.
 */
import { describe, expect, it } from 'vitest';
import { newEphemerals } from './ephemerals.js';
import { CLOSE, create, install, OPEN, stateOf, TICK, Told, zxid } from './testing/observations.js';

const SESSION = zxid(1, 1);
const MINE = { op: create('/mine', 'ephemeral'), session: SESSION };
const CLOSING = { op: CLOSE, session: SESSION };
const OPENED = { op: OPEN };

const opened = () => new Told(newEphemerals).applied(1, SESSION, OPENED, stateOf(OPENED));

/** A state with an ephemeral whose session does not exist. */
function orphaned() {
  const state = stateOf({ op: create('/other') });
  const at = { zxid: zxid(1, 2), time: 1, session: SESSION };
  state.tree.create(create('/mine', 'ephemeral'), state.tree.find('/'), at);
  return state;
}

describe('the checker of ephemerals', () => {
  it('accepts an ephemeral and the end of its session, on each member in its time', () => {
    const run = opened().applied(1, zxid(1, 2), MINE, stateOf(OPENED, MINE));
    run.applied(1, zxid(1, 3), CLOSING, stateOf(OPENED, MINE, CLOSING));
    run.started(2).applied(2, zxid(1, 2), MINE, stateOf(OPENED, MINE));
    run.end({ member: 1, state: stateOf(OPENED, MINE, CLOSING), applied: zxid(1, 3) });
  });

  it('rejects an ephemeral without a session, also in a multi', () => {
    const pattern = /live session.*: member 1 .*has \/mine of session 0x100000001, which is not/;
    const told = new Told(newEphemerals);
    expect(() => told.applied(1, zxid(1, 2), MINE, orphaned())).toThrow(pattern);
    const multi = { op: { kind: 'multi', ops: [MINE.op] }, session: SESSION } as const;
    expect(() => told.applied(1, zxid(1, 3), multi, orphaned())).toThrow(pattern);
  });

  it('rejects a closeSession that leaves its znodes, or the session', () => {
    const run = () => opened().applied(1, zxid(1, 2), MINE, stateOf(OPENED, MINE));
    expect(() => run().applied(1, zxid(1, 3), CLOSING, orphaned())).toThrow(/left \/mine behind/);
    expect(() => run().applied(1, zxid(1, 3), CLOSING, stateOf(OPENED))).toThrow(
      /left the session/,
    );
  });

  it('rejects an orphan in the tree after a start, after a snapshot, and at the end', () => {
    const next = { op: create('/next') };
    const pattern = /\/mine of session 0x100000001, which is over/;
    const told = () => new Told(newEphemerals);
    expect(() => told().started(2).applied(2, zxid(1, 3), next, orphaned())).toThrow(pattern);
    const snapshot = told().step(2, TICK, install(1, zxid(1, 2)));
    expect(() => snapshot.applied(2, zxid(1, 3), next, orphaned())).toThrow(pattern);
    const end = { member: 2, state: orphaned(), applied: zxid(1, 2) };
    expect(() => told().end(end)).toThrow(pattern);
  });

  it('rejects a state with other sessions than are open at its zxid', () => {
    const end = (state = stateOf()) => ({ member: 2, state, applied: zxid(1, 1) });
    expect(() => opened().end(end(stateOf({ op: create('/other') })))).toThrow(/no session 0x1/);
    expect(() => new Told(newEphemerals).end(end(stateOf(OPENED)))).toThrow(/1 sessions, not 0/);
  });
});
