/**
 * Authentication by SASL and by certificate, and members that ask it of everybody.
 */
import {
  AuthPacket,
  CreateRequest,
  decode,
  ErrorCode,
  encode,
  GetAclResponse,
  OpCode,
  PathRequest,
  SaslRequest,
  SaslResponse,
  WhoAmIResponse,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import type { SaslServer } from '../security/sasl.js';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { TestEnsemble, type TestEnsembleOptions } from '../simulated/pipeline/test-ensemble.js';
import { isDistinguishedName, isSaslUser } from './acl-form.js';

const SUBJECT = 'CN=client one,O=Ex\\, Inc,C=DE';
const X509 = [{ scheme: 'x509', id: SUBJECT }];

/** Any first token is challenged; the second one is the user, and "nobody" is refused. */
const sasl: SaslServer = {
  begin() {
    let hasBegun = false;
    return {
      userIn: () => 'ann',
      answer(token) {
        const text = Buffer.from(token).toString();
        if (hasBegun && text === 'nobody') return { kind: 'refused', reason: 'a test' };
        if (hasBegun) return { kind: 'done', token: Buffer.from('proof'), user: text };
        hasBegun = true;
        return { kind: 'challenge', token: Buffer.from('challenge') };
      },
    };
  },
};

function ensembleWith(pipeline: TestEnsembleOptions['pipeline'] = {}): TestEnsemble {
  const preparer = { aclSchemes: new Set(['sasl', 'x509'] as const) };
  return new TestEnsemble({ sasl, pipeline, preparer });
}

/** The answer to a token: an error, and the token that comes back. */
function say(client: TestClient, token: string | null): readonly unknown[] {
  client.send(OpCode.sasl, SaslRequest, { token: token === null ? null : Buffer.from(token) });
  const { zxid, error, body } = client.takeOne();
  expect(zxid).toBe(0);
  const answer = decode(SaslResponse, body).token;
  return [error, answer === null ? null : Buffer.from(answer).toString()];
}

function whoIs(client: TestClient): readonly string[] {
  client.sendRaw(OpCode.whoAmI, new Uint8Array());
  const { clientInfo } = decode(WhoAmIResponse, client.takeOne().body);
  return clientInfo.map(({ authScheme, user }) => `${authScheme} ${user}`);
}

function createOwn(ensemble: TestEnsemble, client: TestClient, scheme = 'auth', id = ''): number {
  const acl = [{ perms: 31, scheme, id }];
  client.send(OpCode.create, CreateRequest, { path: '/own', data: null, acl, flags: 0 });
  ensemble.settle();
  return client.takeOne().error;
}

it('answers tokens with zxid 0 until the user is known, who then owns what it creates', () => {
  const ensemble = ensembleWith();
  const client = ensemble.connect();
  expect(say(client, '')).toEqual([0, 'challenge']);
  expect(whoIs(client)).toEqual(['ip 127.0.0.1']);
  expect(say(client, 'bob')).toEqual([0, 'proof']);
  expect(whoIs(client)).toEqual(['sasl bob', 'ip 127.0.0.1']);
  expect(createOwn(ensemble, client)).toBe(0);
  client.send(OpCode.getAcl, PathRequest, { path: '/own' });
  const { acl } = decode(GetAclResponse, client.takeOne().body);
  expect(acl).toEqual([{ perms: 31, scheme: 'sasl', id: 'bob' }]);
  const other = ensemble.connect();
  other.getData('/own');
  expect(other.takeOne().error).toBe(ErrorCode.noAuth);
});

it('answers a token before the requests that wait', () => {
  const ensemble = ensembleWith();
  const client = ensemble.connect();
  client.setData('/', 'waits');
  expect(say(client, null)).toEqual([0, 'challenge']);
  expect(say(client, 'bob')).toEqual([0, 'proof']);
  ensemble.settle();
  expect(client.takeOne().xid).toBe(1);
});

it('answers -115 with a token of null to who is refused, and ends the connection', () => {
  const ensemble = ensembleWith();
  const client = ensemble.connect();
  say(client, '');
  expect(say(client, 'nobody')).toEqual([ErrorCode.authFailed, null]);
  expect(client.state).toBe('ended');
  expect(ensemble.leader.pipeline.logins.failures).toBe(1);
  const other = ensemble.connect();
  other.sendRaw(OpCode.sasl, Buffer.from([0, 0, 1]));
  expect(other.takeOne().error).toBe(ErrorCode.authFailed);
  expect(other.state).toBe('ended');
});

it('keeps what one connection has begun apart from every other', () => {
  const ensemble = ensembleWith();
  const [first, second] = [ensemble.connect(), ensemble.connect()];
  say(first, '');
  expect(say(second, 'bob')).toEqual([0, 'challenge']);
  expect(say(first, 'ann')).toEqual([0, 'proof']);
  expect(whoIs(second)).toEqual(['ip 127.0.0.1']);
});

it('ends a client that stops in the middle of its login with its session, and not later', () => {
  const ensemble = ensembleWith({ admission: new Set(['sasl']) });
  const client = ensemble.connect();
  expect(say(client, '')).toEqual([0, 'challenge']);
  ensemble.touch();
  // The timeout of its session, and what the leader waits for longer.
  ensemble.tickIn(client.timeoutMs + 499);
  expect(client.state).toBe('open');
  ensemble.tickIn(101);
  expect(client.state).toBe('ended');
  expect(ensemble.leader.state.sessions.count).toBe(0);
});

it('ends a client that only pings in the middle of its login where a login is asked', () => {
  const ensemble = ensembleWith({ admission: new Set(['sasl']) });
  const client = ensemble.connect();
  say(client, '');
  client.sendRaw(OpCode.ping, new Uint8Array(), -2);
  expect(client.takeOne().error).toBe(ErrorCode.sessionClosedRequireSaslAuth);
  expect(client.state).toBe('ended');
});

it('knows a client with a certificate from its first request on', () => {
  const ensemble = ensembleWith();
  const client = ensemble.connect(1, '127.0.0.1', X509);
  expect(whoIs(client)).toEqual([`x509 ${SUBJECT}`, 'ip 127.0.0.1']);
  expect(createOwn(ensemble, client)).toBe(0);
  client.getData('/own');
  expect(client.takeOne().error).toBe(0);
  const other = ensemble.connect(1, '127.0.0.1', [{ scheme: 'x509', id: `${SUBJECT}X` }]);
  other.getData('/own');
  expect(other.takeOne().error).toBe(ErrorCode.noAuth);
});

it('makes a super user of each identity that the configuration names', () => {
  const superIdentities = new Set([`x509:${SUBJECT}`, 'sasl:root']);
  const ensemble = ensembleWith({ superIdentities });
  const owner = ensemble.connect();
  say(owner, '');
  say(owner, 'bob');
  createOwn(ensemble, owner);
  const byCertificate = ensemble.connect(1, '127.0.0.1', X509);
  byCertificate.getData('/own');
  expect(byCertificate.takeOne().error).toBe(0);
  const byPassword = ensemble.connect();
  say(byPassword, '');
  say(byPassword, 'root');
  byPassword.getData('/own');
  expect(byPassword.takeOne().error).toBe(0);
  const ann = ensemble.connect();
  say(ann, '');
  say(ann, 'ann');
  ann.getData('/own');
  expect(ann.takeOne().error).toBe(ErrorCode.noAuth);
});

it.each([OpCode.ping, OpCode.getData, OpCode.setData, OpCode.closeSession, OpCode.sync, 4711])(
  'answers -124 to opcode %i of who has proved nothing where that is asked, and ends',
  (opcode) => {
    const ensemble = ensembleWith({ admission: new Set(['sasl']) });
    const client = ensemble.connect();
    const xid = client.sendRaw(opcode, encode(PathRequest, { path: '/' }));
    const code = opcode === 4711 ? ErrorCode.unimplemented : -124;
    expect(client.takeOne()).toMatchObject({ xid, error: code });
    expect(client.state).toBe('ended');
  },
);

it('asks for one of the schemes, and for no other', () => {
  const ensemble = ensembleWith({ admission: new Set(['sasl', 'x509'] as const) });
  const bob = ensemble.connect();
  say(bob, '');
  say(bob, 'bob');
  bob.getData('/');
  expect(bob.takeOne().error).toBe(0);
  const certified = ensemble.connect(1, '127.0.0.1', X509);
  certified.getData('/');
  expect(certified.takeOne().error).toBe(0);
  const ann = ensemble.connect();
  const packet = encode(AuthPacket, { type: 0, scheme: 'digest', auth: Buffer.from('ann:x') });
  ann.sendRaw(OpCode.auth, packet, -4);
  expect(ann.takeOne().error).toBe(0);
  ann.getData('/');
  expect(ann.takeOne().error).toBe(-124);
});

it('judges names of many blanks in linear time, and none of megabytes', () => {
  const blanks = ' '.repeat(100_000);
  const began = performance.now();
  expect(isDistinguishedName(`CN=${blanks}"`)).toBe(false);
  expect(isDistinguishedName(`CN=a${blanks}<`)).toBe(false);
  expect(isDistinguishedName(`CN=${blanks},O=a${blanks}`)).toBe(true);
  expect(isDistinguishedName(`CN="${'a'.repeat(16_000_000)}`)).toBe(false);
  // Cubic time would be days.
  expect(performance.now() - began).toBeLessThan(10_000);
});

it('takes for an ACL what Java takes for a name', () => {
  const good = [SUBJECT, 'CN=a+OU=b,C=DE', '1.2.840.113549.1.9.1=#1605', 'cn = "a,b" ; o=c', 'CN='];
  for (const text of good) expect(isDistinguishedName(text), text).toBe(true);
  const bad = ['', 'bob', 'CN=a,', 'CN=a,b', 'NOSUCH=a', 'CN="a', '=a', 'CN=a<b', '1=a'];
  for (const text of bad) expect(isDistinguishedName(text), text).toBe(false);
  for (const text of ['bob', 'bob@REALM', 'zk/host@REALM']) expect(isSaslUser(text)).toBe(true);
  for (const text of ['', 'a@b@c', 'a/b/c@d']) expect(isSaslUser(text), text).toBe(false);
  const ensemble = ensembleWith();
  const client = ensemble.connect();
  expect(createOwn(ensemble, client, 'x509', 'bob')).toBe(ErrorCode.invalidAcl);
  expect(createOwn(ensemble, client, 'sasl', 'a@b@c')).toBe(ErrorCode.invalidAcl);
  expect(createOwn(ensemble, client, 'sasl', 'zk/host@REALM')).toBe(0);
});
