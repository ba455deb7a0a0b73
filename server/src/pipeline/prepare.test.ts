// Tests which error wins, how a write is answered, and what a multi leaves behind. Most cases run
// twice: with what came before applied, and with it in flight, when only the overlay knows of it.
import {
  type Acl,
  Create2Response,
  CreateRequest,
  CreateResponse,
  decode,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  OpCode,
  SetAclRequest,
  StatResponse,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type Reply, type TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

interface Case {
  readonly ensemble: TestEnsemble;
  readonly client: TestClient;
  /** What was sent so far is decided, and is applied or in flight, as the case requires. */
  prepare(): void;
  /** Sends, applies everything, and returns the answer to the request. */
  answer(send: (client: TestClient) => number): Reply;
}

/** Runs the test with what `prepare` decides already applied, and again with it in flight. */
function both(name: string, test: (run: Case) => void): void {
  for (const mode of ['applied', 'in flight'] as const) {
    it(`${name} (${mode})`, () => {
      const ensemble = new TestEnsemble();
      const client = ensemble.connect();
      test({
        ensemble,
        client,
        prepare: () => (mode === 'applied' ? ensemble.settle() : ensemble.forward()),
        answer: (send) => {
          const xid = send(client);
          ensemble.settle();
          const reply = client.take().find((one) => one.xid === xid);
          if (reply === undefined) throw new Error(`request ${xid} was not answered`);
          return reply;
        },
      });
    });
  }
}

function createWith(acl: readonly Acl[] | null, path = '/x', flags = 0) {
  return (client: TestClient): number =>
    client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags });
}
function setAcl(path: string, acl: readonly Acl[] | null, version = -1) {
  return (client: TestClient): number =>
    client.send(OpCode.setAcl, SetAclRequest, { path, acl, version });
}
function multi(...ops: readonly MultiRequestOp[]) {
  return (client: TestClient): number => client.send(OpCode.multi, MultiRequest, { ops });
}
function createOp(path: string, flags = 0): MultiRequestOp {
  return { opcode: OpCode.create, request: { path, data: null, acl: OPEN_ACL, flags } };
}
function setOp(path: string, version: number): MultiRequestOp {
  return { opcode: OpCode.setData, request: { path, data: Buffer.from('m'), version } };
}
function deleteOp(path: string, version = -1): MultiRequestOp {
  return { opcode: OpCode.delete, request: { path, version } };
}
function checkOp(path: string, version: number): MultiRequestOp {
  return { opcode: OpCode.check, request: { path, version } };
}

/**
 * `/a` with one child, `/e` ephemeral, `/v` at version 2; forwarded, and applied only by `answer`.
 */
function populate({ client, prepare }: Case): void {
  client.create('/a');
  client.create('/a/b');
  client.create('/e', { flags: 1 });
  client.create('/v');
  client.setData('/v', '1');
  client.setData('/v', '2');
  prepare();
}

const BAD_ACL: readonly Acl[] = [{ perms: 31, scheme: 'nope', id: 'x' }];
const WITHOUT_PERMS: readonly Acl[] = [];

describe('the errors of create, the earlier check wins', () => {
  const cases: readonly (readonly [string, number, (client: TestClient) => number])[] = [
    ['a bad flag before a bad path', -8, createWith(null, 'bad', 9)],
    ['a TTL flag in a create is a bad argument', -8, createWith(OPEN_ACL, '/x', 5)],
    ['a path without a slash before a bad ACL', -8, createWith(null, 'bad')],
    ['a path with NUL before a bad ACL', -8, createWith(null, '/b\0')],
    ['a null ACL before a missing parent', -114, createWith(null, '/no/x')],
    ['an empty ACL before a missing parent', -114, createWith(WITHOUT_PERMS, '/no/x')],
    ['an unknown scheme before a missing parent', -114, createWith(BAD_ACL, '/no/x')],
    ['a missing parent before an invalid full path', -101, createWith(OPEN_ACL, '/no/./x')],
    ['a dot segment is a missing parent', -101, createWith(OPEN_ACL, '/a/./b')],
    ['a trailing slash under nothing is a missing parent', -101, createWith(OPEN_ACL, '/bad/')],
    ['a trailing slash under a znode is a bad argument', -8, createWith(OPEN_ACL, '/a/')],
    ['a double slash is a bad argument', -8, createWith(OPEN_ACL, '//x')],
    ['a control character is a bad argument', -8, createWith(OPEN_ACL, '/a\u0001')],
    ['an existing znode', -110, createWith(OPEN_ACL, '/a')],
    ['the root exists', -110, createWith(OPEN_ACL, '/')],
    ['a child of an ephemeral', -108, createWith(OPEN_ACL, '/e/x')],
    ['an invalid path under an ephemeral is a bad argument', -8, createWith(OPEN_ACL, '/e/')],
    ['a child of the configuration', -102, createWith(OPEN_ACL, '/zookeeper/config/x')],
    ['flag 4 makes a plain znode', 0, createWith(OPEN_ACL, '/plain', 4)],
  ];
  for (const [name, code, send] of cases) {
    both(`${name}: ${code}`, (run) => {
      populate(run);
      expect(run.answer(send).error).toBe(code);
    });
  }
});

