import { describe, expect, it } from 'vitest';
import { LEVEL } from './level.js';
import { type ChangeSink, IGNORE_CHANGES, ReplicatedState } from './replicated-state.js';
import { NO_NODE } from './tree.js';
import type { CreateOp, Txn, TxnOp } from './txn.js';

const OPEN = [{ perms: 31, scheme: 'world', id: 'anyone' }];
const PASSWORD = new Uint8Array(16).fill(7);

function createOp(path: string, more: Partial<CreateOp> = {}): CreateOp {
  const data = new TextEncoder().encode('data');
  return {
    kind: 'create',
    path,
    data,
    acl: OPEN,
    mode: 'persistent',
    ttlMs: 0,
    opcode: 1,
    ...more,
  };
}

/** Applies operations at the zxids 1, 2, 3 ... and the times 1000, 2000, 3000 ... */
function stateWith(ops: readonly { readonly op: TxnOp; readonly session?: number }[]) {
  const state = new ReplicatedState();
  const calls: string[] = [];
  const sink: ChangeSink = {
    created: ({ path }, node) => calls.push(`created ${path} v${state.tree.version(node)}`),
    deleted: (path) => calls.push(`deleted ${path}`),
    dataChanged: ({ path }, node) => calls.push(`changed ${path} v${state.tree.version(node)}`),
  };
  for (const [i, { op, session = 0 }] of ops.entries()) {
    state.apply(i + 1, txn(op, (i + 1) * 1000, session), sink);
  }
  return { state, calls };
}

function txn(op: TxnOp, time: number, session = 0): Txn {
  return { origin: 1, request: 1, session, time, op };
}

describe('a fresh state', () => {
  it('counts as ZooKeeper does and has its system nodes', () => {
    const { tree } = new ReplicatedState();
    expect(tree.nodeCount).toBe(4);
    expect(tree.approximateDataSize).toBe(44);
    expect(tree.stat(tree.find('/'))).toEqual({
      czxid: 0,
      mzxid: 0,
      ctime: 0,
      mtime: 0,
      version: 0,
      cversion: -1,
      aversion: 0,
      ephemeralOwner: 0,
      dataLength: 0,
      numChildren: 1,
      pzxid: 0,
    });
    expect(tree.children(tree.find('/zookeeper')).sort()).toEqual(['config', 'quota']);
    expect(tree.acl(tree.find('/zookeeper/config'))).toEqual([
      { perms: 1, scheme: 'world', id: 'anyone' },
    ]);
  });

  it('finds nothing at a path that is no path', () => {
    const { tree } = new ReplicatedState();
    for (const path of ['', 'zookeeper', '/zookeeper/', '//zookeeper', '/zookeeper//quota', '/a']) {
      expect(tree.find(path)).toBe(NO_NODE);
    }
  });

  it('has the same digest whatever its configuration node says', () => {
    const state = new ReplicatedState();
    const digest = state.digest();
    state.setConfigNode('server.1=127.0.0.1:2888:3888:participant');
    expect(state.digest()).toBe(digest);
    expect(state.tree.dataLength(state.tree.find('/zookeeper/config'))).toBe(40);
  });
});

const HIGHER = LEVEL.first + 2;

describe('the ensemble level', () => {
  it('is the first one of a fresh state, and part of the digest and of a checkpoint', () => {
    const { state } = stateWith([{ op: createOp('/a') }]);
    expect(state.level).toBe(LEVEL.first);
    const before = state.digest();
    const { state: raised } = stateWith([
      { op: createOp('/a') },
      { op: { kind: 'raiseLevel', level: HIGHER } },
    ]);
    expect(raised.level).toBe(HIGHER);
    expect(raised.digest()).not.toBe(before);
    expect(raised.freeze(1000)).toMatchObject({ level: HIGHER, digest: raised.digest() });
    const empty = stateWith([{ op: { kind: 'raiseLevel', level: HIGHER } }]).state;
    const loaded = new ReplicatedState();
    loaded.finishLoad({ zxid: 1, lastTime: 1000, level: HIGHER });
    expect([loaded.level, loaded.digest()]).toEqual([HIGHER, empty.digest()]);
    const old = new ReplicatedState();
    old.finishLoad({ zxid: 1, lastTime: 1000 });
    expect([old.level, old.digest()]).toEqual([LEVEL.first, new ReplicatedState().digest()]);
  });

  it('never falls', () => {
    const raise = (level: number) => ({ op: { kind: 'raiseLevel', level } as const });
    expect(() => stateWith([raise(HIGHER), raise(HIGHER)])).toThrow(
      `level ${HIGHER} is above ${HIGHER}`,
    );
  });
});

