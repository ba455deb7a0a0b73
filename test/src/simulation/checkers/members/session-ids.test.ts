/**
 * SessionIds accepts the lives of sessions, and rejects wrong ids and what is done after an end.
 */
import { describe, expect, it } from 'vitest';
import { newSessionIds } from './session-ids.js';
import { CLOSE, create, NOTHING, OPEN, stateOf, Told, zxid } from './testing/observations.js';

const SESSION = zxid(1, 1);
const open = () => new Told(newSessionIds).applied(1, SESSION, { op: OPEN }, stateOf({ op: OPEN }));
const write = (counter: number, op = create('/a')) =>
  [1, zxid(1, counter), { op, session: SESSION }] as const;

describe('the checker of session ids', () => {
  it('accepts changes of an open session, and refused requests of one that has ended', () => {
    const run = open().applied(...write(2));
    run.applied(1, zxid(1, 3), { op: CLOSE, session: SESSION });
    run.applied(1, zxid(1, 4), { op: NOTHING, session: SESSION });
    run.applied(1, zxid(1, 5), { op: create('/by-the-leader') });
  });

  it('rejects a session whose id is not its zxid', () => {
    const told = new Told(newSessionIds);
    expect(() => told.applied(1, SESSION, { op: OPEN })).toThrow(/zxid of its creation.*member 1/);
  });

  it('rejects a change of a session that has ended, or never existed', () => {
    const closed = open().applied(1, zxid(1, 2), { op: CLOSE, session: SESSION });
    expect(() => closed.applied(...write(3))).toThrow(/0x100000003 \(create\) of session 0x1000/);
    const twice = open().applied(1, zxid(1, 2), { op: CLOSE, session: SESSION });
    const again = () => twice.applied(1, zxid(1, 3), { op: CLOSE, session: SESSION });
    expect(again).toThrow(/not open/);
    expect(() => new Told(newSessionIds).applied(...write(3))).toThrow(/not open/);
  });
});