describe('the errors of delete, setData and setACL, the earlier check wins', () => {
  const cases: readonly (readonly [string, number, (client: TestClient) => number])[] = [
    ['delete /', -8, (c) => c.delete('/', 7)],
    ['delete /zookeeper', -8, (c) => c.delete('/zookeeper')],
    ['delete /zookeeper/quota', -8, (c) => c.delete('/zookeeper/quota')],
    ['delete /zookeeper/config', -8, (c) => c.delete('/zookeeper/config')],
    ['delete without a slash', -8, (c) => c.delete('x')],
    ['delete under nothing', -101, (c) => c.delete('/no/x')],
    ['delete of nothing with a version', -101, (c) => c.delete('/no', 3)],
    ['delete of a parent with a bad version', -103, (c) => c.delete('/a', 9)],
    ['delete of a parent', -111, (c) => c.delete('/a', 0)],
    ['delete with the version', 0, (c) => c.delete('/v', 2)],
    ['setData with a bad path of a missing znode', -8, (c) => c.setData('/no/', 'x', 3)],
    ['setData of nothing with a version', -101, (c) => c.setData('/no', 'x', 3)],
    ['setData with a bad version', -103, (c) => c.setData('/v', 'x', 1)],
    ['setData with the version', 0, (c) => c.setData('/v', 'x', 2)],
    ['setData of the configuration', -102, (c) => c.setData('/zookeeper/config', 'x')],
    ['setACL with a bad path and ACL', -8, setAcl('x', null)],
    ['setACL with a bad ACL of nothing', -114, setAcl('/no', BAD_ACL)],
    ['setACL of nothing with a version', -101, setAcl('/no', OPEN_ACL, 4)],
    ['setACL with a bad version', -103, setAcl('/v', OPEN_ACL, 4)],
    ['setACL with the version, which setData does not raise', 0, setAcl('/v', OPEN_ACL, 0)],
    ['setACL of the configuration', -102, setAcl('/zookeeper/config', OPEN_ACL)],
  ];
  for (const [name, code, send] of cases) {
    both(`${name}: ${code}`, (run) => {
      populate(run);
      expect(run.answer(send).error).toBe(code);
    });
  }

  it('a failed write has a zxid of its own', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.delete('/no');
    client.delete('/no');
    ensemble.settle();
    expect(client.take().map(({ zxid }) => zxid)).toEqual([0x1_0000_0002, 0x1_0000_0003]);
    expect(ensemble.leader.state.lastZxid).toBe(0x1_0000_0003);
  });
});

describe('ACL lists', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['world', 'anyone', true],
    ['world', 'someone', false],
    ['digest', 'bob:hash', true],
    ['digest', 'bob', false],
    ['digest', 'a:b:c', false],
    ['auth', '', false],
    ['ip', '10.0.0.1', true],
    ['ip', '10.0.0.0/8', true],
    ['ip', '10.0.0.0/33', false],
    ['ip', '10.0.0.256', false],
    ['ip', '::1', true],
    ['ip', 'fe80::/10', true],
    ['ip', '::ffff:10.0.0.1/128', true],
    ['ip', '1:2:3:4:5:6:7:8', true],
    ['ip', '1:2:3:4:5:6:7', false],
    ['ip', '', false],
    ['', '', false],
  ];
  for (const [scheme, id, legal] of cases) {
    it(`${scheme || 'no scheme'} '${id}' is ${legal ? 'accepted' : 'refused with -114'}`, () => {
      const ensemble = new TestEnsemble();
      const client = ensemble.connect();
      createWith([{ perms: 31, scheme, id }])(client);
      ensemble.settle();
      expect(client.takeOne().error).toBe(legal ? 0 : -114);
    });
  }

  it('an entry that comes twice is stored once', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    createWith([...OPEN_ACL, ...OPEN_ACL])(client);
    ensemble.settle();
    const { tree } = ensemble.leader.state;
    expect(tree.acl(tree.find('/x'))).toEqual(OPEN_ACL);
  });
});

describe('sequence numbers', () => {
  both('count every create under the parent, deletes do not take them back', (run) => {
    const { client } = run;
    client.create('/q');
    client.create('/q/plain');
    client.delete('/q/plain');
    run.prepare();
    const first = run.answer((c) => c.create('/q/s-', { flags: 2 }));
    expect(decode(CreateResponse, first.body).path).toBe('/q/s-0000000001');
    const slash = run.answer((c) => c.create('/q/', { flags: 3 }));
    expect(decode(CreateResponse, slash.body).path).toBe('/q/0000000002');
    expect(run.answer((c) => c.create('/q/plain/', { flags: 2 })).error).toBe(-101);
  });

  both('a failed multi gives its numbers back', (run) => {
    const { client } = run;
    client.create('/q');
    run.prepare();
    run.answer(multi(createOp('/q/a-', 2), createOp('/q/b-', 2), deleteOp('/none')));
    const next = run.answer((c) => c.create('/q/c-', { flags: 2, opcode: OpCode.create2 }));
    const { path, stat } = decode(Create2Response, next.body);
    expect(path).toBe('/q/c-0000000000');
    expect(stat.numChildren).toBe(0);
  });
});

