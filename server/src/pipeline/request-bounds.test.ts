// Tests what one request may ask for: operations of a multi or multiRead, names that it lists,
// segments and bytes of a path, entries of ACLs. At the bound everything works as usual; beyond it
// there is an answer and the connection stays. The first operation that a multi must not have
// executed is always one that would show.
import {
  AddWatchRequest,
  CreateRequest,
  decode,
  encode,
  MultiReadRequest,
  MultiReadResponse,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  OpCode,
  SetAclRequest,
  SetWatches2Request,
} from '@rookery/protocol';
import { describe, expect, it, vi } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble, type TestEnsembleOptions } from '../simulated/pipeline/test-ensemble.js';
import { NO_NODE } from '../state/tree.js';

const OPS_MAX = 5;
const DEPTH_MAX = 4;
const ACL_ENTRIES_MAX = 16_384;
const PATH_BYTES_MAX = 65_536;
const BOUNDS: TestEnsembleOptions = {
  pipeline: { multiOpsMax: OPS_MAX },
  preparer: { multiOpsMax: OPS_MAX, pathDepthMax: DEPTH_MAX },
};

function connected(options = BOUNDS): { ensemble: TestEnsemble; client: TestClient } {
  const ensemble = new TestEnsemble(options);
  const client = ensemble.connect();
  ensemble.settle();
  client.take();
  return { ensemble, client };
}

function createOp(path: string): MultiRequestOp {
  return { opcode: OpCode.create, request: { path, data: null, acl: OPEN_ACL, flags: 0 } };
}

function existsIn(ensemble: TestEnsemble, path: string): boolean {
  return ensemble.leader.state.tree.find(path) !== NO_NODE;
}

describe('a multi', () => {
  const multi = (count: number): readonly MultiRequestOp[] =>
    Array.from({ length: count }, (_, index) => createOp(`/m${index}`));

  for (const [count, error] of [
    [OPS_MAX, 0],
    [OPS_MAX + 1, -8],
    [50 * OPS_MAX, -8],
  ] as const) {
    it(`of ${count} operations where ${OPS_MAX} are allowed is answered ${error}`, () => {
      const { ensemble, client } = connected();
      client.send(OpCode.multi, MultiRequest, { ops: multi(count) });
      client.create('/behind');
      ensemble.settle();
      const [answer, behind] = client.take();
      expect(answer?.error).toBe(error);
      expect(answer?.body.length === 0).toBe(error !== 0);
      expect(behind?.error).toBe(0);
      expect(existsIn(ensemble, '/m0')).toBe(error === 0);
      expect(client.state).toBe('open');
    });
  }
});

describe('a multiRead', () => {
  for (const opcode of [OpCode.getData, OpCode.getChildren] as const) {
    it(`of type ${opcode} has as many operations as are allowed, and not one more`, () => {
      const { client } = connected();
      const ops = Array.from({ length: OPS_MAX + 1 }, () => ({
        opcode,
        request: { path: '/zookeeper', watch: false },
      }));
      client.send(OpCode.multiRead, MultiReadRequest, { ops: ops.slice(1) });
      expect(decode(MultiReadResponse, client.takeOne().body).results).toHaveLength(OPS_MAX);
      client.send(OpCode.multiRead, MultiReadRequest, { ops });
      expect(client.takeOne()).toMatchObject({ error: -8, body: Buffer.alloc(0) });
      expect(client.state).toBe('open');
    });
  }

  it('lists so many names that they fit a turn, and answers -127 for others', () => {
    const { ensemble, client } = connected({});
    const names = 12_000;
    client.create('/large');
    ensemble.settle();
    for (let at = 0; at < names; at += 4096) {
      const ops = Array.from({ length: Math.min(4096, names - at) }, (_, index) =>
        createOp(`/large/${at + index}`),
      );
      client.send(OpCode.multi, MultiRequest, { ops });
      ensemble.settle();
    }
    client.take();
    const list = { opcode: OpCode.getChildren, request: { path: '/large', watch: false } } as const;
    const small = { opcode: OpCode.getData, request: { path: '/large', watch: false } } as const;
    client.send(OpCode.multiRead, MultiReadRequest, { ops: [small, list, list, list, small] });
    const { results } = decode(MultiReadResponse, client.takeOne().body);
    expect(results.map(({ opcode }) => opcode)).toEqual([4, 8, 8, -1, -1]);
    expect(results.slice(3)).toEqual([
      { opcode: -1, error: -127 },
      { opcode: -1, error: -127 },
    ]);
  });

  it('answers -125 for a directory that no multiRead can list, and all others', () => {
    const { ensemble, client } = connected();
    const childCount = vi.spyOn(ensemble.leader.state.tree, 'childCount');
    const list = { opcode: OpCode.getChildren, request: { path: '/', watch: false } } as const;
    const listed = (children: number) => {
      childCount.mockReturnValueOnce(children);
      client.send(OpCode.multiRead, MultiReadRequest, { ops: [list, list] });
      return decode(MultiReadResponse, client.takeOne().body).results;
    };
    const most = (1 << 15) - 4 - 1;
    expect(listed(most - 100)).toMatchObject([{ opcode: 8 }, { opcode: 8 }]);
    expect(listed(most)).toMatchObject([{ opcode: 8 }, { opcode: -1, error: -127 }]);
    expect(listed(most + 1)).toMatchObject([{ opcode: -1, error: -125 }, { opcode: 8 }]);
  });
});

