// Tests what the leader refuses once the tree has no room: what adds data, with everything in
// flight counted; and that everything else continues, so that there is a way back.
import {
  CreateRequest,
  decode,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  OpCode,
  RaiseSequenceRequest,
  SetAclRequest,
} from '@rookery/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { nameBytesIn, payloadBytes, sessionBytes, znodeBytes } from '../state/tree-bytes.js';

const FULL = -125;

/** The tree has `/d` with 100 bytes, and room for `roomBytes` more. */
function bounded(roomBytes: number) {
  const bound = { bytesMax: Number.POSITIVE_INFINITY, isDiskFull: false };
  const ensemble = new TestEnsemble({ preparer: { treeBound: bound } });
  const client = ensemble.connect();
  client.create('/d', { data: 'x'.repeat(100) });
  ensemble.settle();
  client.take();
  bound.bytesMax = ensemble.leader.state.bytes + roomBytes;
  const answer = (send: (client: TestClient) => number): number => {
    send(client);
    ensemble.settle();
    return client.takeOne().error;
  };
  return { ensemble, client, bound, answer, state: ensemble.leader.state };
}

function createOp(path: string, bytes: number): MultiRequestOp {
  const request = { path, data: Buffer.alloc(bytes), acl: OPEN_ACL, flags: 0 };
  return { opcode: OpCode.create, request };
}
function setOp(path: string, bytes: number): MultiRequestOp {
  return { opcode: OpCode.setData, request: { path, data: Buffer.alloc(bytes), version: -1 } };
}
function deleteOp(path: string): MultiRequestOp {
  return { opcode: OpCode.delete, request: { path, version: -1 } };
}

describe('a tree with room for one znode', () => {
  it('takes one of exactly that size, and none that is a byte too large', () => {
    const one = znodeBytes(1, 7);
    expect(bounded(one).answer((c) => c.create('/a', { data: '1234567' }))).toBe(0);
    expect(bounded(one).answer((c) => c.create('/a', { data: '12345678' }))).toBe(FULL);
    expect(bounded(one - 1).answer((c) => c.create('/a', { data: '1234567' }))).toBe(FULL);
  });

  it('counts what is in flight, not only what is applied', () => {
    const { client, ensemble, state } = bounded(znodeBytes(1, 0));
    client.create('/a');
    client.create('/b');
    ensemble.forward();
    expect(state.tree.find('/a')).toBe(-1);
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([0, FULL]);
  });

  it('gives the room of a delete in flight to what comes behind it', () => {
    const { client, ensemble, answer } = bounded(znodeBytes(1, 0));
    expect(answer((c) => c.create('/a'))).toBe(0);
    client.delete('/a');
    client.create('/b');
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([0, 0]);
  });

  it('forgets what a request would have added that failed for another reason', () => {
    const { client, ensemble, answer } = bounded(znodeBytes(1, 0));
    client.create('/d');
    client.create('/none/x');
    client.setData('/d', 'y'.repeat(120), 9);
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([-110, -101, -103]);
    expect(answer((c) => c.create('/a'))).toBe(0);
  });
});

