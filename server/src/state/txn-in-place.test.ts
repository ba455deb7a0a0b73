import { MarshallingError } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeTxn, encodeTxn, proposalOf } from '../simulated/state/encoded-txn.js';
import { OpView } from './op-view.js';
import type { NodeOp, Txn } from './txn.js';
import { TxnViews } from './txn-codec.js';

const int = fc.integer();
const name = fc.oneof(fc.string({ unit: 'grapheme-ascii' }), fc.string());
const path = fc.oneof(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`),
  fc.string(),
);
const data = fc.option(fc.uint8Array({ maxLength: 40 }), { nil: null });
const acl = fc.oneof(
  fc.nat(40).map((perms) => [{ perms, scheme: 'world', id: 'anyone' }]),
  fc.constant([{ perms: 31, scheme: 'auth', id: '' }]),
);
const mode = fc.constantFrom('persistent', 'ephemeral', 'container', 'ttl');
const op: fc.Arbitrary<NodeOp> = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    path,
    data,
    acl,
    mode,
    ttlMs: fc.maxSafeNat(),
    opcode: int,
  }),
  fc.record({ kind: fc.constant('setData' as const), path, data, version: int }),
  fc.record({ kind: fc.constant('delete' as const), path }),
);
const txn: fc.Arbitrary<Txn> = fc.record({
  origin: fc.nat(255),
  request: fc.maxSafeNat(),
  session: fc.maxSafeNat(),
  time: fc.maxSafeNat(),
  op,
});

const places = new TxnViews();

/** The fields of a setData or a create, those included that are made when asked for. */
function fieldsOf({ op: whole, ...head }: Txn): unknown {
  if (whole.kind !== 'create' && whole.kind !== 'setData') return { ...head, whole };
  const text = whole.data === null ? null : Buffer.from(whole.data).toString('hex');
  const common = { ...head, kind: whole.kind, path: whole.path, text };
  if (whole.kind === 'setData') return { ...common, version: whole.version };
  const { acl: list, mode: of, ttlMs, opcode } = whole;
  return { ...common, list, of, ttlMs, opcode };
}

function read(make: () => Txn): unknown {
  try {
    return fieldsOf(make());
  } catch (error) {
    if (!(error instanceof MarshallingError)) throw error;
    return 'refused';
  }
}

describe('a transaction that is found where it lies', () => {
  it('says what the codec reads of it', () => {
    fc.assert(
      fc.property(txn, (original) => {
        const body = encodeTxn(original);
        expect(read(() => places.txnOf(proposalOf(body)))).toEqual(read(() => decodeTxn(body)));
      }),
    );
  });

  it('has neither path nor data once it is released', () => {
    fc.assert(
      fc.property(txn, (original) => {
        const views = new TxnViews();
        const { op: kept } = views.txnOf(proposalOf(encodeTxn(original)));
        views.release();
        if (!(kept instanceof OpView)) return;
        expect([kept.path, kept.data]).toEqual(['', null]);
      }),
    );
  });

  it('is refused when the codec refuses it, however it is damaged', () => {
    const at = fc.record({ share: fc.double({ min: 0, max: 1, noNaN: true }), by: fc.nat(255) });
    fc.assert(
      fc.property(
        txn,
        fc.array(at, { minLength: 1, maxLength: 3 }),
        fc.nat(3),
        (of, flips, cut) => {
          const whole = encodeTxn(of);
          for (const { share, by } of flips) {
            const place = Math.min(whole.length - 1, Math.floor(share * whole.length));
            whole[place] = (whole[place] ?? 0) ^ by;
          }
          const body = whole.subarray(0, whole.length - cut);
          expect(read(() => places.txnOf(proposalOf(body)))).toEqual(read(() => decodeTxn(body)));
        },
      ),
    );
  });

  it('is one without an object when it is a usual one', () => {
    const usual = { origin: 1, request: 2, session: 3, time: 4 };
    const open = [{ perms: 31, scheme: 'world', id: 'anyone' }];
    const create = {
      kind: 'create',
      path: '/a/b',
      data: null,
      acl: open,
      mode: 'persistent',
    } as const;
    const ops: readonly NodeOp[] = [
      { kind: 'setData', path: '/ä', data: Buffer.from('x'), version: 1 },
      { ...create, ttlMs: 0, opcode: 1 },
    ];
    for (const one of ops) {
      const body = encodeTxn({ ...usual, op: one });
      expect(places.txnOf(proposalOf(body)).op).toBeInstanceOf(OpView);
    }
    const wide = encodeTxn({ ...usual, op: { ...create, path: '/ä', ttlMs: 0, opcode: 1 } });
    expect(places.txnOf(proposalOf(wide)).op).not.toBeInstanceOf(OpView);
  });
});
