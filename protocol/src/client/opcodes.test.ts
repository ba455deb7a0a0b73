import { describe, expect, it } from 'vitest';
import {
  CreateFlag,
  isCreateFlag,
  isEphemeralFlag,
  isSequentialFlag,
  isTtlFlag,
  OpCode,
  opcodeName,
} from './opcodes.js';
import { OPERATIONS, operationOf } from './operations.js';

describe('a create flag', () => {
  it('is one of seven', () => {
    const flags = Object.values(CreateFlag);
    expect(flags.filter(isCreateFlag)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const flag of [-1, 7, 9, 0.5, Number.NaN]) expect(isCreateFlag(flag)).toBe(false);
  });

  it('says whether the znode is sequential, ephemeral or has a time to live', () => {
    const flags = Object.values(CreateFlag);
    expect(flags.filter(isSequentialFlag)).toEqual([2, 3, 6]);
    expect(flags.filter(isEphemeralFlag)).toEqual([1, 3]);
    expect(flags.filter(isTtlFlag)).toEqual([5, 6]);
  });
});

describe('the table of operations', () => {
  it('has every opcode that a client or a member can ask for, under its name', () => {
    const withoutRequest: readonly number[] = [OpCode.notification, OpCode.error];
    for (const [name, opcode] of Object.entries(OpCode)) {
      expect(opcodeName(opcode)).toBe(name);
      expect([name, operationOf(opcode) === undefined]).toEqual([
        name,
        withoutRequest.includes(opcode),
      ]);
    }
    expect(Object.keys(OPERATIONS).length).toBe(Object.keys(OpCode).length - withoutRequest.length);
  });

  it('knows nothing of other numbers', () => {
    for (const opcode of [10, 23, 77, 99, 108, -2, -12]) {
      expect(operationOf(opcode)).toBeUndefined();
      expect(opcodeName(opcode)).toBeUndefined();
    }
  });
});