describe('a full tree', () => {
  it('refuses larger data and takes equal and smaller ones', () => {
    const { answer } = bounded(0);
    expect(answer((c) => c.setData('/d', 'y'.repeat(200)))).toBe(FULL);
    expect(answer((c) => c.setData('/d', 'y'.repeat(100)))).toBe(0);
    expect(answer((c) => c.setData('/d', 'y'))).toBe(0);
    expect(answer((c) => c.setData('/d', 'y'.repeat(100)))).toBe(0);
  });

  it('lets clients read, delete, check, and begin and end sessions', () => {
    const { ensemble, answer, state } = bounded(0);
    expect(answer((c) => c.create('/a'))).toBe(FULL);
    expect(answer((c) => c.getData('/d'))).toBe(0);
    const other = ensemble.connect();
    expect(other.session).toBeGreaterThan(0);
    const before = state.sessions.count;
    other.sendRaw(OpCode.closeSession, new Uint8Array(0));
    ensemble.settle();
    expect(state.sessions.count).toBe(before - 1);
    expect(answer((c) => c.delete('/d'))).toBe(0);
    expect(answer((c) => c.create('/a'))).toBe(0);
  });

  it('has room again once the ephemerals of a session went with it', () => {
    const { ensemble, bound, answer, state } = bounded(0);
    const owner = ensemble.connect();
    bound.bytesMax = state.bytes + znodeBytes(1, 0);
    owner.create('/e', { flags: 1 });
    ensemble.settle();
    expect(answer((c) => c.create('/a'))).toBe(FULL);
    owner.sendRaw(OpCode.closeSession, new Uint8Array(0));
    ensemble.settle();
    expect(answer((c) => c.create('/a'))).toBe(0);
  });

  it('refuses an ACL list that nothing has yet, and takes one that is there', () => {
    const { answer, bound, state } = bounded(0);
    const set = (id: string) => (client: TestClient) =>
      client.send(OpCode.setAcl, SetAclRequest, {
        path: '/d',
        acl: [{ perms: 31, scheme: 'digest', id: `${id}:x` }, ...OPEN_ACL],
        version: -1,
      });
    expect(answer(set('a'))).toBe(FULL);
    bound.bytesMax += 2000;
    expect(answer(set('a'))).toBe(0);
    bound.bytesMax = state.bytes;
    expect(answer(set('a'))).toBe(0);
    expect(answer(set('b'))).toBe(FULL);
  });

  it('decides the same under the next leader', () => {
    const { ensemble, bound, answer } = bounded(znodeBytes(1, 0));
    expect(answer((c) => c.create('/a'))).toBe(0);
    expect(answer((c) => c.create('/b'))).toBe(FULL);
    ensemble.preparer = ensemble.newPreparer(2, { treeBound: bound });
    const client = ensemble.connect();
    // One more session counts, too.
    bound.bytesMax += sessionBytes(1);
    client.create('/b');
    client.delete('/a');
    client.create('/b');
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([FULL, 0, 0]);
  });

  it('tells how many were refused, once', () => {
    const { ensemble, answer, state } = bounded(0);
    expect(ensemble.preparer.txns.room.takeRefusals()).toBe(null);
    answer((c) => c.create('/a'));
    answer((c) => c.create('/a'));
    const { bytes } = state;
    expect(ensemble.preparer.txns.room.takeRefusals()).toEqual({
      count: 2,
      forDisk: 0,
      bytes,
      bytesMax: bytes,
    });
    expect(ensemble.preparer.txns.room.takeRefusals()).toBe(null);
  });
});

describe('while a disk is full', () => {
  it('what carries data is refused, also in a multi; deletes and checks are not', () => {
    const { bound, ensemble, answer, client } = bounded(1_000_000);
    ensemble.raiseLevel();
    bound.isDiskFull = true;
    expect(answer((c) => c.create('/a'))).toBe(FULL);
    expect(answer((c) => c.setData('/d', 'smaller'))).toBe(FULL);
    expect(ensemble.preparer.txns.room.takeRefusals()).toMatchObject({ count: 0, forDisk: 2 });
    const multi = (ops: readonly MultiRequestOp[]): readonly number[] => {
      client.send(OpCode.multi, MultiRequest, { ops });
      ensemble.settle();
      const { results } = decode(MultiResponse, client.takeOne().body);
      return results.map((one) => ('error' in one ? one.error : 0));
    };
    const acl = { path: '/d', acl: OPEN_ACL, version: -1 };
    expect(answer((c) => c.send(OpCode.setAcl, SetAclRequest, acl))).toBe(FULL);
    const raise = { path: '/d', atLeast: 9 };
    expect(answer((c) => c.send(OpCode.raiseSequence, RaiseSequenceRequest, raise))).toBe(FULL);
    expect(multi([createOp('/m', 0), deleteOp('/m')])).toContain(FULL);
    expect(multi([{ opcode: OpCode.check, request: { path: '/d', version: -1 } }])).toEqual([0]);
    expect(answer((c) => c.delete('/d'))).toBe(0);
    bound.isDiskFull = false;
    expect(answer((c) => c.create('/a'))).toBe(0);
  });
});