describe('the path of a znode', () => {
  it('may be so deep and no deeper, however the znode is created', () => {
    const { ensemble, client } = connected();
    const send = (path: string, flags: number): number => {
      client.send(OpCode.create, CreateRequest, { path, data: null, acl: OPEN_ACL, flags });
      ensemble.settle();
      return client.takeOne().error;
    };
    for (const path of ['/a', '/a/b', '/a/b/c', '/a/b/c/d']) expect(send(path, 0)).toBe(0);
    for (const flags of [0, 1, 2, 3]) expect(send('/a/b/c/d/e', flags)).toBe(-8);
    for (const flags of [0, 1, 2, 3]) expect(send(`/a/b/c/e${flags}`, flags)).toBe(0);
    expect(send('/a/b/ä', 0)).toBe(0);
    expect(send('/a/b/ä/ö', 0)).toBe(0);
    expect(send('/a/b/ä/ö/ü', 0)).toBe(-8);
    client.send(OpCode.multi, MultiRequest, { ops: [createOp('/m'), createOp('/a/b/c/d/e')] });
    ensemble.settle();
    const { results } = decode(MultiResponse, client.takeOne().body);
    expect(results).toEqual([
      { opcode: -1, error: 0 },
      { opcode: -1, error: -8 },
    ]);
    expect(existsIn(ensemble, '/m')).toBe(false);
  });

  it('is what it was for znodes that were deeper before there was a bound', () => {
    const { ensemble, client } = connected({ preparer: { pathDepthMax: 100 } });
    for (const path of ['/a', '/a/b', '/a/b/c', '/a/b/c/d', '/a/b/c/d/e']) client.create(path);
    ensemble.settle();
    client.take();
    ensemble.preparer = ensemble.newPreparer(2, { pathDepthMax: DEPTH_MAX });
    const again = ensemble.connect();
    ensemble.settle();
    again.take();
    again.setData('/a/b/c/d/e', 'x');
    again.create('/a/b/c/d/f');
    again.delete('/a/b/c/d/e');
    ensemble.settle();
    expect(again.take().map(({ error }) => error)).toEqual([0, -8, 0]);
  });
});

describe('the ACL entries of a request', () => {
  /** Duplicates, which are stored once: only their number can be refused. */
  const list = (count: number, id = '10.0.0.1') =>
    Array.from({ length: count }, () => ({ perms: 31, scheme: 'ip', id }));

  it.each([
    [ACL_ENTRIES_MAX, 0],
    [ACL_ENTRIES_MAX + 1, -114],
  ])('are %i in a create or a setACL: the answer is %i', (count, error) => {
    const { client, ensemble } = connected();
    client.send(OpCode.create, CreateRequest, { ...bare('/a'), acl: list(count) });
    client.create('/b');
    client.send(OpCode.setAcl, SetAclRequest, { path: '/b', acl: list(count), version: -1 });
    client.create('/behind');
    ensemble.settle();
    expect(client.take().map((reply) => reply.error)).toEqual([error, 0, error, 0]);
  });

  it.each([
    [ACL_ENTRIES_MAX / 2, 0],
    [ACL_ENTRIES_MAX / 2 + 1, -114],
  ])('are twice %i in a multi: the result is %i', (count, error) => {
    const { client, ensemble } = connected();
    const op = (path: string, acl = list(count)): MultiRequestOp => {
      return { opcode: OpCode.create, request: { ...bare(path), acl } };
    };
    client.send(OpCode.multi, MultiRequest, { ops: [op('/a'), createOp('/b'), op('/c')] });
    client.send(OpCode.create, CreateRequest, { ...bare('/d'), acl: list(ACL_ENTRIES_MAX) });
    ensemble.settle();
    const [multi, single] = client.take();
    const { results } = decode(MultiResponse, multi?.body ?? new Uint8Array(0));
    expect(results.map((one) => (one.opcode === OpCode.error ? one.error : 0)).at(-1)).toBe(error);
    expect(single?.error, 'each request is counted by itself').toBe(0);
  });

  it('are malformed beyond the bound as they are within it', () => {
    const { client, ensemble } = connected();
    const request = { path: '/', acl: list(ACL_ENTRIES_MAX + 1), version: -1 };
    const body = encode(SetAclRequest, request);
    client.sendRaw(OpCode.setAcl, body.subarray(0, body.length - 8));
    ensemble.settle();
    expect(client.takeOne().error).toBe(-5);
  });
});

