// Tests sessions through handshakes, moves, closes and expiry; the leader decides, followers lag.
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { isExpired, resume, TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

describe('a new session', () => {
  for (const [asked, granted] of [
    [1, 4_000],
    [10_000, 10_000],
    [90_000, 40_000],
    [-5, 4_000],
  ] as const) {
    it(`that asks for ${asked} ms gets ${granted} ms`, () => {
      const ensemble = new TestEnsemble();
      const client = ensemble.open();
      client.connect({ timeoutMs: asked });
      ensemble.settle();
      expect(client.takeConnectResponse().timeoutMs).toBe(granted);
      expect(client.timeoutMs).toBe(granted);
    });
  }

  it('has the zxid of its creation as id, the password of the leader, and holds until then', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.open();
    client.connect();
    expect([...client.holds]).toEqual(['handshake']);
    ensemble.forward();
    expect(client.takeFrames()).toEqual([]);
    ensemble.settle();
    const response = client.takeConnectResponse();
    expect(response.sessionId).toBe(ensemble.leader.state.lastZxid);
    expect(response.password).toEqual(Buffer.alloc(16, 1));
    expect(client.holds.size).toBe(0);
  });

  it('is answered with a readOnly byte iff the request had one', () => {
    const ensemble = new TestEnsemble();
    for (const readOnly of [null, false, true]) {
      const client = ensemble.open();
      client.connect({ readOnly });
      ensemble.settle();
      expect(client.takeConnectResponse().readOnly).toBe(readOnly === null ? null : false);
    }
  });

  it('of a client that has seen a later zxid is closed without an answer', () => {
    const ensemble = new TestEnsemble();
    for (const lastZxidSeen of [0x2_0000_0010, 2n ** 62n]) {
      const client = ensemble.open();
      client.connect({ lastZxidSeen });
      expect([client.state, client.takeFrames().length]).toEqual(['closed', 0]);
      const zxid = `0x${lastZxidSeen.toString(16)}`;
      expect(client.closedBecause).toBe(`client has seen zxid ${zxid}`);
    }
  });

  it('is not given out by a member that does not serve', () => {
    const ensemble = new TestEnsemble();
    ensemble.leader.pipeline.stopServing();
    const client = ensemble.open();
    client.connect();
    expect(client.state).toBe('closed');
  });

  it('with a malformed ConnectRequest is closed', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.open();
    client.sendFrame(Buffer.alloc(10));
    expect(client.state).toBe('closed');
  });

  it('runs what was sent before its answer, behind the answer', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.open();
    client.connect();
    client.create('/a');
    client.exists('/a');
    ensemble.settle();
    expect(client.takeFrames().length).toBe(3);
    expect(ensemble.leader.state.tree.find('/a')).not.toBe(-1);
  });

  it('whose client left before the answer is created, and no connection has it', () => {
    const ensemble = new TestEnsemble();
    const client = ensemble.open();
    client.connect();
    ensemble.forward();
    ensemble.leader.pipeline.onClosed(client.id);
    ensemble.settle();
    expect(client.takeFrames()).toEqual([]);
    expect(ensemble.leader.state.sessions.count).toBe(1);
  });
});

