/**
 * Goal: the packed state is what a naive model is, after any sequence of transactions, and any
 * capture is exactly the state at its freeze.
 *
 * Method: random wishes over a small set of paths. What the model allows becomes a transaction, as
 * prepare would make it, and is done to both; the rest becomes an error transaction.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IGNORE_CHANGES } from './change-sink.js';
import { ReplicatedState } from './replicated-state.js';
import type { Acl, NodeMode, NodeOp, TxnOp } from './txn.js';
import { nextVersion, visibleCversion } from './versions.js';

interface ModelNode {
  data: Uint8Array | null;
  acl: readonly Acl[];
  mode: NodeMode;
  ttlMs: number;
  owner: number;
  czxid: number;
  mzxid: number;
  pzxid: number;
  ctime: number;
  mtime: number;
  version: number;
  cversion: number;
  aversion: number;
}

type Wish =
  | { kind: 'create'; path: string; mode: NodeMode; size: number | null; acl: readonly Acl[] }
  | { kind: 'delete' | 'check'; path: string }
  | { kind: 'setData'; path: string; size: number | null }
  | { kind: 'setAcl'; path: string; acl: readonly Acl[] }
  | { kind: 'multi'; wishes: readonly Wish[] }
  | { kind: 'openSession' | 'closeSession' };

const OPEN: readonly Acl[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const READ: readonly Acl[] = [{ perms: 1, scheme: 'world', id: 'anyone' }];
const LISTS = [OPEN, READ, [...OPEN, { perms: 3, scheme: 'digest', id: 'ü:x' }], []];
const NAMES = ['a', 'b', 'a-b', 'ä', '日本', 'a long name of more than forty characters, really'];
const SIZES = [null, 0, 1, 8, 100, 511, 513, 5000, 40_000];

class Model {
  readonly nodes = new Map<string, ModelNode>();
  readonly sessions = new Map<number, { timeoutMs: number; password: Uint8Array }>();
  zxid = 0;
  time = 1_000_000;

  constructor() {
    for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']) {
      const acl = path.endsWith('config') ? READ : OPEN;
      const zero = { czxid: 0, mzxid: 0, pzxid: 0, ctime: 0, mtime: 0 };
      const versions = { version: 0, cversion: 0, aversion: 0 };
      const data = new Uint8Array(0);
      this.nodes.set(path, {
        ...{ data, acl, mode: 'persistent', ttlMs: 0, owner: 0 },
        ...zero,
        ...versions,
      });
    }
  }

  childrenOf(path: string): string[] {
    const prefix = path === '/' ? '/' : `${path}/`;
    const below = [...this.nodes.keys()].filter((p) => p !== '/' && p.startsWith(prefix));
    return below.map((p) => p.slice(prefix.length)).filter((name) => !name.includes('/'));
  }

  /** Does the wish and returns the operation, or an error that changed nothing. */
  fulfil(wish: Wish): { op: TxnOp; session: number } {
    this.zxid++;
    this.time += this.zxid % 3;
    const session = [...this.sessions.keys()][this.zxid % Math.max(1, this.sessions.size)] ?? 0;
    switch (wish.kind) {
      case 'openSession': {
        const opened = { timeoutMs: 4000 + this.zxid, password: bytes(16, this.zxid) };
        this.sessions.set(this.zxid, opened);
        return { op: { kind: 'createSession', ...opened }, session: 0 };
      }
      case 'closeSession':
        if (session === 0) {
          return this.#refuse();
        }
        for (const [path, node] of [...this.nodes]) {
          if (node.owner === session) {
            this.#delete(path);
          }
        }
        this.sessions.delete(session);
        return { op: { kind: 'closeSession' }, session };
      case 'multi': {
        const ops: NodeOp[] = [];
        for (const part of wish.wishes) {
          const op = this.#fulfilNode(part, session);
          if (op !== null) {
            ops.push(op);
          }
        }
        return { op: { kind: 'multi', ops }, session };
      }
      default: {
        const op = this.#fulfilNode(wish, session);
        return op === null ? this.#refuse() : { op, session };
      }
    }
  }

  #refuse(): { op: TxnOp; session: number } {
    return { op: { kind: 'error', code: -101, codes: null }, session: 0 };
  }

  #fulfilNode(wish: Wish, session: number): NodeOp | null {
    if (wish.kind === 'multi' || wish.kind === 'openSession' || wish.kind === 'closeSession') {
      return null;
    }
    const { path } = wish;
    const node = this.nodes.get(path);
    if (wish.kind === 'create') {
      const parent = this.nodes.get(parentOf(path));
      const ephemeral = wish.mode === 'ephemeral';
      if (node !== undefined || parent === undefined || parent.mode === 'ephemeral') {
        return null;
      }
      if (ephemeral && session === 0) {
        return null;
      }
      const ttlMs = wish.mode === 'ttl' ? 1000 + this.zxid : 0;
      const data = wish.size === null ? null : bytes(wish.size, this.zxid);
      const { mode, acl } = wish;
      const { zxid, time } = this;
      parent.cversion++;
      parent.pzxid = zxid;
      this.nodes.set(path, {
        ...{ data, acl, mode, ttlMs, owner: ephemeral ? session : 0 },
        ...{ czxid: zxid, mzxid: zxid, pzxid: zxid, ctime: time, mtime: time },
        ...{ version: 0, cversion: 0, aversion: 0 },
      });
      return { kind: 'create', path, data, acl, mode, ttlMs, opcode: 1 };
    }
    if (node === undefined) {
      return null;
    }
    switch (wish.kind) {
      case 'check':
        return { kind: 'check', path };
      case 'delete':
        if (this.childrenOf(path).length > 0 || path === '/') {
          return null;
        }
        this.#delete(path);
        return { kind: 'delete', path };
      case 'setData':
        node.data = wish.size === null ? null : bytes(wish.size, this.zxid);
        node.version = nextVersion(node.version);
        node.mzxid = this.zxid;
        node.mtime = this.time;
        return { kind: 'setData', path, data: node.data, version: node.version };
      case 'setAcl':
        node.acl = wish.acl;
        node.aversion = nextVersion(node.aversion);
        return { kind: 'setAcl', path, acl: wish.acl, version: node.aversion };
    }
  }

  #delete(path: string): void {
    this.nodes.delete(path);
    const parent = this.nodes.get(parentOf(path));
    if (parent !== undefined) {
      parent.pzxid = this.zxid;
    }
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function bytes(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 7) & 0xff);
}

