import { MarshallingError } from '@rookery/protocol';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { NODE_MODES } from './modes.js';
import type { NodeOp, Txn, TxnOp } from './txn.js';
import { decodeTxn, encodeTxn } from './txn-codec.js';

const count = fc.oneof(fc.nat(), fc.maxSafeNat());
const int = fc.integer();
const path = fc.string({ unit: 'binary' }).map((text) => `/${text}`);
const data = fc.option(fc.uint8Array(), { nil: null });
const entry = fc.record({
  perms: int,
  scheme: fc.constantFrom('world', 'digest', ''),
  id: fc.constantFrom('anyone', 'ü:x', ''),
});
const acl = fc.array(entry, { maxLength: 3 });
const mode = fc.constantFrom(...NODE_MODES);
const nodeOp: fc.Arbitrary<NodeOp> = fc.oneof(
  fc.record({
    ...{ kind: fc.constant('create' as const), path, data, acl, mode },
    ...{ ttlMs: count, opcode: int },
  }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'check' as const), path }),
  fc.record({ kind: fc.constant('setData' as const), path, data, version: int }),
  fc.record({ kind: fc.constant('setAcl' as const), path, acl, version: int }),
);
const password = fc.uint8Array({ minLength: 16, maxLength: 16 });
const codes = fc.option(fc.array(int), { nil: null });
const op: fc.Arbitrary<TxnOp> = fc.oneof(
  nodeOp,
  fc.record({ kind: fc.constant('multi' as const), ops: fc.array(nodeOp) }),
  fc.record({ kind: fc.constant('error' as const), code: int, codes }),
  fc.record({ kind: fc.constant('createSession' as const), timeoutMs: count, password }),
  fc.record({ kind: fc.constant('closeSession' as const) }),
);
const txn: fc.Arbitrary<Txn> = fc.record({
  ...{ origin: count, request: count, session: count, time: count, op },
});

/** Views are Buffers or Uint8Arrays; only their bytes matter. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, v) =>
      v?.type === 'Buffer' ? v.data : v instanceof Uint8Array ? [...v] : v,
    ),
  );
}

describe('the bytes of a transaction', () => {
  it('decode to the transaction they were made of', () => {
    fc.assert(
      fc.property(txn, (original) => {
        expect(plain(decodeTxn(encodeTxn(original)))).toEqual(plain(original));
      }),
    );
  });

  it('encode the same transaction to the same bytes', () => {
    fc.assert(
      fc.property(txn, (original) => {
        const bytes = encodeTxn(original);
        expect(Buffer.compare(encodeTxn(decodeTxn(bytes)), bytes)).toBe(0);
      }),
    );
  });

  it('are not changed by encoding the next one', () => {
    const one: Txn = { origin: 1, request: 1, session: 1, time: 1, op: { kind: 'closeSession' } };
    const bytes = encodeTxn(one);
    const copy = Uint8Array.from(bytes);
    encodeTxn({ ...one, request: 77 });
    expect(Uint8Array.from(bytes)).toEqual(copy);
  });

  it('hold data that is decoded as a view', () => {
    const set = { kind: 'setData', path: '/a', data: new Uint8Array(100), version: 1 } as const;
    const bytes = encodeTxn({ origin: 1, request: 1, session: 1, time: 1, op: set });
    const decoded = decodeTxn(bytes).op;
    expect(decoded.kind === 'setData' && decoded.data?.buffer).toBe(bytes.buffer);
  });

  it('cost a setData of 100 bytes at most 50 bytes more', () => {
    const op = { kind: 'setData', path: '/a/b', data: new Uint8Array(100), version: 1 } as const;
    const session = 0x5_0000_0001;
    const txn = { origin: 1, request: 1000, session, time: 1.7e12, op };
    expect(encodeTxn(txn).length).toBeLessThanOrEqual(150);
  });

  it('throw nothing but MarshallingError when they are garbage', () => {
    const garbage = fc.oneof(
      fc.uint8Array(),
      fc.tuple(txn, fc.nat(), fc.nat(255)).map(([original, at, byte]) => {
        const bytes = Uint8Array.from(encodeTxn(original));
        bytes[at % bytes.length] = byte;
        return bytes;
      }),
      fc.tuple(txn, fc.nat()).map(([original, at]) => {
        const bytes = encodeTxn(original);
        return bytes.subarray(0, at % bytes.length);
      }),
    );
    fc.assert(
      fc.property(garbage, (bytes) => {
        try {
          decodeTxn(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(MarshallingError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['an unknown kind', [99, 1, 1, 1, 1, '/a']],
    ['a field too many', [2, 1, 1, 1, 1, '/a', 1]],
    ['a field too few', [2, 1, 1, 1, 1]],
    ['a negative origin', [2, -1, 1, 1, 1, '/a']],
    ['a fractional time', [2, 1, 1, 1, 1.5, '/a']],
    ['an unknown mode', [1, 1, 1, 1, 1, '/a', null, 31, 4, 0, 1]],
    ['a short password', [8, 1, 1, 1, 1, 1000, new Uint8Array(15)]],
    ['half an ACL entry', [4, 1, 1, 1, 1, '/a', [31, 'world'], 1]],
    ['a multi in a multi', [6, 1, 1, 1, 1, [6]]],
    ['no array', { kind: 2 }],
  ])('are refused when they hold %s', (_, fields) => {
    const bytes = new Packr({ useRecords: false }).pack(fields);
    expect(() => decodeTxn(bytes)).toThrow(MarshallingError);
  });
});
