// Tests who may do what, and which error wins when several apply. Most cases run twice: with the
// ACLs applied, and with them in flight, when only the overlay knows of them.
import {
  type Acl,
  AuthPacket,
  CreateRequest,
  decode,
  GetAclResponse,
  MultiRequest,
  type MultiRequestOp,
  MultiResponse,
  OpCode,
  PathRequest,
  PathVersionRequest,
  SetAclRequest,
  SetDataRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type Reply, type TestClient } from '../simulated/pipeline/test-client.js';
import { fakeDigestOf, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const NO_AUTH = -102;
const BOB = fakeDigestOf('bob:secret');

function world(perms: number): Acl {
  return { perms, scheme: 'world', id: 'anyone' };
}
function bob(perms: number): Acl {
  return { perms, scheme: 'digest', id: BOB };
}

type Send = (client: TestClient) => number;

function create(path: string, acl: readonly Acl[] | null = OPEN_ACL, flags = 0): Send {
  return (client) => client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags });
}
function remove(path: string, version = -1): Send {
  return (client) => client.send(OpCode.delete, PathVersionRequest, { path, version });
}
function setData(path: string, version = -1): Send {
  return (client) => client.send(OpCode.setData, SetDataRequest, { path, data: null, version });
}
function setAcl(path: string, acl: readonly Acl[] | null = OPEN_ACL, version = -1): Send {
  return (client) => client.send(OpCode.setAcl, SetAclRequest, { path, acl, version });
}
function read(opcode: number, path: string): Send {
  return (client) => client.read(opcode, path);
}
function getAcl(path: string): Send {
  return (client) => client.send(OpCode.getAcl, PathRequest, { path });
}
function auth(scheme: string, data: string): Send {
  const packet = { type: 0, scheme, auth: Buffer.from(data) };
  return (client) => client.send(OpCode.auth, AuthPacket, packet);
}
function multi(...ops: readonly MultiRequestOp[]): Send {
  return (client) => client.send(OpCode.multi, MultiRequest, { ops });
}

function ask(ensemble: TestEnsemble, client: TestClient, send: Send): Reply {
  const xid = send(client);
  ensemble.settle();
  const reply = client.take().find((one) => one.xid === xid);
  if (reply === undefined) throw new Error(`request ${xid} was not answered`);
  return reply;
}

/** `/p` and `/p/c` with an ACL each, made by another client that may do anything. */
function tree(ensemble: TestEnsemble, acls: { parent?: Acl[]; child?: Acl[] }, settle = true) {
  const maker = ensemble.connect();
  create('/p')(maker);
  create('/p/c')(maker);
  create('/p/c/d')(maker);
  ensemble.settle();
  if (acls.child !== undefined) setAcl('/p/c', acls.child)(maker);
  if (acls.parent !== undefined) setAcl('/p', acls.parent)(maker);
  if (settle) ensemble.settle();
  else ensemble.forward();
}

describe('a write', () => {
  const rows: readonly (readonly [string, Send, 'parent' | 'child', perm: number])[] = [
    ['create', create('/p/x'), 'parent', 4],
    ['create, sequential', create('/p/x', OPEN_ACL, 2), 'parent', 4],
    ['create, ephemeral', create('/p/x', OPEN_ACL, 1), 'parent', 4],
    ['delete', remove('/p/c/d'), 'child', 8],
    ['setData', setData('/p/c'), 'child', 2],
    ['setACL', setAcl('/p/c'), 'child', 16],
  ];
  for (const [name, send, where, perm] of rows) {
    for (const mode of ['applied', 'in flight']) {
      it(`${name} needs exactly permission ${perm} of the ${where} (${mode})`, () => {
        const codes = [perm, 31 - perm].map((perms) => {
          const ensemble = new TestEnsemble();
          const client = ensemble.connect();
          tree(ensemble, { [where]: [world(perms)] }, mode === 'applied');
          return ask(ensemble, client, send).error;
        });
        expect(codes).toEqual([0, NO_AUTH]);
      });
    }
  }

  it('needs nothing of the node itself to delete it', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    tree(ensemble, {});
    expect(ask(ensemble, client, setAcl('/p/c/d', [bob(31)])).error).toBe(0);
    expect(ask(ensemble, client, remove('/p/c/d')).error).toBe(0);
  });

  it('is decided by an ACL change in flight, in both directions', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/a');
    client.send(OpCode.setAcl, SetAclRequest, { path: '/a', acl: [world(16)], version: -1 });
    client.setData('/a', 'refused');
    client.send(OpCode.setAcl, SetAclRequest, { path: '/a', acl: OPEN_ACL, version: -1 });
    client.setData('/a', 'taken');
    client.delete('/a');
    create('/a', [world(1)])(client);
    create('/a/b')(client);
    client.setData('/a', 'refused');
    ensemble.forward();
    expect(client.take()).toEqual([]);
    ensemble.settle();
    const codes = client.take().map(({ error }) => error);
    expect(codes).toEqual([0, 0, NO_AUTH, 0, 0, 0, 0, NO_AUTH, NO_AUTH]);
  });

  it('of a client that has not the right changes nothing and has a zxid', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(2);
    tree(ensemble, { parent: [world(1)] });
    const digest = ensemble.leader.state.digest();
    const before = ensemble.leader.state.lastZxid;
    expect(ask(ensemble, client, create('/p/x')).zxid).toBe(before + 1);
    expect(ensemble.leader.state.digest()).toBe(digest);
    expect(ensemble.member(2).state.digest()).toBe(digest);
  });
});

