/**
 * Decides when a member is started again: after pauses that grow, up to a limit, with a new count
 * after a minute.
 */
import { describe, expect, it } from 'vitest';
import { RESTARTS_MAX, Restarts, WITHIN_MS } from './ensemble.js';

describe('restarts of a member', () => {
  it('come after pauses that double, and end after five within a minute', () => {
    const restarts = new Restarts();
    const pauses: (number | null)[] = [];
    let nowMs = 0;
    for (let end = 0; end <= RESTARTS_MAX; end++) {
      const pause = restarts.next(nowMs);
      pauses.push(pause);
      nowMs += pause ?? 0;
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, null]);
    expect(nowMs).toBeLessThan(WITHIN_MS);
  });

  it('begin anew once a minute has gone by', () => {
    const restarts = new Restarts();
    for (let end = 0; end < RESTARTS_MAX; end++) restarts.next(0);
    expect(restarts.next(WITHIN_MS - 1)).toBeNull();
    expect(restarts.next(WITHIN_MS)).toBe(500);
  });

  it('never end for a member that dies only now and then', () => {
    const restarts = new Restarts();
    for (let end = 0; end < 100; end++) {
      expect(restarts.next((end * WITHIN_MS) / RESTARTS_MAX)).not.toBeNull();
    }
  });
});
