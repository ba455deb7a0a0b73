import { describe, expect, it } from 'vitest';
import { commonWireVersion } from './wire-version.js';

describe('two members', () => {
  it.each([
    [[7, 9], [7, 9], 9],
    [[7, 9], [8, 12], 9],
    [[7, 9], [9, 12], 9],
    [[7, 9], [3, 7], 7],
    [[7, 9], [10, 12], null],
    [[7, 9], [3, 6], null],
  ] as const)('that speak %j and %j speak version %j', (one, other, version) => {
    const [a, b] = [one, other].map(([min, max]) => ({ min, max }));
    if (a === undefined || b === undefined) throw new Error('two ranges');
    expect(commonWireVersion(a, b)).toBe(version);
    expect(commonWireVersion(b, a)).toBe(version);
  });
});
