import { describe, expect, it } from 'vitest';
import { ConnectionTokens } from './client-port.js';

describe('connection tokens', () => {
  it('let as many come at once as the bucket holds, then as many as are refilled', () => {
    const tokens = new ConnectionTokens({ max: 3, perSecond: 2 }, 1_000);
    const taken = (nowMs: number) => tokens.take(nowMs);
    expect([1_000, 1_000, 1_000, 1_000].map(taken)).toEqual([true, true, true, false]);
    expect([1_400, 1_500, 1_500, 1_999, 2_000].map(taken)).toEqual([
      ...[false, true, false, false, true],
    ]);
  });

  it('never hold more than the bucket, however long nobody comes', () => {
    const tokens = new ConnectionTokens({ max: 2, perSecond: 1_000 }, 0);
    const taken = Array.from({ length: 4 }, () => tokens.take(3_600_000));
    expect(taken).toEqual([true, true, false, false]);
  });

  it('are no limit when there are none', () => {
    const tokens = new ConnectionTokens({ max: 0, perSecond: 0 }, 0);
    expect(Array.from({ length: 100 }, () => tokens.take(0))).not.toContain(false);
  });
});
