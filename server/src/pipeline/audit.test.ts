/**
 * What is audited where a client does not stay for its answer, and of what has several parts.
 */
import {
  AuthPacket,
  ErrorCode,
  MultiRequest,
  OpCode,
  RaiseSequenceRequest,
  SetAclRequest,
} from '@rookery/protocol';
import { expect, it } from 'vitest';
import { TestEnsemble, type TestEnsembleOptions } from '../simulated/pipeline/test-ensemble.js';
import type { AuditRecord } from './audit.js';

function setUp(pipeline: TestEnsembleOptions['pipeline'] = {}) {
  const records: AuditRecord[] = [];
  const audit = {
    figures: { written: 0, dropped: 0, leftOut: 0 },
    record: (record: AuditRecord) => records.push(record),
  };
  const ensemble = new TestEnsemble({ audit, pipeline });
  const client = ensemble.connect();
  records.splice(0);
  return { ensemble, client, records };
}

const ACL = [{ perms: 31, scheme: 'world', id: 'anyone' }];

it('a session begins and ends with a record, and so does a refused write', () => {
  const { ensemble, client, records } = setUp();
  const other = ensemble.connect();
  client.delete('/missing');
  client.sendRaw(OpCode.closeSession, new Uint8Array());
  ensemble.settle();
  const { session } = other;
  expect(records[0]).toMatchObject({ operation: 'createSession', result: 'success', session });
  expect(records[1]).toMatchObject({
    operation: 'delete',
    znode: '/missing',
    result: 'failure',
    error: ErrorCode.noNode,
    session: client.session,
  });
  expect(records[2]).toMatchObject({ operation: 'closeSession', session: client.session });
  expect(records).toHaveLength(3);
});

it('a write whose client has left is audited when it is carried out', () => {
  const { ensemble, client, records } = setUp();
  client.create('/a');
  ensemble.forward();
  ensemble.leader.pipeline.onClosed(client.id);
  expect(records).toEqual([]);
  ensemble.settle();
  expect(records).toMatchObject([{ operation: 'create', znode: '/a', result: 'success' }]);
});

it('a write of which the member does not learn the end was invoked', () => {
  const { ensemble, client, records } = setUp();
  client.create('/a');
  ensemble.forward();
  ensemble.leader.pipeline.stopServing();
  const { session } = client;
  expect(records).toEqual([
    {
      session,
      user: [],
      ip: records[0]?.ip,
      operation: 'create',
      znode: '/a',
      result: 'invoked',
    },
  ]);
});

it('raised numbers have records of their own, and so have those that are refused', () => {
  const { ensemble, client, records } = setUp();
  ensemble.raiseLevel();
  client.create('/a');
  client.send(OpCode.raiseSequence, RaiseSequenceRequest, { path: '/a', atLeast: 5 });
  client.send(OpCode.raiseSequence, RaiseSequenceRequest, { path: '/b', atLeast: 5 });
  ensemble.settle();
  const operation = 'raiseSequence';
  expect(records.slice(-2)).toMatchObject([
    { operation, result: 'success', znode: '/a' },
    { operation, result: 'failure', znode: '/b', error: ErrorCode.noNode },
  ]);
});

it('a multi has a record for each change, or one if it fails', () => {
  const { ensemble, client, records } = setUp();
  const create = { path: '/a', data: Buffer.from('abc'), acl: ACL, flags: 0 };
  const remove = { opcode: OpCode.delete, request: { path: '/a', version: -1 } } as const;
  const ops = [{ opcode: OpCode.create, request: create } as const, remove];
  client.send(OpCode.multi, MultiRequest, { ops });
  client.send(OpCode.multi, MultiRequest, { ops: [...ops, remove] });
  ensemble.settle();
  expect(records).toMatchObject([
    { operation: 'create', znode: '/a', acl: 'world:anyone:rwcda', bytes: 3, version: 0 },
    { operation: 'delete', znode: '/a', zxid: records[0]?.zxid },
    { operation: 'multiOperation', result: 'failure', error: ErrorCode.noNode },
  ]);
});

it('an identity is one that was proved, and a refused one is a record of its own', () => {
  const { ensemble, client, records } = setUp();
  const auth = Buffer.from('ann:secret');
  client.send(OpCode.auth, AuthPacket, { type: 0, scheme: 'digest', auth });
  client.create('/a');
  client.send(OpCode.setAcl, SetAclRequest, { path: '/a', acl: ACL, version: -1 });
  client.send(OpCode.auth, AuthPacket, { type: 0, scheme: 'kerberos', auth });
  ensemble.settle();
  const user = [expect.stringMatching(/^digest:ann:.{4}$/)];
  // Authentication is decided when it comes, before the writes ahead of it are answered.
  expect(records).toMatchObject([
    { operation: 'authenticate', result: 'success', user },
    { operation: 'authenticate', result: 'failure', error: ErrorCode.authFailed, user },
    { operation: 'create', user },
    { operation: 'setAcl', user, version: 1 },
  ]);
  expect(JSON.stringify(records)).not.toContain('secret');
});

it('local sessions are told apart', () => {
  const { ensemble, client, records } = setUp({ localSessions: true });
  const other = ensemble.connect();
  client.create('/a');
  other.create('/b');
  ensemble.settle();
  client.sendRaw(OpCode.closeSession, new Uint8Array());
  ensemble.settle();
  expect(records.map(({ operation, session }) => [operation, session])).toEqual([
    ['createSession', other.session],
    ['create', client.session],
    ['create', other.session],
    ['closeSession', client.session],
  ]);
});