describe('a raised sequence number', () => {
  const raise = (creates: number) => ({
    op: { kind: 'raiseSequence', path: '/a', creates } as const,
  });

  it('is part of the digest and of checkpoints, and moves neither pzxid nor times', () => {
    const create = { op: createOp('/a') };
    const { state: before } = stateWith([create]);
    const { state } = stateWith([create, raise(5_000_000)]);
    expect(state.digest()).not.toBe(before.digest());
    const [was, is] = [before, state].map(({ tree }) => tree.stat(tree.find('/a')));
    expect(is).toEqual({ ...was, cversion: 10_000_000 });
    state.freeze(1000);
    const loaded = new ReplicatedState();
    while (!state.captureDone) {
      for (const { key, value } of state.captureSome(100, 1 << 20)) {
        if (value !== null) loaded.load(key, value);
      }
    }
    loaded.finishLoad({ zxid: 2, lastTime: state.lastTime });
    expect(loaded.digest()).toBe(state.digest());
    expect(loaded.tree.creates(loaded.tree.find('/a'))).toBe(5_000_000);
  });

  it('is marked as changed, so that the next checkpoint has it', () => {
    const { state } = stateWith([{ op: createOp('/a') }]);
    state.freeze(1000);
    while (!state.captureDone) state.captureSome(100, 1 << 20);
    expect(state.dirtyCount).toBe(0);
    state.apply(2, txn(raise(7).op, 1_000), IGNORE_CHANGES);
    expect(state.dirtyCount).toBe(1);
  });

  it('is never lower than it was, as those beyond 2147483647 are counted', () => {
    const create = { op: createOp('/a') };
    const { tree } = stateWith([create, raise(5), raise(5), raise(2 ** 31 - 1), raise(-5)]).state;
    expect(tree.creates(tree.find('/a'))).toBe(-5);
    expect(() => stateWith([create, raise(5), raise(4)])).toThrow('4 is no lower number than 5');
    expect(() => stateWith([create, raise(-5), raise(4)])).toThrow('4 is no lower number than -5');
  });
});

describe('the time of transactions', () => {
  const at = (time: number) => txn(createOp(`/${time}`), time);

  it('may fall', () => {
    const state = new ReplicatedState();
    state.apply(1, at(2_000), IGNORE_CHANGES);
    state.apply(2, at(1_000), IGNORE_CHANGES);
    expect([state.lastTime, state.tree.stat(state.tree.find('/1000')).mtime]).toEqual([
      1_000, 1_000,
    ]);
  });
});

