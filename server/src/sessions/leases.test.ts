import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { type ExpiredLease, ExpiredSessionNotes, Leases } from './leases.js';
import { LeaseClock } from './member-clocks.js';

const OPTIONS = { slackMs: 50, bucketMs: 100 };

const sessionsOf = (expired: readonly ExpiredLease[]) => expired.map(({ session }) => session);

describe('Leases', () => {
  it('a session expires after its timeout and the slack, not before', () => {
    const leases = new Leases(OPTIONS);
    leases.add(1, 1_000, 5_000_000_000);
    expect(sessionsOf(leases.expired(5_000_001_050 - 1, 10))).toEqual([]);
    expect(sessionsOf(leases.expired(5_000_001_150, 10))).toEqual([1]);
    expect(sessionsOf(leases.expired(5_000_009_000, 10))).toEqual([]);
    expect(leases.count).toBe(0);
  });

  it('at most the requested number expires at once, and the rest is not forgotten', () => {
    const leases = new Leases(OPTIONS);
    for (let session = 1; session <= 5; session++) leases.add(session, 1_000, 0);
    const first = sessionsOf(leases.expired(10_000, 3));
    const rest = sessionsOf(leases.expired(10_000, 3));
    expect([first.length, rest.length]).toEqual([3, 2]);
    expect([...first, ...rest].sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('examines a bounded number of leases in a call, and forgets none of the others', () => {
    const leases = new Leases(OPTIONS);
    const count = 50_000;
    for (let session = 1; session <= count; session++) leases.add(session, 1_000, 0);
    // All are heard from at the end of their bucket, but for one that comes last.
    for (let session = 2; session <= count; session++) leases.touch(session, 1_000);
    const looks: number[] = [];
    const found: number[] = [];
    const { get } = Map.prototype;
    for (let call = 0; call < 4; call++) {
      const spy = vi.spyOn(Map.prototype, 'get').mockImplementation(get);
      found.push(...sessionsOf(leases.expired(1_200, 10)));
      looks.push(spy.mock.calls.length);
      spy.mockRestore();
    }
    // A look at the lease, and another one at its new bucket.
    expect(Math.max(...looks)).toBeLessThan(2 * 20_000 + 100);
    expect(found).toEqual([1]);
    expect(leases.count).toBe(count - 1);
    const rest: number[] = [];
    for (let call = 0; call < 10; call++) rest.push(...sessionsOf(leases.expired(9_000, count)));
    expect(rest.length).toBe(count - 1);
  });

  it('a touch never shortens a lease, and one of an unknown session does nothing', () => {
    const leases = new Leases(OPTIONS);
    leases.add(1, 1_000, 1_000);
    leases.touch(1, 0);
    leases.touch(2, 0);
    expect(sessionsOf(leases.expired(2_000, 10))).toEqual([]);
    expect(sessionsOf(leases.expired(2_200, 10))).toEqual([1]);
  });

  it('a session that is ended expires at the next check, once, however it is touched', () => {
    const leases = new Leases(OPTIONS);
    for (const session of [1, 2, 3, 4]) leases.add(session, 1_000, 0);
    expect([1, 2, 3, 9, 3].map((session) => leases.end(session))).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
    leases.touch(1, 500);
    leases.remove(2);
    expect(sessionsOf(leases.expired(0, 1))).toEqual([1]);
    expect(sessionsOf(leases.expired(0, 10))).toEqual([3]);
    expect(sessionsOf(leases.expired(1_150, 10))).toEqual([4]);
    expect(leases.count).toBe(0);
  });

  it('expires every session within one bucket of its deadline, and none before it', () => {
    const step = fc.record({
      kind: fc.constantFrom('add', 'touch', 'remove', 'expire'),
      session: fc.integer({ min: 1, max: 8 }),
      timeoutMs: fc.integer({ min: 1, max: 2_000 }),
      afterMs: fc.integer({ min: 0, max: 700 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
        const leases = new Leases(OPTIONS);
        const model = new Map<number, { timeoutMs: number; deadlineMs: number }>();
        let nowMs = 12_345;
        for (const { kind, session, timeoutMs, afterMs } of steps) {
          nowMs += afterMs;
          const known = model.get(session);
          if (kind === 'add' && known === undefined) {
            leases.add(session, timeoutMs, nowMs);
            model.set(session, { timeoutMs, deadlineMs: nowMs + timeoutMs + 50 });
          } else if (kind === 'touch') {
            leases.touch(session, nowMs);
            if (known !== undefined) known.deadlineMs = nowMs + known.timeoutMs + 50;
          } else if (kind === 'remove') {
            leases.remove(session);
            model.delete(session);
          } else if (kind === 'expire') {
            const expired = sessionsOf(leases.expired(nowMs, 3));
            for (const gone of expired) {
              expect(model.get(gone)?.deadlineMs).toBeLessThanOrEqual(nowMs);
              model.delete(gone);
            }
            if (expired.length === 3) continue;
            for (const { deadlineMs } of model.values()) {
              expect(deadlineMs).toBeGreaterThan(nowMs - 100);
            }
          }
          expect(leases.count).toBe(model.size);
        }
      }),
    );
  });
});

describe('ExpiredSessionNotes', () => {
  it('tells how long a session was silent, and whether an operator ended it', () => {
    const leases = new Leases(OPTIONS);
    leases.add(1, 1_000, 0);
    leases.add(2, 1_000, 0);
    leases.touch(1, 300);
    leases.end(2);
    expect(leases.expired(500.4, 10), 'in whole ms').toEqual([
      { session: 2, timeoutMs: 1_000, silentMs: 500, endedByOperator: true },
    ]);
    expect(leases.expired(1_500, 10)).toEqual([
      { session: 1, timeoutMs: 1_000, silentMs: 1_200, endedByOperator: false },
    ]);
  });

  it('counts all expiries and names the first ten', () => {
    const notes = new ExpiredSessionNotes();
    expect(notes.take()).toBeNull();
    const known = {
      timeoutMs: 1_000,
      silentMs: 2_000,
      endedByOperator: false,
      member: 2,
      ephemerals: 0,
    };
    for (let session = 1; session <= 12; session++) notes.add({ session, ...known });
    const taken = notes.take();
    expect(taken?.count).toBe(12);
    expect(taken?.sessions.map(({ session }) => session)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(notes.take()).toBeNull();
  });
});

describe('LeaseClock', () => {
  it('does not count the time in which the process was suspended', () => {
    const clock = new LeaseClock(200);
    expect(clock.read(1_000)).toBe(0);
    expect(clock.read(1_100)).toBe(100);
    expect(clock.read(61_100)).toBe(300);
    expect(clock.read(61_000)).toBe(300);
    expect(clock.read(61_150)).toBe(450);
  });
});
