/**
 * Goal: the estimate is a function of the state alone. Whatever led there, in whatever order, and
 * however often it was recovered, it equals a count of everything that exists.
 *
 * Method: the wishes of the naive model, which does not know of the estimate; the count goes over
 * the model's znodes and not over the tree.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTxn, proposalOf } from '../simulated/state/encoded-txn.js';
import { Model, OPEN, READ, type Wish } from '../simulated/state/naive-model.js';
import { encodeAcl } from './acl-table.js';
import { IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import { aclListBytes, nameBytesIn, payloadBytes, sessionBytes, znodeBytes } from './tree-bytes.js';
import type { NodeMode } from './txn.js';
import { TxnViews } from './txn-codec.js';

const LISTS = [OPEN, READ, [...OPEN, { perms: 3, scheme: 'digest', id: 'ü:x' }]];
const PATHS = ['/a', '/b', '/a/b', '/ä', '/日本', '/a/ä', `/${'long '.repeat(60)}x`] as const;
const SIZES = [null, 0, 1, 7, 8, 9, 100, 512, 513, 5000, 32_768, 32_769, 40_000];

const path = fc.constantFrom(...PATHS);
const acl = fc.constantFrom(...LISTS);
const size = fc.constantFrom(...SIZES);
const pick = fc.nat();
const mode = fc.constantFrom<NodeMode>('persistent', 'persistent', 'ephemeral', 'container');
const change: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('create' as const), path, mode, size, acl }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), pick }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('setData' as const), pick, size }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('setAcl' as const), pick, acl }) },
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 10, arbitrary: change },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('openSession' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('closeSession' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('multi' as const),
      wishes: fc.array(change, { maxLength: 5 }),
    }),
  },
);

/** Counts everything that the model has. */
function recounted(model: Model): number {
  const lists = new Map<string, number>();
  let bytes = sessionBytes(model.sessions.size);
  for (const [at, node] of model.nodes) {
    const dataBytes = at === '/zookeeper/config' ? 0 : (node.data?.length ?? 0);
    bytes += znodeBytes(nameBytesIn({ path: at }), dataBytes);
    const encoded = encodeAcl(node.acl);
    lists.set(encoded.toString('latin1'), aclListBytes(encoded.length));
  }
  for (const listBytes of lists.values()) bytes += listBytes;
  return bytes;
}

function copyOf(state: ReplicatedState, model: Model): ReplicatedState {
  const records = new Map<string, Uint8Array>();
  state.freeze(1000);
  while (!state.captureDone) {
    for (const { key, value } of state.captureSome(7, 1 << 20)) {
      const name = Buffer.from(key).toString('latin1');
      if (value === null) records.delete(name);
      else records.set(name, value);
    }
  }
  const copy = new ReplicatedState();
  for (const key of [...records.keys()].sort()) {
    copy.load(Buffer.from(key, 'latin1'), records.get(key) ?? new Uint8Array(0));
  }
  copy.finishLoad({ zxid: model.zxid, lastTime: model.time });
  return copy;
}

describe('what the state takes by its estimate', () => {
  it('equals a count of everything that exists, after any transactions and recoveries', () => {
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 80, size: 'max' }), (wishes) => {
        const model = new Model();
        const state = new ReplicatedState();
        state.setConfigNode('text that is this member’s own');
        const places = new TxnViews();
        for (const wished of wishes) {
          const { op, session } = model.fulfil(wished);
          const txn = { origin: 1, request: 1, session, time: model.time, op };
          const proposal = proposalOf(encodeTxn(txn));
          state.apply(model.zxid, places.txnOf(proposal), IGNORE_CHANGES);
          expect(state.bytes).toBe(recounted(model));
        }
        const copy = copyOf(state, model);
        copy.setConfigNode('other text');
        expect(copy.bytes).toBe(state.bytes);
      }),
      { numRuns: 50 },
    );
  });

  it('counts names and data as the slabs round them, and pages for what is large', () => {
    expect(payloadBytes(0, 0)).toBe(0);
    expect(payloadBytes(1, 0)).toBe(8);
    expect(payloadBytes(4, 5)).toBe(16);
    expect(payloadBytes(4, -1)).toBe(8);
    expect(payloadBytes(10, 1024)).toBe(1152);
    expect(payloadBytes(10, 100 << 10)).toBe(256 + 26 * 4096);
  });

  it('counts a name as it is stored: two bytes a character where one is beyond ASCII', () => {
    expect(nameBytesIn({ path: '/' })).toBe(0);
    expect(nameBytesIn({ path: '/a/bcd' })).toBe(3);
    expect(nameBytesIn({ path: '/ä/bcd' })).toBe(3);
    expect(nameBytesIn({ path: '/a/bäd' })).toBe(6);
  });

  it('counts a list once, however many znodes have it', () => {
    const model = new Model();
    const state = new ReplicatedState();
    const create = (at: string) => {
      const wished: Wish = { kind: 'create', path: at, mode: 'persistent', size: 0, acl: READ };
      const { op, session } = model.fulfil(wished);
      state.apply(
        model.zxid,
        { origin: 1, request: 1, session, time: model.time, op },
        IGNORE_CHANGES,
      );
    };
    const other = [{ perms: 3, scheme: 'digest', id: 'someone:else' }];
    // READ is the list of /zookeeper/config.
    expect(state.tree.aclGrowth(READ)).toBe(0);
    expect(state.tree.aclGrowth(other)).toBe(aclListBytes(encodeAcl(other).length));
    const before = state.bytes;
    create('/a');
    create('/b');
    expect(state.bytes - before).toBe(2 * znodeBytes(1, 0));
  });
});
