/**
 * Tests sessions that only one member knows: their ids, their expiry, what they may write, and that
 * nothing of them reaches the replicated state; and the same for the sessions of read-only mode.
 */
import {
  type Codec,
  type ConnectRequest,
  CreateFlag,
  decode,
  Empty,
  ErrorCode,
  MultiRequest,
  MultiResponse,
  OpCode,
  PathRequest,
} from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import { OPEN_ACL, type Reply, type TestClient } from '../simulated/pipeline/test-client.js';
import { isExpired, resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { NO_NODE } from '../state/tree.js';
import { LocalSessions } from './local-sessions.js';

function localEnsemble(size = 1): TestEnsemble {
  return new TestEnsemble({ size, pipeline: { localSessions: true } });
}

/** Sends it, lets everything happen, and takes the answer. */
function call<T>(
  ensemble: TestEnsemble,
  client: TestClient,
  [opcode, codec, body]: readonly [number, Codec<T>, T],
): Reply {
  client.send(opcode, codec, body);
  ensemble.settle();
  return client.takeOne();
}

function created(ensemble: TestEnsemble, client: TestClient, path: string, flags = 0): number {
  client.create(path, { flags });
  ensemble.settle();
  return client.takeOne().error;
}

function connected(ensemble: TestEnsemble, options: Partial<ConnectRequest>): TestClient {
  const client = ensemble.open();
  client.connect(options);
  return client;
}

describe('a local session', () => {
  it('is answered at once, without a transaction, by an id that can be no zxid', () => {
    const ensemble = localEnsemble(2);
    const clients = [ensemble.open(1), ensemble.open(2)];
    for (const client of clients) {
      client.connect();
      expect(client.takeConnectResponse().timeoutMs).toBe(10_000);
      expect(client.session).toBeLessThan(0);
      expect(Number.isSafeInteger(client.session)).toBe(true);
    }
    expect(new Set(clients.map((client) => client.session)).size).toBe(2);
    expect(ensemble.leader.pipeline.takeForLeader()).toEqual([]);
    expect(ensemble.leader.pipeline.localSessions.count).toBe(1);
  });

  it('reads and writes, and its ephemerals are refused with -120, those in a multi too', () => {
    const ensemble = localEnsemble(2);
    const client = ensemble.connect(2);
    expect(created(ensemble, client, '/p')).toBe(0);
    for (const flags of [CreateFlag.ephemeral, CreateFlag.ephemeralSequential]) {
      // As in 3.8.0, this comes before any check but that of the flags.
      for (const path of ['/e', '/no/parent', '/p', 'bad']) {
        const error = created(ensemble, client, path, flags);
        expect(error, path).toBe(ErrorCode.ephemeralOnLocalSession);
      }
    }
    const flags = [CreateFlag.persistent, CreateFlag.ephemeral, CreateFlag.persistent];
    const ops = flags.map((flag, index) => ({
      opcode: OpCode.create,
      request: { path: `/m${index}`, data: null, acl: OPEN_ACL, flags: flag },
    }));
    const multi = call(ensemble, client, [OpCode.multi, MultiRequest, { ops }]);
    const errors = [0, ErrorCode.ephemeralOnLocalSession, ErrorCode.runtimeInconsistency];
    expect(decode(MultiResponse, multi.body).results).toEqual(
      errors.map((error) => ({ opcode: OpCode.error, error })),
    );
    client.exists('/p', true);
    expect(client.takeOne().error).toBe(0);
    expect(ensemble.leader.state.sessions.count).toBe(0);
  });

  it('is resumed at its member alone, by its password alone', () => {
    const ensemble = localEnsemble(2);
    const first = ensemble.connect(1);
    const second = resume(ensemble, 1, first);
    expect(second.takeConnectResponse().sessionId).toBe(first.session);
    expect([first.state, second.state]).toEqual(['ended', 'open']);
    expect(isExpired(resume(ensemble, 2, first).takeConnectResponse())).toBe(true);
    first.password = new Uint8Array(16);
    expect(isExpired(resume(ensemble, 1, first).takeConnectResponse())).toBe(true);
    expect(second.state).toBe('open');
  });

  it('outlives a change of the role with a fresh timeout, and no time passes meanwhile', () => {
    const ensemble = localEnsemble();
    const client = ensemble.connect();
    const { pipeline } = ensemble.leader;
    pass(ensemble, 9_000);
    expect(pipeline.stopServing()).toEqual([client.id]);
    pass(ensemble, 60_000);
    pipeline.startServing();
    pass(ensemble, 9_900);
    expect(resume(ensemble, 1, client).takeConnectResponse().sessionId).toBe(client.session);
  });

  it('expires by its member’s clock when nothing is heard from it, and not while it pings', () => {
    const ensemble = localEnsemble();
    const silent = ensemble.connect();
    const pinging = ensemble.connect();
    const { localSessions } = ensemble.leader.pipeline;
    pass(ensemble, 9_900);
    pinging.send(OpCode.ping, Empty, null);
    expect([silent.state, localSessions.count]).toEqual(['open', 2]);
    pass(ensemble, 500);
    expect([silent.state, pinging.state, localSessions.count]).toEqual(['ended', 'open', 1]);
    expect(isExpired(resume(ensemble, 1, silent).takeConnectResponse())).toBe(true);
  });

  it('is closed behind its own pending writes, without a transaction', () => {
    const ensemble = localEnsemble();
    const client = ensemble.connect();
    const { pipeline, state } = ensemble.leader;
    const create = client.create('/last');
    const close = client.send(OpCode.closeSession, Empty, null);
    expect(client.state).toBe('open');
    ensemble.settle();
    expect(client.takeSummary()).toEqual([`reply ${create} 0`, `reply ${close} 0`]);
    expect([client.state, pipeline.localSessions.count]).toEqual(['ended', 0]);
    expect(state.tree.find('/last')).not.toBe(NO_NODE);
    expect(isExpired(resume(ensemble, 1, client).takeConnectResponse())).toBe(true);
  });

  it('can be resumed after an unknown operation has ended its connection', () => {
    const ensemble = localEnsemble();
    const client = ensemble.connect();
    client.sendRaw(77, new Uint8Array(0));
    expect(client.state).toBe('ended');
    expect(resume(ensemble, 1, client).takeConnectResponse().sessionId).toBe(client.session);
  });

  it('cannot be closed at the leader by a member that forwards what it must not', () => {
    const { preparer, time } = localEnsemble();
    const body = new Uint8Array(0);
    const nobody = { session: 0, attachment: 0, identities: [] };
    const forged = { ...nobody, request: 1, opcode: OpCode.closeSession, body };
    const before = preparer.txns.zxids.last;
    preparer.onRequest(1, forged, time);
    expect(preparer.txns.zxids.last).toBe(before);
  });

  it('never has an id twice, up to the last member and the last number', () => {
    const sessions = new LocalSessions({ id: 255, first: 2 ** 44 - 1, tickMs: 50 });
    const password = new Uint8Array(16);
    const ids = [1, 2, 3].map(() =>
      sessions.open({ timeoutMs: 1_000, password, isReadOnly: false }),
    );
    expect(new Set(ids).size).toBe(3);
    expect(ids.every((id) => Number.isSafeInteger(id) && id < 0)).toBe(true);
  });
});

describe('read-only mode', () => {
  function readOnlyEnsemble(): TestEnsemble {
    const ensemble = new TestEnsemble();
    ensemble.leader.pipeline.stopServing();
    ensemble.leader.pipeline.startServingReadOnly();
    return ensemble;
  }

  it('closes without an answer a client that does not allow it, or that has a session', () => {
    const ensemble = new TestEnsemble();
    const before = ensemble.connect();
    ensemble.leader.pipeline.stopServing();
    ensemble.leader.pipeline.startServingReadOnly();
    // Only the quorum knows whether the session is alive: the client should ask another member.
    const { session: sessionId, password } = before;
    for (const options of [{ readOnly: false }, { readOnly: null }, { sessionId, password }]) {
      const refused = connected(ensemble, { readOnly: true, ...options });
      expect([refused.state, refused.takeFrames()]).toEqual(['closed', []]);
    }
  });

  it('serves reads, refuses with -119 what could change anything, and changes nothing', () => {
    const ensemble = readOnlyEnsemble();
    const { pipeline, state } = ensemble.leader;
    const digest = state.digest();
    const client = connected(ensemble, { readOnly: true });
    expect(client.takeConnectResponse().readOnly).toBe(true);
    expect(client.session).toBeLessThan(0);
    client.read(OpCode.getChildren2, '/', true);
    client.send(OpCode.ping, Empty, null);
    expect(client.take().map((reply) => reply.error)).toEqual([0, 0]);
    client.create('/q');
    client.create('/q', { opcode: OpCode.create2 });
    client.delete('/q');
    client.setData('/', 'x');
    client.send(OpCode.sync, PathRequest, { path: '/' });
    client.send(OpCode.multi, MultiRequest, { ops: [] });
    for (const opcode of [OpCode.setAcl, OpCode.reconfig, OpCode.createContainer]) {
      client.sendRaw(opcode, new Uint8Array(0));
    }
    const errors = new Set(client.take().map((reply) => reply.error));
    expect(errors).toEqual(new Set([ErrorCode.notReadOnly]));
    client.send(OpCode.closeSession, Empty, null);
    expect([client.takeOne().error, client.state]).toEqual([0, 'ended']);
    expect([pipeline.takeForLeader(), pipeline.outstanding]).toEqual([[], 0]);
    expect(state.digest()).toBe(digest);
  });

  it('ends with its connections and sessions when a quorum is back', () => {
    const ensemble = readOnlyEnsemble();
    const { pipeline } = ensemble.leader;
    const client = connected(ensemble, { readOnly: true });
    client.takeConnectResponse();
    expect(pipeline.stopServing()).toEqual([client.id]);
    pipeline.startServing();
    expect(client.state).toBe('ended');
    expect(isExpired(resume(ensemble, 1, client).takeConnectResponse())).toBe(true);
    expect(pipeline.localSessions.count).toBe(0);
  });

  it('ends silent sessions by the clock of the member', () => {
    const ensemble = readOnlyEnsemble();
    const client = connected(ensemble, { readOnly: true });
    pass(ensemble, 10_500);
    expect([client.state, ensemble.leader.pipeline.localSessions.count]).toEqual(['ended', 0]);
  });
});

/** Advances in steps of a tick, as the driver does. */
function pass(ensemble: TestEnsemble, ms: number): void {
  for (let passed = 0; passed < ms; passed += 50) {
    ensemble.nowMs += 50;
    for (const { pipeline } of ensemble.members) pipeline.onTick(ensemble.nowMs);
  }
}