describe('a long list of addresses', () => {
  const addresses = (first: string, perms: number): Acl[] =>
    Array.from({ length: 300 }, (_, n) => ({
      perms,
      scheme: 'ip',
      id: n === 299 ? first : `10.9.${n >> 8}.${n & 255}`,
    }));
  const EVERYBODY = '0.0.0.0/0';
  const NOBODY = '10.8.0.1';

  it('holds from the moment it is set, for what is applied and for what is in flight', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    const maker = ensemble.connect();
    create('/a')(maker);
    ensemble.settle();
    for (const [first, perms, code] of [
      [EVERYBODY, 31, 0],
      [NOBODY, 31, NO_AUTH],
      [EVERYBODY, 31, 0],
      [EVERYBODY, 16, NO_AUTH],
      [EVERYBODY, 19, 0],
    ] as const) {
      const anyone = { perms: 16, scheme: 'world', id: 'anyone' };
      setAcl('/a', [anyone, ...addresses(first, perms)])(maker);
      ensemble.forward();
      const write = setData('/a')(client);
      const again = setData('/a')(client);
      ensemble.settle();
      const get = read(OpCode.getData, '/a')(client);
      ensemble.settle();
      const replies = client.take().map(({ xid, error }) => [xid, error]);
      expect(replies).toEqual([write, again, get].map((xid) => [xid, code]));
    }
  });
});

describe('which error wins', () => {
  const noRights: readonly (readonly [string, Send, number])[] = [
    ['create: bad flag', create('/p/x', OPEN_ACL, 9), -8],
    ['create: invalid ACL', create('/p/x', []), -114],
    ['create: no parent', create('/none/x'), -101],
    ['create: invalid path', create('/p/../x'), -101],
    ['create: name with a control character', create('/p/\u0001'), NO_AUTH],
    ['create: exists', create('/p/c'), NO_AUTH],
    ['delete: system node', remove('/zookeeper'), -8],
    ['delete: no parent', remove('/none/x'), -101],
    ['delete: no node', remove('/p/none'), NO_AUTH],
    ['delete: bad version', remove('/p/c', 7), NO_AUTH],
    ['delete: has children', remove('/p/c'), NO_AUTH],
    ['setData: bad path', setData('/p/'), -8],
    ['setData: no node', setData('/p/none'), -101],
    ['setData: bad version', setData('/p/c', 7), NO_AUTH],
    ['setACL: bad path', setAcl('/p/'), -8],
    ['setACL: invalid ACL', setAcl('/p/c', []), -114],
    ['setACL: no node', setAcl('/p/none'), -101],
    ['setACL: bad version', setAcl('/p/c', OPEN_ACL, 7), NO_AUTH],
    ['exists: NUL', read(OpCode.exists, '/p/c\0'), -8],
    ['exists: no node', read(OpCode.exists, '/p/none'), -101],
    ['getData: no node', read(OpCode.getData, '/p/none'), -101],
    ['getACL: no node', getAcl('/p/none'), -101],
  ];
  it.each(noRights)('%s, without any right', (_, send, code) => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    tree(ensemble, { parent: [bob(31)], child: [bob(31)] });
    expect(ask(ensemble, client, send).error).toBe(code);
  });

  const allRights: readonly (readonly [string, Send, number])[] = [
    ['create: name with a control character', create('/p/\u0001'), -8],
    ['create: exists', create('/p/c'), -110],
    ['delete: no node', remove('/p/none'), -101],
    ['delete: bad version', remove('/p/c', 7), -103],
    ['delete: has children', remove('/p/c'), -111],
    ['setData: bad version', setData('/p/c', 7), -103],
    ['setACL: bad version', setAcl('/p/c', OPEN_ACL, 7), -103],
  ];
  it.each(allRights)('%s, with the rights', (_, send, code) => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    tree(ensemble, { parent: [bob(31)], child: [bob(31)] });
    expect(ask(ensemble, client, auth('digest', 'bob:secret')).error).toBe(0);
    expect(ask(ensemble, client, send).error).toBe(code);
  });
});

