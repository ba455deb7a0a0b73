import { describe, expect, it } from 'vitest';
import { nextVersion, sequenceSuffix, visibleCversion } from './txn.js';

describe('versions', () => {
  it('go on below zero after 2^31 and never become -1', () => {
    expect(nextVersion(0)).toBe(1);
    expect(nextVersion(0x7fffffff)).toBe(-0x80000000);
    expect(nextVersion(-2)).toBe(0);
    expect(nextVersion(-3)).toBe(-2);
  });

  it('of children count creates and deletes', () => {
    expect(visibleCversion(3, 1)).toBe(5);
    expect(visibleCversion(0, 1)).toBe(-1);
    expect(visibleCversion(0x7fffffff, 0)).toBe(-2);
  });

  it('give sequence numbers of ten characters as Java prints them', () => {
    expect(sequenceSuffix(0)).toBe('0000000000');
    expect(sequenceSuffix(2147483647)).toBe('2147483647');
    expect(sequenceSuffix(-2147483648)).toBe('-2147483648');
    expect(sequenceSuffix(-7)).toBe('-000000007');
  });
});
