/**
 * When a session with a timeout of 1 s, which is reported to its leader within 200 ms, counts as
 * heard from.
 */
import { describe, expect, it } from 'vitest';
import { LastHeard } from './last-heard.js';

function heardAt(...sentAtMs: readonly number[]): number {
  const heard = new LastHeard({ timeoutMs: 1000, toldWithinMs: 200 });
  for (const atMs of sentAtMs) heard.hear(atMs);
  return heard.atMs;
}

describe('a session', () => {
  it('is heard from by each request that comes within its timeout, in any order of replies', () => {
    expect(heardAt()).toBe(0);
    expect(heardAt(5)).toBe(5);
    expect(heardAt(5, 1005)).toBe(1005);
    expect(heardAt(5, 900, 300)).toBe(900);
  });

  it('is not heard from by a later request, nor by those right after it', () => {
    expect(heardAt(5, 1006)).toBe(5);
    expect(heardAt(5, 1006, 1205)).toBe(5);
  });

  it('is heard from again once it has existed longer than the leader may be unaware of it', () => {
    expect(heardAt(5, 1006, 1206)).toBe(1206);
    expect(heardAt(5, 1006, 1206, 2206)).toBe(2206);
    expect(heardAt(5, 1006, 1206, 2207)).toBe(1206);
    expect(heardAt(5, 1006, 2007)).toBe(5);
    expect(heardAt(5, 1006, 2007, 2206)).toBe(5);
    expect(heardAt(5, 1006, 2007, 2207)).toBe(2207);
  });
});
