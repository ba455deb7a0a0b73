import { describe, expect, it } from 'vitest';
import { assert, InvariantViolation, unreachable } from './assert.js';

describe('assert', () => {
  it('does not build its message while the condition holds', () => {
    assert(true, () => {
      throw new Error('built');
    });
  });

  it('throws an InvariantViolation with the message', () => {
    expect(() => assert(1 > 2, 'one is over two')).toThrowError(InvariantViolation);
    expect(() => assert(1 > 2, () => '1 > 2')).toThrowError('1 > 2');
  });
});

describe('unreachable', () => {
  it('names the value that was not expected', () => {
    const value: unknown = 'surprise';
    expect(() => unreachable(value as never)).toThrowError('surprise');
  });
});
