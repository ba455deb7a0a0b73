/**
 * Goal: the state equals a naive model after any sequence of transactions, and any capture is
 * exactly the state at its freeze.
 *
 * Method: random wishes over a small set of paths. What the model allows becomes a transaction, as
 * prepare would make it, and is applied to both; everything else becomes an error transaction.
 */

import { SEQUENCE_MAX } from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTxn, proposalOf } from '../simulated/state/encoded-txn.js';
import {
  dumpModel,
  dumpState,
  Model,
  OPEN,
  READ,
  type Wish,
} from '../simulated/state/naive-model.js';
import { ephemeralPaths } from './ephemerals.js';
import { type FrozenSummary, IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import type { NodeMode } from './txn.js';
import { TxnViews } from './txn-codec.js';

const LISTS = [OPEN, READ, [...OPEN, { perms: 3, scheme: 'digest', id: 'ü:x' }], []];
const NAMES = ['a', 'b', 'a-b', 'ä', '日本', 'a long name of more than forty characters, really'];
const SIZES = [null, 0, 1, 8, 100, 511, 513, 5000, 40_000];

function loadFrom(
  store: ReadonlyMap<string, Uint8Array>,
  order: (keys: string[]) => string[],
): ReplicatedState {
  const loaded = new ReplicatedState();
  for (const key of order([...store.keys()])) {
    loaded.load(Buffer.from(key, 'latin1'), store.get(key) ?? new Uint8Array(0));
  }
  return loaded;
}

const pathOf = (length: number, names: readonly string[]) =>
  fc
    .array(fc.constantFrom(...names), { minLength: length, maxLength: length })
    .map((segments) => `/${segments.join('/')}`);
/** From one record in each block to all in one block. */
const blockSize = fc.constantFrom(1, 400, 1000, 1 << 17);
const path = fc.oneof(
  { weight: 6, arbitrary: pathOf(1, NAMES.slice(0, 4)) },
  { weight: 4, arbitrary: pathOf(2, NAMES.slice(0, 3)) },
  { weight: 1, arbitrary: pathOf(2, NAMES) },
  { weight: 1, arbitrary: pathOf(3, NAMES.slice(0, 2)) },
);
const pick = fc.nat();
const acl = fc.constantFrom(...LISTS);
const size = fc.constantFrom(...SIZES);
const mode = fc.constantFrom<NodeMode>('persistent', 'ephemeral', 'ephemeral', 'container', 'ttl');
const nodeWish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('create' as const), path, mode, size, acl }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('setData' as const), pick, size }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setAcl' as const), pick, acl }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('check' as const), pick }) },
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 10, arbitrary: nodeWish },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('openSession' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('beginClose' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('closeSession' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('raiseSequence' as const),
      pick,
      atLeast: fc.constantFrom(0, 1, 5, 2 ** 30, SEQUENCE_MAX),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('multi' as const),
      wishes: fc.array(nodeWish, { maxLength: 5 }),
    }),
  },
);

function applyWish(state: ReplicatedState, model: Model, wished: Wish): void {
  const { op, session } = model.fulfil(wished);
  const txn = { origin: 1, request: 1, session, time: model.time, op };
  state.apply(model.zxid, txn, IGNORE_CHANGES);
}