describe('a multi', () => {
  it('checks each operation, with what the operations before it have done', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    tree(ensemble, { child: [world(31 - 1)] });
    const closed = { path: '/m', data: null, acl: [bob(31)], flags: 0 };
    const errors = (send: Send) =>
      decode(MultiResponse, ask(ensemble, client, send).body).results.map((result) =>
        'error' in result ? result.error : 0,
      );
    const setOp = { path: '/p/c', data: null, version: -1 };
    const check = { opcode: OpCode.check, request: { path: '/p/c', version: -1 } } as const;
    const set = { opcode: OpCode.setData, request: setOp } as const;
    expect(errors(multi(set, check, set))).toEqual([0, NO_AUTH, -2]);
    expect(
      errors(
        multi(
          { opcode: OpCode.create, request: closed },
          { opcode: OpCode.create, request: { ...closed, path: '/m/x' } },
        ),
      ),
    ).toEqual([0, NO_AUTH]);
    expect(ask(ensemble, client, read(OpCode.exists, '/m')).error).toBe(-101);
  });
});

describe('a read', () => {
  const reads = [OpCode.getData, OpCode.exists, OpCode.getChildren, OpCode.getChildren2];
  it.each(reads)('(%i) needs READ and nothing else', (opcode) => {
    const codes = [1, 30].map((perms) => {
      const ensemble = new TestEnsemble();
      const client = ensemble.connect();
      tree(ensemble, { child: [world(perms)] });
      return ask(ensemble, client, read(opcode, '/p/c')).error;
    });
    expect(codes).toEqual([0, NO_AUTH]);
  });

  it.each(reads)('(%i) that is refused sets no watch', (opcode) => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    tree(ensemble, { child: [world(30)] });
    ask(ensemble, client, (sender) => sender.read(opcode, '/p/c', true));
    expect(ensemble.leader.pipeline.watches.watchCount).toBe(0);
  });

  it('of an ACL needs READ or ADMIN, and (CVE-2019-0201) shows digests to ADMIN alone', () => {
    const got = [0, 1, 2, 16].map((perms) => {
      const ensemble = new TestEnsemble();
      const client = ensemble.connect();
      const range = { perms: 31, scheme: 'ip', id: '10.0.0.0/8' };
      tree(ensemble, { child: [world(perms), bob(31), range] });
      const { error, body } = ask(ensemble, client, getAcl('/p/c'));
      return error === 0 ? decode(GetAclResponse, body).acl.map(({ id }) => id) : error;
    });
    expect(got).toEqual([
      NO_AUTH,
      ['anyone', 'bob:x', '10.0.0.0/8'],
      NO_AUTH,
      ['anyone', BOB, '10.0.0.0/8'],
    ]);
  });
});

describe('whoever is more than anyone', () => {
  it('by address: has the rights of the ranges that hold the address', () => {
    const ensemble = new TestEnsemble();
    tree(ensemble, { child: [{ perms: 31, scheme: 'ip', id: '10.1.0.0/16' }] });
    const codes = ['10.1.2.3', '::ffff:10.1.2.3', '10.2.2.3', '::1'].map((address) => {
      const client = ensemble.connect(1, address);
      const write = ask(ensemble, client, setData('/p/c')).error;
      return [write, ask(ensemble, client, read(OpCode.getData, '/p/c')).error];
    });
    expect(codes).toEqual([
      [0, 0],
      [0, 0],
      [NO_AUTH, NO_AUTH],
      [NO_AUTH, NO_AUTH],
    ]);
  });

  it('the super user may do everything but write the configuration', () => {
    const ensemble = new TestEnsemble();
    tree(ensemble, { parent: [bob(0)], child: [bob(0)] });
    const client = ensemble.connect();
    expect(ask(ensemble, client, auth('digest', 'super:secret')).error).toBe(0);
    const config = '/zookeeper/config';
    const sends = [setData('/p/c'), create('/p/x'), remove('/p/c/d'), getAcl('/p/c'), setAcl('/p')];
    expect(sends.map((send) => ask(ensemble, client, send).error)).toEqual([0, 0, 0, 0, 0]);
    expect(ask(ensemble, client, setData(config)).error).toBe(NO_AUTH);
  });

  it('an operator who has switched the checks off gives everybody every right', () => {
    const off = { skipAcl: true };
    const ensemble = new TestEnsemble({ pipeline: off, preparer: off });
    tree(ensemble, { parent: [bob(0)], child: [bob(0)] });
    const client = ensemble.connect();
    const sends = [setData('/p/c'), create('/p/x'), read(OpCode.getData, '/p/c'), getAcl('/p')];
    expect(sends.map((send) => ask(ensemble, client, send).error)).toEqual([0, 0, 0, 0]);
    expect(ask(ensemble, client, create('/y', [])).error).toBe(-114);
  });

  it('nobody writes, administers or extends /zookeeper/config, which everybody may read', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    const config = '/zookeeper/config';
    const sends = [setData(config), setAcl(config), create(`${config}/x`)];
    expect(sends.map((send) => ask(ensemble, client, send).error)).toEqual([
      NO_AUTH,
      NO_AUTH,
      NO_AUTH,
    ]);
    expect(ask(ensemble, client, read(OpCode.getData, config)).error).toBe(0);
    expect(decode(GetAclResponse, ask(ensemble, client, getAcl(config)).body).acl).toEqual([
      world(1),
    ]);
  });
});
