// Tests authentication on a connection: when it holds, when it is answered, and how long it lasts.
import {
  AuthPacket,
  CreateRequest,
  decode,
  encode,
  GetAclResponse,
  OpCode,
  PathRequest,
  WhoAmIResponse,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { fakeDigestOf, resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';

const AUTH_XID = -4;
const BOB = fakeDigestOf('bob:secret');
const BOBS = [{ perms: 31, scheme: 'digest', id: BOB }];
const OWN = [{ perms: 31, scheme: 'auth', id: '' }];

function authenticate(client: TestClient, scheme = 'digest', data = 'bob:secret'): void {
  const packet = encode(AuthPacket, { type: 0, scheme, auth: Buffer.from(data) });
  client.sendRaw(OpCode.auth, packet, AUTH_XID);
}
function create(client: TestClient, path: string, acl = BOBS): number {
  return client.send(OpCode.create, CreateRequest, { path, data: null, acl, flags: 0 });
}
function whoIs(ensemble: TestEnsemble, client: TestClient): readonly string[] {
  client.sendRaw(OpCode.whoAmI, new Uint8Array());
  ensemble.settle();
  const { clientInfo } = decode(WhoAmIResponse, client.takeOne().body);
  return clientInfo.map(({ authScheme, user }) => `${authScheme} ${user}`);
}

describe('an authentication', () => {
  it('is answered with its xid and zxid 0, and makes the client who it says', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    expect(whoIs(ensemble, client)).toEqual(['ip 127.0.0.1']);
    authenticate(client);
    expect(client.takeOne()).toMatchObject({ xid: AUTH_XID, zxid: 0, error: 0 });
    expect(whoIs(ensemble, client)).toEqual(['digest bob', 'ip 127.0.0.1']);
  });

  it('holds for the writes and reads sent behind it, before it is answered', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(2);
    create(client, '/bobs');
    client.setData('/bobs', 'too early');
    client.getData('/bobs');
    authenticate(client);
    client.setData('/bobs', 'now');
    client.getData('/bobs');
    ensemble.forward();
    expect(client.take()).toEqual([]);
    ensemble.settle();
    expect(client.takeSummary()).toEqual([
      'reply 1 0',
      'reply 2 -102',
      'reply 3 -102',
      'reply -4 0',
      'reply 4 0',
      'reply 5 0',
    ]);
  });

  it('is answered after a sync before it, and the writes behind it after that', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    create(client, '/bobs');
    ensemble.settle();
    client.take();
    client.send(OpCode.sync, PathRequest, { path: '/' });
    authenticate(client);
    client.setData('/bobs', 'x');
    expect(client.take()).toEqual([]);
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 2 0', 'reply -4 0', 'reply 3 0']);
  });

  it.each(['nope', 'world', 'super', 'sasl'])(
    'with scheme %s is answered -115, and the connection ends',
    (scheme) => {
      const ensemble = new TestEnsemble();
      const client = ensemble.connect();
      authenticate(client, scheme);
      expect(client.takeOne()).toMatchObject({ xid: AUTH_XID, zxid: 0, error: -115 });
      expect(client.state).toBe('ended');
      expect(ensemble.leader.pipeline.logins.failures).toBe(1);
      expect(ensemble.leader.pipeline.sessionOf(client.id)).toBe(0);
    },
  );

  it('that fails is answered behind what came before it, and nothing behind it is done', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/before');
    authenticate(client, 'nope');
    client.create('/behind');
    expect(client.state).toBe('open');
    ensemble.settle();
    expect(client.takeSummary()).toEqual(['reply 1 0', 'reply -4 -115']);
    expect(client.state).toBe('ended');
    expect(ensemble.leader.state.tree.find('/behind')).toBe(-1);
  });

  it('leaves the session as it is when it fails: another connection goes on with it', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    client.create('/e', { flags: 1 });
    ensemble.settle();
    authenticate(client, 'nope');
    const next = resume(ensemble, 1, client);
    ensemble.settle();
    expect(next.takeConnectResponse().sessionId).toBe(client.session);
    next.exists('/e');
    expect(next.takeOne().error).toBe(0);
  });

  it('belongs to its connection: who resumes the session starts afresh', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(1);
    authenticate(client);
    create(client, '/bobs');
    ensemble.settle();
    const next = resume(ensemble, 2, client);
    ensemble.settle();
    next.takeConnectResponse();
    expect(whoIs(ensemble, next)).toEqual(['ip 127.0.0.1']);
    next.setData('/bobs', 'x');
    next.getData('/bobs');
    ensemble.settle();
    expect(next.take().map(({ error }) => error)).toEqual([-102, -102]);
  });

  it('before the handshake is answered is taken up once it is', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.open();
    client.connect();
    authenticate(client);
    ensemble.settle();
    expect(client.takeFrames()).toHaveLength(2);
    expect(whoIs(ensemble, client)).toEqual(['digest bob', 'ip 127.0.0.1']);
  });
});

describe('the ACL scheme auth', () => {
  it('is stored as who the client is, from whichever member it comes', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const client = ensemble.connect(2);
    authenticate(client);
    authenticate(client, 'digest', 'ann:secret');
    create(client, '/own', OWN);
    ensemble.settle();
    client.take();
    client.send(OpCode.getAcl, PathRequest, { path: '/own' });
    const { acl } = decode(GetAclResponse, client.takeOne().body);
    expect(acl.map(({ perms, scheme, id }) => [perms, scheme, id])).toEqual([
      [31, 'digest', fakeDigestOf('ann:secret')],
      [31, 'digest', BOB],
    ]);
  });

  it('is refused with -114 from a client that has not authenticated', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    create(client, '/own', OWN);
    ensemble.settle();
    expect(client.takeOne().error).toBe(-114);
  });

  it('of the super user is the digest that made it one', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.connect();
    authenticate(client, 'digest', 'super:secret');
    create(client, '/own', OWN);
    ensemble.settle();
    expect(client.take().map(({ error }) => error)).toEqual([0, 0]);
    const { tree } = ensemble.leader.state;
    expect(tree.acl(tree.find('/own'))).toEqual([
      { perms: 31, scheme: 'digest', id: fakeDigestOf('super:secret') },
    ]);
  });
});
