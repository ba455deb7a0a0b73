// The writes of clients, read in place, say what the codecs read of the same bytes, whatever these
// are; and bytes that are no valid UTF-8 are the path of nothing.
import {
  type Acl,
  CreateRequest,
  CreateTtlRequest,
  ErrorCode,
  encode,
  JuteReader,
  MarshallingError,
  MultiRequest,
  OpCode,
  PathVersionRequest,
  SetDataRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL } from '../simulated/pipeline/test-client.js';
import type { CreateView, SetDataView } from '../state/op-view.js';
import { IGNORE_CHANGES, ReplicatedState } from '../state/replicated-state.js';
import type { Txn, TxnOp } from '../state/txn.js';
import { LOCAL_SESSION } from './local-sessions.js';
import { RequestViews, TxnPreparer } from './prepare.js';
import { NO_BOUND } from './write-room.js';

const text = fc.oneof(fc.string(), fc.constantFrom('/a', '/a/b-0000000001', '/ä', ''));
const data = fc.option(fc.uint8Array({ maxLength: 40 }), { nil: null });
const acl = fc.constantFrom<(readonly Acl[] | null)[]>(
  ...[OPEN_ACL, OPEN_ACL, [{ perms: 40, scheme: 'world', id: 'anyone' }], [], null],
  ...[[{ perms: 31, scheme: 'world', id: 'anyon' }], [...OPEN_ACL, ...OPEN_ACL]],
);
/** How the bytes are damaged, if at all. */
const damage = fc.record({
  kind: fc.constantFrom('none', 'none', 'cut', 'longer', 'flip'),
  at: fc.nat(),
});

function damaged(body: Uint8Array, { kind, at }: { kind: string; at: number }): Buffer {
  const bytes = Buffer.from(body);
  const index = at % Math.max(1, bytes.length);
  if (kind === 'cut') return bytes.subarray(0, index);
  if (kind === 'longer') return Buffer.concat([bytes, Buffer.alloc(1 + (at % 9))]);
  if (kind === 'flip') bytes[index] = (bytes[index] ?? 0) ^ (1 << (at % 8));
  return bytes;
}

function hexOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('hex');
}

function orRefused(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return 'refused';
  }
}

function fieldsOfCreate(op: CreateView): unknown {
  const { path, flags, askedAcl, askedTtlMs } = op;
  return { path, data: hexOf(op.data), acl: askedAcl, flags, ttlMs: askedTtlMs };
}
function fieldsOfSetData(op: SetDataView): unknown {
  return { path: op.path, data: hexOf(op.data), version: op.expected };
}

const views = new RequestViews();