function dumpModel(model: Model): unknown {
  const nodes = [...model.nodes].map(([path, node]) => {
    const children = model.childrenOf(path).sort();
    const { data, acl, mode, ttlMs, owner, cversion, ...rest } = node;
    const stat = {
      ...rest,
      cversion: visibleCversion(cversion, children.length),
      ephemeralOwner: owner,
      dataLength: data?.length ?? 0,
      numChildren: children.length,
    };
    return { path, children, data: text(data), acl, mode, ttlMs, creates: cversion, stat };
  });
  return { nodes: nodes.sort(byPath), sessions: [...model.sessions].sort(([a], [b]) => a - b) };
}

function dumpState(state: ReplicatedState): unknown {
  const { tree } = state;
  const nodes: { path: string }[] = [];
  const visit = (path: string): void => {
    const node = tree.find(path);
    const children = tree.children(node).sort();
    const about = { acl: tree.acl(node), mode: tree.mode(node), ttlMs: tree.ttlMs(node) };
    const data = text(tree.data(node));
    expect(tree.path(node)).toBe(path);
    nodes.push({
      ...{ path, children, data, ...about },
      ...{ creates: tree.cversion(node), stat: tree.stat(node) },
    });
    for (const name of children) {
      visit(path === '/' ? `/${name}` : `${path}/${name}`);
    }
  };
  visit('/');
  expect(tree.nodeCount).toBe(nodes.length);
  return { nodes: nodes.sort(byPath), sessions: state.sessions.sorted() };
}