describe('resuming a session', () => {
  it('at another member moves it there and ends the older connection', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const first = ensemble.connect(1);
    const second = resume(ensemble, 2, first);
    ensemble.settle();
    const response = second.takeConnectResponse();
    expect([response.sessionId, response.password]).toEqual([first.session, first.password]);
    expect(first.state).toBe('ended');
    second.create('/a', { flags: 1 });
    ensemble.settle();
    expect(second.takeSummary()).toEqual(['reply 1 0']);
  });

  it('at the same member ends the older connection, once', () => {
    const ensemble = new TestEnsemble();
    const first = ensemble.connect();
    const second = resume(ensemble, 1, first);
    ensemble.settle();
    expect(isExpired(second.takeConnectResponse())).toBe(false);
    expect([first.state, second.state]).toEqual(['ended', 'open']);
  });

  it('a request that is under way when its session moves is dropped and its connection ended', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const first = ensemble.connect(1);
    // Member 2's attach reaches the leader before member 1's write does.
    const second = resume(ensemble, 2, first);
    const [attach] = taken(ensemble.member(2).pipeline).attaches;
    if (attach === undefined) throw new Error('an attach was asked for');
    const attached = ensemble.preparer.onAttach(2, attach, ensemble.time);
    if (attached === null) throw new Error('it is not closing');
    first.create('/late');
    ensemble.settle();
    expect(first.state).toBe('ended');
    ensemble.member(2).pipeline.onAttached(attached, ensemble.nowMs);
    expect(isExpired(second.takeConnectResponse())).toBe(false);
    expect(ensemble.leader.state.tree.find('/late')).toBe(-1);
  });

  it('right after its creation, still in flight, is never called expired', () => {
    const ensemble = new TestEnsemble({ size: 3 });
    const first = ensemble.open(2);
    first.connect();
    ensemble.forward();
    // Member 2 has applied the creation and answered; the leader and member 3 have not.
    ensemble.apply(2);
    first.takeConnectResponse();
    const second = resume(ensemble, 3, first);
    ensemble.forward();
    expect(second.takeFrames()).toEqual([]);
    ensemble.apply(3);
    expect(second.takeConnectResponse().sessionId).toBe(first.session);
    expect(first.state).toBe('ended');
  });

  it('while in flight asks for the password as well', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const first = ensemble.open(1);
    first.connect();
    ensemble.forward();
    const second = ensemble.open(2);
    second.connect({ sessionId: 0x1_0000_0001, password: new Uint8Array(16) });
    ensemble.forward();
    expect(isExpired(second.takeConnectResponse())).toBe(true);
  });

  it('at another member and back: the detach of the first move does not end the second', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const [one, two] = [ensemble.member(1).pipeline, ensemble.member(2).pipeline];
    const first = ensemble.connect(1);
    const away = resume(ensemble, 2, first);
    const [there] = taken(two).attaches;
    const back = resume(ensemble, 1, first);
    const [again] = taken(one).attaches;
    if (there === undefined || again === undefined) throw new Error('both ask the leader');
    const { preparer, time } = ensemble;
    const answers = [preparer.onAttach(2, there, time), preparer.onAttach(1, again, time)];
    ensemble.sendDetaches();
    expect([first.state, back.state]).toEqual(['ended', 'open']);
    const answerOf = (index: number) => ({
      request: [there, again][index]?.request ?? 0,
      valid: answers[index]?.valid === true,
      timeoutMs: 10_000,
    });
    two.onAttached(answerOf(0), ensemble.nowMs);
    one.onAttached(answerOf(1), ensemble.nowMs);
    expect(isExpired(back.takeConnectResponse())).toBe(false);
    // Member 2 heard of its loss before it heard of its gain; its first request reveals it.
    expect(isExpired(away.takeConnectResponse())).toBe(false);
    away.create('/away');
    back.create('/back');
    ensemble.settle();
    expect([away.state, back.state]).toEqual(['ended', 'open']);
    const { tree } = ensemble.leader.state;
    expect([tree.find('/away') === -1, tree.find('/back') === -1]).toEqual([true, false]);
  });

  it('is given up when the session moves on before this member has caught up', () => {
    const ensemble = new TestEnsemble({ size: 3 });
    const first = ensemble.open(2);
    first.connect();
    ensemble.forward();
    ensemble.apply(2);
    first.takeConnectResponse();
    const slow = resume(ensemble, 3, first);
    ensemble.forward();
    const back = resume(ensemble, 2, first);
    ensemble.forward();
    expect(isExpired(back.takeConnectResponse())).toBe(false);
    ensemble.apply(3);
    expect([slow.state, slow.takeFrames().length, back.state]).toEqual(['ended', 0, 'open']);
  });

  it('twice at once at one member leaves the later one', () => {
    const ensemble = new TestEnsemble();
    const first = ensemble.connect();
    const [second, third] = [resume(ensemble, 1, first), resume(ensemble, 1, first)];
    ensemble.settle();
    expect([first.state, second.state, third.state]).toEqual(['ended', 'ended', 'open']);
  });

  it('with a wrong password, or a wrong id, is answered with timeout 0 and half-closed', () => {
    const ensemble = new TestEnsemble();
    const first = ensemble.connect();
    const wrong: readonly Partial<Parameters<TestClient['connect']>[0]>[] = [
      { sessionId: first.session, password: new Uint8Array(16) },
      { sessionId: first.session, password: first.password.subarray(0, 15) },
      { sessionId: first.session, password: null },
      { sessionId: 12345, password: first.password },
      { sessionId: 2n ** 62n, password: first.password },
      { sessionId: -3, password: first.password },
    ];
    for (const request of wrong) {
      const client = ensemble.open();
      client.connect(request);
      ensemble.settle();
      expect(isExpired(client.takeConnectResponse())).toBe(true);
      expect(client.state).toBe('ended');
    }
    expect(first.state).toBe('open');
  });

  it('keeps the timeout that the session was created with', () => {
    const ensemble = new TestEnsemble();
    const first = ensemble.connect();
    const second = ensemble.open();
    second.connect({ sessionId: first.session, password: first.password, timeoutMs: 30_000 });
    ensemble.settle();
    expect(second.takeConnectResponse().timeoutMs).toBe(10_000);
  });

  it('that is closed between the leader’s answer and this member’s is expired', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const first = ensemble.connect(1);
    const second = resume(ensemble, 2, first);
    const [attach] = taken(ensemble.member(2).pipeline).attaches;
    ensemble.nowMs += 60_000;
    ensemble.tick();
    ensemble.apply(2);
    const answer = { request: attach?.request ?? 0, valid: true, timeoutMs: 10_000 };
    ensemble.member(2).pipeline.onAttached(answer, ensemble.nowMs);
    expect(isExpired(second.takeConnectResponse())).toBe(true);
  });
});
