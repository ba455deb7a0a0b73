import { type Int64, JuteWriter, MarshallingError } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTxn, encodeTxn } from '../simulated/state/encoded-txn.js';
import { NODE_MODES, type NodeOp, type Txn, type TxnOp } from './txn.js';

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
    kind: fc.constant('create' as const),
    path,
    data,
    acl,
    mode,
    ttlMs: count,
    opcode: int,
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
  fc.record({ kind: fc.constant('beginClose' as const) }),
  fc.record({ kind: fc.constant('closeSession' as const) }),
  fc.record({ kind: fc.constant('raiseLevel' as const), level: count }),
  fc.record({ kind: fc.constant('raiseSequence' as const), path, creates: int }),
);
const txn: fc.Arbitrary<Txn> = fc.record({
  origin: fc.nat(255),
  request: count,
  session: count,
  time: count,
  op,
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

  it('are these for ever: what is new is a kind of its own, from its level on', () => {
    const acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];
    const create = {
      kind: 'create' as const,
      path: '/a',
      data: Buffer.from('x'),
      acl,
      mode: 'persistent' as const,
      ttlMs: 0,
      opcode: 1,
    };
    const head = '00000102 0000000000000007 0000000100000001 0000000000000005';
    const fields = '00000002 2f61 00000001 78 ffffffff 0000001f 00000000 0000000000000000 00000001';
    const session = 0x1_0000_0001;
    const bytes = encodeTxn({ origin: 2, request: 7, session, time: 5, op: create });
    expect(Buffer.from(bytes).toString('hex')).toBe(`${head} ${fields}`.replaceAll(' ', ''));
    const raise = { kind: 'raiseSequence' as const, path: '/a', creates: 5_000_000 };
    const raised = encodeTxn({ origin: 2, request: 7, session, time: 5, op: raise });
    const raisedText = `${head.replace('00000102', '00000c02')} 00000002 2f61 004c4b40`;
    expect(Buffer.from(raised).toString('hex')).toBe(raisedText.replaceAll(' ', ''));
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

  it.each<[string, (writer: JuteWriter) => void]>([
    ['an unknown kind', (writer) => head(writer, 99).string('/a')],
    ['a kind below all', (writer) => head(writer, -1).string('/a')],
    ['a byte too many', (writer) => deleted(writer).bool(false)],
    ['an operation too few', (writer) => head(writer, MULTI).int(1)],
    ['no path', (writer) => head(writer, DELETE).string(null)],
    ['a negative request', (writer) => head(writer, DELETE, { request: -1 }).string('/a')],
    ['a session beyond all counts', (writer) => head(writer, DELETE, { session: 2n ** 60n })],
    ['an unknown mode', (writer) => created(writer, { mode: 4, ttlMs: 0 })],
    ['a negative time to live', (writer) => created(writer, { mode: 3, ttlMs: -1 })],
    ['a short password', (writer) => opened(writer).buffer(new Uint8Array(15))],
    ['half an ACL entry', (writer) => withAcl(writer, 1).int(31)],
    ['a list of ACL entries that is null', (writer) => withAcl(writer, -2).int(1)],
    ['more ACL entries than bytes', (writer) => withAcl(writer, 0x7fff_ffff)],
    ['a multi in a multi', (writer) => multi(writer, MULTI).int(0)],
    ['a session in a multi', (writer) => multi(writer, CREATE_SESSION).string('/a')],
  ])('are refused when they hold %s', (_, write) => {
    const writer = new JuteWriter();
    write(writer);
    expect(() => decodeTxn(writer.take())).toThrow(MarshallingError);
  });

  it('are refused wherever they are cut off', () => {
    fc.assert(
      fc.property(txn, (original) => {
        const bytes = encodeTxn(original);
        for (let end = 0; end < bytes.length; end++) {
          expect(() => decodeTxn(bytes.subarray(0, end))).toThrow(MarshallingError);
        }
      }),
      { numRuns: 50 },
    );
  });
});

const CREATE = 1;
const DELETE = 2;
const SET_ACL = 4;
const MULTI = 6;
const CREATE_SESSION = 8;

function head(
  writer: JuteWriter,
  kind: number,
  { request = 1, session = 1 }: { request?: number; session?: Int64 } = {},
): JuteWriter {
  writer.int((kind << 8) | 1);
  writer.long(request);
  writer.long(session);
  writer.long(1);
  return writer;
}

function deleted(writer: JuteWriter): JuteWriter {
  head(writer, DELETE).string('/a');
  return writer;
}

function created(writer: JuteWriter, { mode, ttlMs }: { mode: number; ttlMs: number }): void {
  head(writer, CREATE).string('/a');
  writer.buffer(null);
  writer.int(-1);
  writer.int(31);
  writer.int(mode);
  writer.long(ttlMs);
  writer.int(1);
}

function opened(writer: JuteWriter): JuteWriter {
  head(writer, CREATE_SESSION).long(1000);
  return writer;
}

function withAcl(writer: JuteWriter, count: number): JuteWriter {
  head(writer, SET_ACL).string('/a');
  writer.int(count);
  return writer;
}

function multi(writer: JuteWriter, kind: number): JuteWriter {
  head(writer, MULTI).int(1);
  writer.int(kind);
  return writer;
}