function byPath(a: { path: string }, b: { path: string }): number {
  return a.path < b.path ? -1 : 1;
}
function text(data: Uint8Array | null): string | null {
  return data === null ? null : Buffer.from(data).toString('latin1');
}

/** The state of a store that has every record handed out so far, loaded in the given order. */
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
const path = fc.oneof(
  { weight: 6, arbitrary: pathOf(1, NAMES.slice(0, 4)) },
  { weight: 4, arbitrary: pathOf(2, NAMES.slice(0, 3)) },
  { weight: 1, arbitrary: pathOf(2, NAMES) },
  { weight: 1, arbitrary: pathOf(3, NAMES.slice(0, 2)) },
);
const acl = fc.constantFrom(...LISTS);
const size = fc.constantFrom(...SIZES);
const mode = fc.constantFrom<NodeMode>('persistent', 'ephemeral', 'ephemeral', 'container', 'ttl');
const nodeWish: fc.Arbitrary<Wish> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('create' as const), path, mode, size, acl }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), path }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('setData' as const), path, size }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('setAcl' as const), path, acl }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('check' as const), path }) },
);
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 10, arbitrary: nodeWish },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('openSession' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('closeSession' as const) }) },
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
  it('is what a naive model is after any transactions', () => {
    fc.assert(
      fc.property(fc.array(wish, { maxLength: 60 }), (wishes) => {
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
          expect(tree.ephemeralsOf(session)).toEqual(paths.sort());
        }
        for (const [p] of entries) {
          const below = entries.filter(([q]) => q !== '/' && q.startsWith(p === '/' ? p : `${p}/`));
          expect(tree.descendantCount(tree.find(p))).toBe(below.length);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is captured exactly as it was at the freeze, whatever changes while it is captured', () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: wish.map((wished) => ({ kind: 'apply', wished }) as const) },
      { weight: 1, arbitrary: fc.constant({ kind: 'freeze' } as const) },
      { weight: 4, arbitrary: fc.nat(4).map((n) => ({ kind: 'capture', max: n + 1 }) as const) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.boolean(), (steps, reversed) => {
        const model = new Model();
        const state = new ReplicatedState();
        const store = new Map<string, Uint8Array>();
        let frozenDump: unknown = null;
        const capture = (max: number): void => {
          for (const { key, value } of state.captureSome(max)) {
            const name = Buffer.from(key).toString('latin1');
            value === null ? store.delete(name) : store.set(name, value);
          }
          if (!state.captureDone || frozenDump === null) {
            return;
          }
          const keys = (all: string[]) => (reversed ? all.sort().reverse() : all.sort());
          const loaded = loadFrom(store, keys);
          const zxid = state.frozen?.zxid ?? -1;
          const lastTime = state.frozen?.lastTime ?? -1;
          loaded.finishLoad({ zxid, lastTime });
          expect(loaded.digest()).toBe(state.frozen?.digest);
          expect(dumpState(loaded)).toEqual(frozenDump);
          expect(loaded.tree.approximateDataSize).toBeGreaterThan(0);
          expect(loaded.dirtyCount).toBe(0);
          frozenDump = null;
        };
        for (const next of steps) {
          if (next.kind === 'apply') {
            applyWish(state, model, next.wished);
          } else if (next.kind === 'capture') {
            capture(next.max);
          } else if (state.captureDone) {
            frozenDump = dumpState(state);
            state.freeze();
          }
        }
        while (!state.captureDone) {
          capture(3);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('goes on after recovery as if there had been none', () => {
    const wishes = fc.array(wish, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(wishes, wishes, (before, after) => {
        const model = new Model();
        const state = new ReplicatedState();
        const store = new Map<string, Uint8Array>();
        const checkpoint = (from: ReplicatedState): void => {
          from.freeze();
          while (!from.captureDone) {
            for (const { key, value } of from.captureSome(7)) {
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
          recovered.apply(model.zxid, txn, IGNORE_CHANGES);
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