describe('multi', () => {
  both('sees its own earlier operations and answers each as it was', (run) => {
    const done = run.answer(
      multi(createOp('/m'), setOp('/m', 0), setOp('/m', 1), checkOp('/m', 2), deleteOp('/m', 2)),
    );
    expect(done.error).toBe(0);
    const { results } = decode(MultiResponse, done.body);
    expect(results.map(({ opcode }) => opcode)).toEqual([1, 5, 5, 13, 2]);
    const versions = results.flatMap((r) => (r.opcode === OpCode.setData ? [r.stat.version] : []));
    expect(versions).toEqual([1, 2]);
    expect(run.ensemble.leader.state.tree.find('/m')).toBe(-1);
  });

  both('that fails answers 0, its code, then -2, and leaves nothing', (run) => {
    populate(run);
    const failed = run.answer(
      multi(createOp('/m'), setOp('/v', 2), deleteOp('/a/b'), checkOp('/m', 7), createOp('/n')),
    );
    expect(failed.error).toBe(0);
    const { results } = decode(MultiResponse, failed.body);
    expect(results).toEqual([0, 0, 0, -103, -2].map((error) => ({ opcode: -1, error })));
    // The overlay was rolled back: the same operations are decided as if it had never been.
    expect(run.answer((c) => c.create('/m')).error).toBe(0);
    expect(run.answer((c) => c.setData('/v', 'x', 2)).error).toBe(0);
    expect(run.answer((c) => c.delete('/a')).error).toBe(-111);
    expect(run.answer((c) => c.delete('/a/b')).error).toBe(0);
  });

  both('of nothing is legal', (run) => {
    const done = run.answer(multi());
    expect(done.error).toBe(0);
    expect(decode(MultiResponse, done.body).results).toEqual([]);
  });

  both('with a bad create flag fails at that operation', (run) => {
    const failed = run.answer(multi(createOp('/m'), createOp('/n', 9)));
    const { results } = decode(MultiResponse, failed.body);
    expect(results).toEqual([0, -8].map((error) => ({ opcode: -1, error })));
    expect(run.answer((c) => c.delete('/m')).error).toBe(-101);
  });

  both('with a TTL flag on a plain create is malformed as a whole', (run) => {
    expect(run.answer(multi(createOp('/m'), createOp('/n', 5))).error).toBe(-5);
    const earlier = run.answer(multi(createOp('/m/x'), createOp('/n', 5)));
    const { results } = decode(MultiResponse, earlier.body);
    expect(results).toEqual([-101, -2].map((error) => ({ opcode: -1, error })));
    expect(run.answer((c) => c.delete('/m')).error).toBe(-101);
  });

  both('of a read is malformed, and so is a truncated one', (run) => {
    const read = Buffer.from('0000000400ffffffff000000022f6100ffffffff01ffffffff', 'hex');
    expect(run.answer((c) => c.sendRaw(OpCode.multi, read)).error).toBe(-5);
    expect(run.answer((c) => c.sendRaw(OpCode.multi, read.subarray(0, 7))).error).toBe(-5);
  });
});

describe('replies', () => {
  both('create answers the path, create2 the path and the Stat', (run) => {
    const plain = run.answer((c) => c.create('/a'));
    expect(decode(CreateResponse, plain.body)).toEqual({ path: '/a' });
    expect(plain.body.length).toBe(6);
    const full = run.answer((c) => c.create('/b', { opcode: OpCode.create2, data: 'abc' }));
    const { path, stat } = decode(Create2Response, full.body);
    expect([path, stat.dataLength, stat.version, stat.ctime]).toEqual([
      '/b',
      3,
      0,
      run.ensemble.wallMs,
    ]);
    expect(stat.czxid).toBe(stat.pzxid);
  });

  both('setACL raises the aversion alone', (run) => {
    run.client.create('/a');
    run.prepare();
    const { stat } = decode(StatResponse, run.answer(setAcl('/a', OPEN_ACL)).body);
    expect([stat.version, stat.cversion, stat.aversion]).toEqual([0, 0, 1]);
    expect(stat.mzxid).toBe(stat.czxid);
  });
});

describe('the end of an epoch', () => {
  it('no zxid is handed out after the last counter, and the leader says so', () => {
    const ensemble = new TestEnsemble({ preparer: { firstCounter: 0xffff_fffd } });
    const client = ensemble.connect();
    for (const path of ['/a', '/b', '/c', '/d']) client.create(path);
    expect(ensemble.preparer.txns.zxids.left).toBe(2);
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply 2 0']);
    expect(ensemble.preparer.txns.zxids.left).toBe(0);
    ensemble.nowMs += 1_000_000;
    ensemble.tick();
    ensemble.settle();
    expect(ensemble.leader.state.lastZxid).toBe(0x1_ffff_ffff);
  });
});