describe('the packed state', () => {
  it('equals a naive model after any transactions', () => {
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 60, size: 'max' }), (wishes) => {
        const model = new Model();
        const state = new ReplicatedState();
        for (const wished of wishes) {
          applyWish(state, model, wished);
        }
        expect(dumpState(state)).toEqual(dumpModel(model));
        const { tree } = state;
        const entries = [...model.nodes];
        const size = entries.reduce((sum, [p, n]) => sum + p.length + (n.data?.length ?? 0), 0);
        expect(tree.approximateDataSize).toBe(size);
        const owned = entries.filter(([, n]) => n.owner !== 0);
        expect(tree.ephemeralCount).toBe(owned.length);
        for (const session of model.sessions.keys()) {
          const paths = owned.filter(([, n]) => n.owner === session).map(([p]) => p);
          expect(ephemeralPaths(tree, session, Number.POSITIVE_INFINITY)).toEqual(paths.sort());
        }
        for (const [p] of entries) {
          const below = entries.filter(([q]) => q !== '/' && q.startsWith(p === '/' ? p : `${p}/`));
          expect(tree.descendantCount(tree.find(p))).toBe(below.length);
          const own = model.nodes.get(p)?.data?.length ?? 0;
          const bytes = below.reduce((sum, [, n]) => sum + (n.data?.length ?? 0), own);
          expect(tree.subtreeDataBytes(tree.find(p))).toBe(bytes);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('is captured exactly as it was at the freeze, whatever changes while it is captured', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: wish.map((wished) => ({ kind: 'apply', wished }) as const) },
      { weight: 1, arbitrary: fc.constant({ kind: 'freeze' } as const) },
      { weight: 4, arbitrary: fc.nat(4).map((n) => ({ kind: 'capture', max: n + 1 }) as const) },
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 120, size: 'max' }),
        fc.boolean(),
        blockSize,
        (steps, reversed, blockBytes) => {
          const model = new Model();
          const state = new ReplicatedState();
          const store = new Map<string, Uint8Array>();
          let frozen: FrozenSummary | null = null;
          let frozenDump: unknown = null;
          const capture = (max: number): void => {
            for (const { key, value } of state.captureSome(max, 200)) {
              const name = Buffer.from(key).toString('latin1');
              value === null ? store.delete(name) : store.set(name, value);
            }
            if (!state.captureDone || frozen === null) {
              return;
            }
            // Blocks in any order, after the bitmaps of their dead records.
            const keys = (all: string[]) => (reversed ? all.sort().reverse() : all.sort());
            const deadFirst = (all: string[]) => [
              ...all.filter((key) => key.startsWith('d')),
              ...keys(all.filter((key) => !key.startsWith('d'))),
            ];
            const loaded = loadFrom(store, deadFirst);
            loaded.finishLoad(frozen);
            expect(loaded.digest()).toBe(frozen.digest);
            expect(dumpState(loaded)).toEqual(frozenDump);
            expect(loaded.tree.approximateDataSize).toBeGreaterThan(0);
            expect(loaded.dirtyCount).toBe(0);
            frozen = null;
          };
          for (const next of steps) {
            if (next.kind === 'apply') {
              applyWish(state, model, next.wished);
            } else if (next.kind === 'capture') {
              capture(next.max);
            } else if (state.captureDone) {
              frozenDump = dumpState(state);
              frozen = state.freeze(blockBytes);
            }
          }
          while (!state.captureDone) {
            capture(3);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('continues after recovery as if there had been none', () => {
    const wishes = fc.array(wish, { minLength: 1, maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(wishes, wishes, blockSize, (before, after, blockBytes) => {
        const model = new Model();
        const state = new ReplicatedState();
        const store = new Map<string, Uint8Array>();
        const places = new TxnViews();
        const checkpoint = (from: ReplicatedState): void => {
          from.freeze(blockBytes);
          while (!from.captureDone) {
            for (const { key, value } of from.captureSome(7, 1 << 20)) {
              const name = Buffer.from(key).toString('latin1');
              value === null ? store.delete(name) : store.set(name, value);
            }
          }
        };
        const recover = (lastTime: number): ReplicatedState => {
          const recovered = loadFrom(store, (keys) => keys.sort());
          recovered.finishLoad({ zxid: model.zxid, lastTime });
          return recovered;
        };
        for (const wished of before) {
          applyWish(state, model, wished);
        }
        checkpoint(state);
        const recovered = recover(model.time);
        for (const wished of after) {
          const { op, session } = model.fulfil(wished);
          const txn = { origin: 1, request: 1, session, time: model.time, op };
          state.apply(model.zxid, txn, IGNORE_CHANGES);
          const proposal = proposalOf(encodeTxn(txn));
          recovered.apply(model.zxid, places.txnOf(proposal), IGNORE_CHANGES);
        }
        expect(recovered.digest()).toBe(state.digest());
        expect(dumpState(recovered)).toEqual(dumpModel(model));
        checkpoint(recovered);
        expect(dumpState(recover(model.time))).toEqual(dumpModel(model));
      }),
      { numRuns: 200 },
    );
  });
});
