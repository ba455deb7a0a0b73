import { describe, expect, it } from 'vitest';
import { ErrorCode, errorName, KeeperError, keeperError, NoNodeError } from './errors.js';

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
});