function bare(path: string): CreateRequest {
  return { path, data: null, acl: OPEN_ACL, flags: 0 };
}

describe('the path of a request', () => {
  const pathOf = (bytes: number): string => `/${'p'.repeat(bytes - 1)}`;
  const longest = pathOf(PATH_BYTES_MAX);
  /** Three bytes in each character, and one more than the longest. */
  const wide = `/${'日'.repeat((PATH_BYTES_MAX - 1) / 3)}x`;

  it.each([
    ['the longest', longest, 0, 0],
    ['a longer one', `${longest}p`, 0, -8],
    ['a longer one in bytes alone', wide, 0, -8],
    ['the longest with the ten digits of its number', pathOf(PATH_BYTES_MAX - 10), 2, 0],
    ['one that is too long with its number', pathOf(PATH_BYTES_MAX - 9), 2, -8],
    ['the longest without its number', longest, 2, -8],
  ])('may be %s', (_, path, flags, error) => {
    const { client, ensemble } = connected();
    client.send(OpCode.create, CreateRequest, { ...bare(path), flags });
    client.create('/behind');
    ensemble.settle();
    expect(client.take().map((reply) => reply.error)).toEqual([error, 0]);
  });

  it.each([
    ['exists', longest, -101],
    ['exists', `${longest}p`, -8],
    ['addWatch', longest, 0],
    ['addWatch', `${longest}p`, -8],
    ['addWatch', wide, -8],
  ] as const)('of a watch without a znode, by %s: case %#', (kind, path, error) => {
    const { client, ensemble } = connected();
    if (kind === 'exists') client.exists(path, true);
    else client.send(OpCode.addWatch, AddWatchRequest, { path, mode: 1 });
    expect(client.takeOne().error).toBe(error);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(error === -8 ? 0 : 1);
    client.exists(path);
    expect(client.takeOne().error, 'without a watch').toBe(-101);
  });

  it('of a setWatches is left out where no znode can be, and the connection stays', () => {
    const { client, ensemble } = connected();
    const missing = [longest, `${longest}p`, wide, '/short'];
    client.send(OpCode.setWatches2, SetWatches2Request, {
      relativeZxid: 0,
      dataWatches: [],
      existWatches: missing,
      childWatches: [],
      persistentWatches: missing,
      persistentRecursiveWatches: missing,
    });
    expect(client.takeOne().error).toBe(0);
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(6);
  });

  it('is longer where a znode is already, which can be read, watched and deleted', () => {
    const { client: maker, ensemble } = connected();
    maker.create(longest);
    ensemble.settle();
    const path = `${longest}/old`;
    const { state, pipeline } = ensemble.leader;
    const op = { kind: 'create', path, data: null, acl: OPEN_ACL, mode: 'persistent' } as const;
    const of = { origin: 0, request: 0, session: 0, time: ensemble.wallMs };
    const txn = { ...of, op: { ...op, ttlMs: 0, opcode: OpCode.create } };
    pipeline.apply(state.lastZxid + 1, txn, ensemble.nowMs);
    ensemble.preparer = ensemble.newPreparer(2);
    const client = ensemble.connect();
    client.exists(path, true);
    client.send(OpCode.addWatch, AddWatchRequest, { path, mode: 0 });
    client.delete(path);
    ensemble.settle();
    expect(client.takeSummary()).toEqual([
      'reply 1 0',
      'reply 2 0',
      `event 2 ${path}`,
      'reply 3 0',
    ]);
  });
});
