/**
 * Tests the limits at admission: nothing that a client can send grows, on its way into the log or
 * back to the client, beyond what the links, the log and the memory take (ZOOKEEPER-3496, -4306).
 */
import {
  CreateRequest,
  decode,
  ErrorCode,
  MultiReadRequest,
  MultiReadResponse,
  MultiRequest,
  MultiResponse,
  OpCode,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

const FRAME_BYTES_MAX = 1_048_575;
/** No bound but that of the frame. */
const ANY_COUNT = { multiOpsMax: 1_000_000 };
const AUTH_ACL = [{ perms: 31, scheme: 'auth', id: '' }];

describe('a multi of the largest size', () => {
  it('is no larger as a transaction, whatever its operations are', () => {
    const ensemble = new TestEnsemble({ preparer: ANY_COUNT });
    const client = ensemble.connect();
    const create = { path: '/', data: null, acl: OPEN_ACL, flags: 2 };
    const count = Math.floor(FRAME_BYTES_MAX / 50);
    const ops = Array.from({ length: count }, () => ({ opcode: OpCode.create, request: create }));
    client.send(OpCode.multi, MultiRequest, { ops });
    const { preparer, time, leader } = ensemble;
    const [forwarded] = taken(leader.pipeline).requests;
    if (forwarded === undefined) throw new Error('the multi is forwarded');
    preparer.onRequest(1, forwarded, time);
    const { txn, bytes } = ensemble.lastProposed;
    expect(txn.op.kind).toBe('multi');
    expect(bytes).toBeLessThan(forwarded.body.length);
  });

  it('is refused with -114 when its auth entries stand for more ids than a message holds', () => {
    const ensemble = new TestEnsemble({ preparer: ANY_COUNT });
    const client = ensemble.connect();
    authenticate(client, 60);
    const create = (index: number) => ({ path: `/${index}`, data: null, acl: AUTH_ACL, flags: 0 });
    const ops = Array.from({ length: 20_000 }, (_, index) => ({
      opcode: OpCode.create,
      request: create(index),
    }));
    client.send(OpCode.multi, MultiRequest, { ops });
    ensemble.settle();
    const { results } = decode(MultiResponse, client.takeOne().body);
    const errors = new Set(results.map((result) => 'error' in result && result.error));
    expect(errors).toContain(ErrorCode.invalidAcl);
    // A few of them are answered normally.
    client.send(OpCode.multi, MultiRequest, { ops: ops.slice(0, 3) });
    ensemble.settle();
    expect(decode(MultiResponse, client.takeOne().body).results).toHaveLength(3);
    expect(ensemble.leader.state.tree.find('/2')).toBeGreaterThan(0);
  });
});

describe('a multiRead', () => {
  it('of one large znode, again and again, is answered in full up to a bound', () => {
    const ensemble = new TestEnsemble({ pipeline: ANY_COUNT });
    const client = ensemble.connect();
    client.create('/large', { data: 'x'.repeat(1_000_000) });
    ensemble.settle();
    client.take();
    const read = { opcode: OpCode.getData, request: { path: '/large', watch: false } } as const;
    const ops = Array.from({ length: 30_000 }, () => read);
    client.send(OpCode.multiRead, MultiReadRequest, { ops });
    const answer = client.writer.take();
    expect(answer.length).toBeLessThan(32 << 20);
    // The results follow the length and the reply's header.
    const { results } = decode(MultiReadResponse, answer.subarray(20));
    const codes = results.map((result) => ('error' in result ? result.error : 0));
    expect(codes.slice(0, 8)).toEqual(new Array(8).fill(0));
    expect(new Set(codes.slice(8))).toEqual(new Set([ErrorCode.throttledOp]));
  });

  it('of nothing at all is answered in full when it has as many operations as it may', () => {
    const codes = codesOf([], new Array(4096).fill('/none'));
    expect(new Set(codes)).toEqual(new Set([ErrorCode.noNode]));
  });

  it('looks only at so many entries of ACLs and identities', () => {
    const paths = Array.from({ length: 200 }, (_, index) => `/acl${index}`);
    const codes = codesOf(paths, paths);
    const first = codes.indexOf(ErrorCode.throttledOp);
    expect(new Set(codes.slice(0, first))).toEqual(new Set([ErrorCode.noAuth]));
    expect(first).toBeGreaterThan(27);
    expect(first).toBeLessThan(35);
    expect(new Set(codes.slice(first))).toEqual(new Set([ErrorCode.throttledOp]));
  });

  it('looks at one ACL once, however often it reads the znode', () => {
    const codes = codesOf(['/acl'], new Array(800).fill('/acl'));
    expect(new Set(codes)).toEqual(new Set([ErrorCode.noAuth]));
  });

  it('does not count the children of a znode that the client may not read', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    const acl = [{ perms: 4, scheme: 'world', id: 'anyone' }];
    client.send(OpCode.create, CreateRequest, { path: '/secret', data: null, acl, flags: 0 });
    for (let at = 0; at < 400; at++) client.create(`/secret/${at}`);
    ensemble.settle();
    client.take();
    const read = {
      opcode: OpCode.getChildren,
      request: { path: '/secret', watch: false },
    } as const;
    const ops = new Array(4000).fill(read);
    client.send(OpCode.multiRead, MultiReadRequest, { ops });
    const { results } = decode(MultiReadResponse, client.takeOne().body);
    expect(new Set(results.map((result) => ('error' in result ? result.error : 0)))).toEqual(
      new Set([ErrorCode.noAuth]),
    );
  });
});

/** Reads the paths, where each created znode has a long ACL that keeps it from its reader. */
function codesOf(created: readonly string[], paths: readonly string[]): readonly number[] {
  const ensemble = new TestEnsemble();
  const client = ensemble.connect();
  for (const path of created) {
    const acl = Array.from({ length: 1_000 }, (_, index) => ({
      perms: 1,
      scheme: 'digest',
      id: `other${index}${path}:x`,
    }));
    client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags: 0 });
  }
  authenticate(client, 30);
  ensemble.settle();
  client.take();
  const ops = paths.map((path) => ({ opcode: OpCode.getData, request: { path, watch: false } }));
  client.send(OpCode.multiRead, MultiReadRequest, { ops });
  const { results } = decode(MultiReadResponse, client.takeOne().body);
  return results.map((result) => ('error' in result ? result.error : 0));
}

function authenticate(client: TestClient, count: number): void {
  for (let index = 0; index < count; index++) {
    const packet = Buffer.from(`\0\0\0\0\0\0\0\x06digest\0\0\0\x08u${100_000 + index}:`, 'latin1');
    client.sendRaw(OpCode.auth, packet);
  }
  client.take();
}