describe('apply', () => {
  it('sets the Stat of a created node and counts the create at its parent', () => {
    const { state } = stateWith([
      { op: createOp('/a') },
      { op: createOp('/a/b', { data: null }) },
      { op: { kind: 'delete', path: '/a/b' } },
    ]);
    const a = state.tree.find('/a');
    expect(state.tree.stat(a)).toEqual({
      czxid: 1,
      mzxid: 1,
      ctime: 1000,
      mtime: 1000,
      version: 0,
      cversion: 2,
      aversion: 0,
      ephemeralOwner: 0,
      dataLength: 4,
      numChildren: 0,
      pzxid: 3,
    });
    expect(state.tree.creates(a)).toBe(1);
    expect(state.lastZxid).toBe(3);
    expect(state.lastTime).toBe(3000);
  });

  it('reports each operation of a multi before it applies the next', () => {
    const ops = [
      createOp('/a'),
      { kind: 'setData', path: '/a', data: null, version: 1 } as const,
      { kind: 'check', path: '/a' } as const,
      { kind: 'setData', path: '/a', data: null, version: 2 } as const,
      { kind: 'delete', path: '/a' } as const,
    ];
    const { calls } = stateWith([{ op: { kind: 'multi', ops } }]);
    expect(calls).toEqual(['created /a v0', 'changed /a v1', 'changed /a v2', 'deleted /a']);
  });

  it('deletes the ephemerals of a closed session, wherever they are, and the session', () => {
    const ephemeral = { mode: 'ephemeral' } as const;
    const { state, calls } = stateWith([
      { op: { kind: 'createSession', timeoutMs: 5000, password: PASSWORD } },
      { op: createOp('/a') },
      { op: createOp('/b', ephemeral), session: 1 },
      { op: createOp('/a/z', ephemeral), session: 1 },
      { op: createOp('/a-', ephemeral), session: 1 },
      { op: createOp('/a/é', ephemeral), session: 1 },
      { op: { kind: 'closeSession' }, session: 1 },
    ]);
    const deleted = ['deleted /a-', 'deleted /a/z', 'deleted /a/é', 'deleted /b'];
    expect(calls.slice(5).sort()).toEqual(deleted);
    expect(state.tree.pzxid(state.tree.find('/a'))).toBe(7);
    expect(state.tree.pzxid(state.tree.find('/'))).toBe(7);
    expect(state.tree.ephemeralCount).toBe(0);
    expect(state.sessions.count).toBe(0);
    expect(state.tree.sessionsWithEphemerals()).toEqual([]);
  });

  it('shows no owner for container and TTL nodes', () => {
    const { state } = stateWith([
      { op: createOp('/c', { mode: 'container' }) },
      { op: createOp('/t', { mode: 'ttl', ttlMs: 500 }) },
    ]);
    const { tree } = state;
    expect(tree.mode(tree.find('/c'))).toBe('container');
    expect(tree.stat(tree.find('/t')).ephemeralOwner).toBe(0);
    expect(tree.ttlMs(tree.find('/t'))).toBe(500);
  });

  it('leaves pzxid and mzxid alone when an ACL changes', () => {
    const acl = [{ perms: 3, scheme: 'digest', id: 'u:x' }];
    const { state } = stateWith([
      { op: createOp('/a') },
      { op: { kind: 'setAcl', path: '/a', acl, version: 1 } },
    ]);
    const a = state.tree.find('/a');
    expect(state.tree.aversion(a)).toBe(1);
    expect(state.tree.mzxid(a)).toBe(1);
    expect(state.tree.acl(a)).toEqual(acl);
  });

  it.each<[string, TxnOp, number]>([
    ['creates what exists', createOp('/a'), 0],
    ['creates below nothing', createOp('/x/y'), 0],
    ['creates below an ephemeral', createOp('/e/y'), 0],
    ['creates an ephemeral of no session', createOp('/y', { mode: 'ephemeral' }), 99],
    ['deletes what is not there', { kind: 'delete', path: '/x' }, 0],
    ['deletes a node with children', { kind: 'delete', path: '/a' }, 0],
    ['deletes a system node', { kind: 'delete', path: '/zookeeper/quota' }, 0],
    ['skips a version', { kind: 'setData', path: '/a', data: null, version: 2 }, 0],
    ['skips an aversion', { kind: 'setAcl', path: '/a', acl: OPEN, version: 0 }, 0],
    ['creates an ephemeral of a closing session', createOp('/y', { mode: 'ephemeral' }), 4],
    ['begins to close a session that is closing', { kind: 'beginClose' }, 4],
    ['begins to close a session that is not open', { kind: 'beginClose' }, 99],
    ['closes a session that is not open', { kind: 'closeSession' }, 99],
  ])('refuses a transaction that %s', (_, op, session) => {
    const { state } = stateWith([
      { op: { kind: 'createSession', timeoutMs: 5000, password: PASSWORD } },
      { op: createOp('/a') },
      { op: createOp('/a/b') },
      { op: { kind: 'createSession', timeoutMs: 5000, password: PASSWORD } },
      { op: { kind: 'beginClose' }, session: 4 },
      { op: createOp('/e', { mode: 'ephemeral' }), session: 1 },
    ]);
    expect(() => state.apply(7, txn(op, 7000, session), IGNORE_CHANGES)).toThrow(
      expect.objectContaining({ name: 'InvariantViolation' }),
    );
  });

  it('refuses a zxid that is not above the last', () => {
    const { state } = stateWith([{ op: createOp('/a') }, { op: createOp('/b') }]);
    expect(() => state.apply(2, txn(createOp('/c'), 9000), IGNORE_CHANGES)).toThrow('above 0x2');
  });
});
