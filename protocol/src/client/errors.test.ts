import { describe, expect, it } from 'vitest';
import {
  ConnectionLossError,
  ErrorCode,
  errorName,
  KeeperError,
  keeperError,
  NoNodeError,
  OperationTimeoutError,
} from './errors.js';

describe('KeeperError', () => {
  it('has a class of its own for every code but ok', () => {
    const classes = new Set<unknown>();
    for (const [name, code] of Object.entries(ErrorCode)) {
      expect(errorName(code)).toBe(name);
      if (code === ErrorCode.ok) continue;
      const error = keeperError(code, '/a');
      expect(error.code).toBe(code);
      expect(error.path).toBe('/a');
      expect(error.constructor).not.toBe(KeeperError);
      classes.add(error.constructor);
    }
    expect(classes.size).toBe(Object.keys(ErrorCode).length - 1);
  });

  it('is matched by class and by code', () => {
    const error = keeperError(-101, '/a');
    expect(error).toBeInstanceOf(NoNodeError);
    expect(error).toBeInstanceOf(KeeperError);
    expect(error.name).toBe('NoNodeError');
    expect(NoNodeError.code).toBe(ErrorCode.noNode);
    expect(error.message).toBe('no such znode: /a');
  });

  it('keeps a code that nobody lists', () => {
    expect(errorName(-126)).toBeUndefined();
    const error = keeperError(-126);
    expect(error.code).toBe(-126);
    expect(error.constructor).toBe(KeeperError);
  });

  it('tells in its message what is behind it, once', () => {
    const refused = new Error('connect ECONNREFUSED 127.0.0.1:1');
    const loss = new ConnectionLossError(undefined, { cause: refused });
    expect(loss.message).toBe(`the connection was lost (${refused.message})`);
    const again = new ConnectionLossError('/a', { cause: loss });
    expect(again.message).toBe(`the connection was lost: /a (${refused.message})`);
    const late = new OperationTimeoutError('/a', { cause: loss });
    expect(late.message).toBe(`the operation timed out: /a (${loss.message})`);
  });
});