describe('a multi in a tree without room', () => {
  const run = (roomBytes: number, ops: readonly MultiRequestOp[]) => {
    const { client, ensemble, state } = bounded(roomBytes);
    client.send(OpCode.multi, MultiRequest, { ops });
    ensemble.settle();
    const { error, body } = client.takeOne();
    const { results } = decode(MultiResponse, body);
    return { error, codes: results.map((one) => ('error' in one ? one.error : 0)), state };
  };

  it('passes when what it adds is no more than what it takes, in any order', () => {
    expect(run(0, [createOp('/a', 0), deleteOp('/d')]).error).toBe(0);
    expect(run(0, [setOp('/d', 0), createOp('/d/a', 0), deleteOp('/d/a')]).error).toBe(0);
  });

  it('counts all that it adds, and leaves nothing behind when that is too much', () => {
    const { codes, state } = run(znodeBytes(1, 0), [
      createOp('/a', 0),
      createOp('/b', 0),
      deleteOp('/a'),
      createOp('/a', 8),
    ]);
    expect(codes.filter((code) => code === FULL)).toHaveLength(1);
    expect(state.tree.find('/a')).toBe(-1);
    expect(state.tree.find('/b')).toBe(-1);
    expect(run(2 * znodeBytes(1, 8), [createOp('/a', 0), createOp('/b', 8)]).error).toBe(0);
  });
});

describe('the state', () => {
  const PATHS = ['/a', '/b', '/a/x', '/ä', '/d'];
  const path = fc.constantFrom(...PATHS);
  const bytes = fc.constantFrom(0, 1, 8, 100, 500, 5000);
  const operation = fc.oneof(
    fc.tuple(path, bytes).map(([at, size]) => createOp(at, size)),
    fc.tuple(path, bytes).map(([at, size]) => setOp(at, size)),
    path.map(deleteOp),
  );
  const step = fc.oneof(
    { weight: 6, arbitrary: operation.map((op) => [op]) },
    { weight: 1, arbitrary: fc.array(operation, { minLength: 2, maxLength: 4 }) },
    { weight: 2, arbitrary: fc.nat(3) },
  );

  it('never passes the bound, and what is in flight is counted to the byte', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), fc.nat(12_000), (steps, room) => {
        const { ensemble, client, bound, state } = bounded(room);
        const sendOne = (op: MultiRequestOp): void => {
          if (op.opcode === OpCode.create) client.send(OpCode.create, CreateRequest, op.request);
          else if (op.opcode === OpCode.delete) client.delete(op.request.path);
          else if (op.opcode === OpCode.setData) {
            client.setData(op.request.path, 'z'.repeat(op.request.data?.length ?? 0));
          }
        };
        for (const next of steps) {
          if (typeof next === 'number') ensemble.apply(1, next);
          else if (next.length === 1) next.forEach(sendOne);
          else client.send(OpCode.multi, MultiRequest, { ops: next });
          const foreseen = ensemble.preparer.txns.room.bytes;
          ensemble.forward();
          expect(state.bytes).toBeLessThanOrEqual(bound.bytesMax);
          expect(ensemble.preparer.txns.room.bytes).toBeLessThanOrEqual(bound.bytesMax);
          if (typeof next === 'number') expect(ensemble.preparer.txns.room.bytes).toBe(foreseen);
        }
        const foreseen = ensemble.preparer.txns.room.bytes;
        ensemble.apply();
        expect(state.bytes).toBe(foreseen);
        expect(ensemble.preparer.txns.room.bytes).toBe(foreseen);
      }),
      { numRuns: 200 },
    );
  });

  it('takes for data what their slots take, which setData of another size changes', () => {
    const { answer, state } = bounded(10_000);
    const before = state.bytes;
    expect(answer((c) => c.setData('/d', 'y'.repeat(300)))).toBe(0);
    const nameBytes = nameBytesIn({ path: '/d' });
    const grown = payloadBytes(nameBytes, 300) - payloadBytes(nameBytes, 100);
    expect(state.bytes - before).toBe(grown);
  });
});