describe('a request in place', () => {
  it('says of a setData what the codec reads', () => {
    const request = fc.record({ path: text, data, version: fc.integer() });
    fc.assert(
      fc.property(request, damage, (asked, how) => {
        const body = damaged(encode(SetDataRequest, asked), how);
        const inPlace = orRefused(() => fieldsOfSetData(views.setData(new JuteReader(body))));
        const decoded = orRefused(() => {
          const { path, data: bytes, version } = SetDataRequest.read(new JuteReader(body));
          return { path, data: hexOf(bytes), version };
        });
        expect(inPlace).toEqual(decoded);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([OpCode.create, OpCode.createTtl])(
    'says of a create what the codec reads: %i',
    (opcode) => {
      const isTtl = opcode === OpCode.createTtl;
      const request = fc.record({ path: text, data, acl, flags: fc.integer(), ttlMs: fc.nat() });
      fc.assert(
        fc.property(request, damage, (asked, how) => {
          const whole = isTtl ? encode(CreateTtlRequest, asked) : encode(CreateRequest, asked);
          const body = damaged(whole, how);
          const inPlace = orRefused(() =>
            fieldsOfCreate(views.create(new JuteReader(body), opcode)),
          );
          const decoded = orRefused(() => {
            const reader = new JuteReader(body);
            const ttlMs = 0;
            if (isTtl) {
              const of = CreateTtlRequest.read(reader);
              return { ...of, data: hexOf(of.data) };
            }
            const of = CreateRequest.read(reader);
            return { ...of, data: hexOf(of.data), ttlMs };
          });
          expect(inPlace).toEqual(decoded);
        }),
        { numRuns: 1_000 },
      );
    },
  );

  it('has objects of its own for each operation of a multi', () => {
    const create = { path: '/a', data: null, acl: OPEN_ACL, flags: 0 };
    const set = { path: '/b', data: Buffer.from('x'), version: 3 };
    const body = encode(MultiRequest, {
      ops: [
        { opcode: OpCode.create, request: create },
        { opcode: OpCode.create2, request: { ...create, path: '/c' } },
        { opcode: OpCode.setData, request: set },
        { opcode: OpCode.setData, request: { ...set, path: '/d' } },
        { opcode: OpCode.delete, request: { path: '/e', version: -1 } },
      ],
    });
    const ops = views.multi(new JuteReader(body), 10);
    expect(ops.map((op) => ('path' in op ? op.path : op.request.path))).toEqual([
      '/a',
      '/c',
      '/b',
      '/d',
      '/e',
    ]);
    expect(() => views.multi(new JuteReader(body.subarray(0, body.length - 12)), 10)).toThrow(
      MarshallingError,
    );
  });
});

describe('a path that is no valid UTF-8', () => {
  const RULES = {
    skipAcl: false,
    extendedTypes: true,
    enforceQuota: false,
    ephemeralsPerSessionMax: 10,
    multiOpsMax: 100,
    pathDepthMax: 100,
    reconfigEnabled: false,
    treeBound: NO_BOUND,
  };

  /** Decides requests whose path is `/` and these bytes; `apply` applies what was decided. */
  function leader() {
    const state = new ReplicatedState();
    const made: { zxid: number; txn: Txn }[] = [];
    const keep = (zxid: number, { op, ...head }: Txn): void => {
      const own = { ...op } as TxnOp;
      made.push({ zxid, txn: { ...head, op: 'path' in op ? { ...own, ...pathOf(op) } : own } });
    };
    const pathOf = (op: { path: string; data?: Uint8Array | null }) =>
      'data' in op ? { path: op.path, data: op.data } : { path: op.path };
    const start = { epoch: 1, lastZxid: 0, firstCounter: 1 };
    const prepare = new TxnPreparer(state, RULES, start, { add: keep });
    const ask = (opcode: number, body: Uint8Array): TxnOp | undefined => {
      const nobody = { session: LOCAL_SESSION, attachment: 0, identities: [] };
      prepare.prepare(1, { ...nobody, request: 7, opcode, body }, 1, () => new Uint8Array(16));
      return made.at(-1)?.txn.op;
    };
    const apply = (): void => {
      for (const { zxid, txn } of made.splice(0)) {
        state.apply(zxid, txn, IGNORE_CHANGES);
        prepare.applied(zxid);
      }
    };
    return { ask, apply, prepare };
  }

  /** The encoded request with a path of three bytes, of which the last two are replaced. */
  function withBytes(body: Uint8Array, bytes: readonly number[]): Buffer {
    const own = Buffer.from(body);
    own.set(bytes, 5);
    return own;
  }

  it.each([true, false])('names no znode and makes none (beside one applied: %s)', (isApplied) => {
    const { ask, apply, prepare } = leader();
    const request = { path: '/xy', data: null, acl: OPEN_ACL, flags: 0 };
    const create = encode(CreateRequest, request);
    const set = encode(SetDataRequest, { path: '/xy', data: Buffer.from('d'), version: 0 });
    const remove = encode(PathVersionRequest, { path: '/xy', version: -1 });
    const sequential = encode(CreateRequest, { ...request, flags: 2 });
    // In UTF-8 the letter has these two bytes.
    const VALID = [0xc3, 0xa4];
    expect(ask(OpCode.create, withBytes(create, VALID))).toMatchObject({ path: '/ä' });
    if (isApplied) apply();
    const refused = { kind: 'error', code: ErrorCode.badArguments };
    for (const invalid of [
      [0xff, 0xfe],
      [0xa4, 0xc3],
    ]) {
      expect(ask(OpCode.create, withBytes(create, invalid))).toMatchObject(refused);
      expect(ask(OpCode.create, withBytes(sequential, invalid))).toMatchObject(refused);
      expect(ask(OpCode.setData, withBytes(set, invalid))).toMatchObject(refused);
      const nothing = { kind: 'error', code: ErrorCode.noNode };
      expect(ask(OpCode.delete, withBytes(remove, invalid))).toMatchObject(nothing);
    }
    const exists = { kind: 'error', code: ErrorCode.nodeExists };
    expect(ask(OpCode.create, withBytes(create, VALID))).toMatchObject(exists);
    const version = { kind: 'setData', path: '/ä', version: 1 };
    expect(ask(OpCode.setData, withBytes(set, VALID))).toMatchObject(version);
    expect(ask(OpCode.delete, withBytes(remove, VALID))).toMatchObject({ path: '/ä' });
    apply();
    expect(prepare.overlay.isEmpty).toBe(true);
  });
});
