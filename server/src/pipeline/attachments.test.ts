/**
 * Goal: of what one connection of a session sent, the ensemble executes a prefix and nothing after
 * it. What a session requested by a connection that has ended happens before the next connection is
 * answered, or never. Method: members whose requests reach the leader one by one, in the orders
 * that a network allows.
 */
import { type ForwardedRequest, OpCode, PathRequest } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { isExpired, resume, TestEnsemble, taken } from '../simulated/pipeline/test-ensemble.js';

function has(ensemble: TestEnsemble, path: string): boolean {
  return ensemble.leader.state.tree.find(path) !== -1;
}

/** Delivers to the leader as if over a link; returns how many requests it accepted. */
function deliver(
  ensemble: TestEnsemble,
  from: number,
  requests: readonly ForwardedRequest[],
): number {
  const { preparer, time } = ensemble;
  const before = preparer.txns.zxids.left;
  for (const request of requests) preparer.onRequest(from, request, time);
  ensemble.sendDetaches();
  return before - preparer.txns.zxids.left;
}

/** The leader takes the attach of this client, and its member hears the answer. */
function attach(ensemble: TestEnsemble, memberId: number): void {
  const { pipeline } = ensemble.member(memberId);
  for (const one of taken(pipeline).attaches) {
    const attached = ensemble.preparer.onAttach(memberId, one, ensemble.time);
    ensemble.sendDetaches();
    const refused = { request: 0, valid: false, timeoutMs: 0 };
    pipeline.onAttached(attached ?? refused, ensemble.nowMs);
  }
}

function isWelcome(client: TestClient): boolean {
  return !isExpired(client.takeConnectResponse());
}

describe('a session that goes to another member and comes back', () => {
  for (const home of [1, 2]) {
    const where = home === 1 ? 'the leader' : 'a follower';
    it(`at ${where}: nothing that its first connection still sends is applied`, () => {
      const ensemble = new TestEnsemble({ size: 3 });
      const { pipeline } = ensemble.member(home);
      const first = ensemble.connect(home);
      // The first connection's writes are on their way for long: two of them, one by one.
      first.create('/one');
      const one = taken(pipeline).requests;
      first.create('/two');
      const two = taken(pipeline).requests;
      const away = resume(ensemble, 3, first);
      attach(ensemble, 3);
      expect(isWelcome(away)).toBe(true);
      expect(deliver(ensemble, home, one)).toBe(0);
      const back = resume(ensemble, home, away);
      attach(ensemble, home);
      expect(isWelcome(back)).toBe(true);
      expect(deliver(ensemble, home, two)).toBe(0);
      back.create('/three');
      ensemble.settle();
      expect(['/one', '/two', '/three'].map((path) => has(ensemble, path))).toEqual([
        false,
        false,
        true,
      ]);
      expect(back.state).toBe('open');
    });
  }

  it('what its first connection sent before the move is there, and what came behind it is not', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const { pipeline } = ensemble.member(1);
    const first = ensemble.connect(1);
    first.create('/one');
    ensemble.forward();
    first.create('/two');
    const two = taken(pipeline).requests;
    const away = resume(ensemble, 2, first);
    attach(ensemble, 2);
    const back = resume(ensemble, 1, first);
    attach(ensemble, 1);
    expect(deliver(ensemble, 1, two)).toBe(0);
    ensemble.settle();
    expect([isWelcome(away), isWelcome(back)]).toEqual([true, true]);
    expect([has(ensemble, '/one'), has(ensemble, '/two')]).toEqual([true, false]);
  });
});

describe('a session that comes back to its member by a new connection', () => {
  it('ends the older one before the leader is asked, if the password is right', () => {
    const ensemble = new TestEnsemble();
    const first = ensemble.connect();
    const stranger = ensemble.open();
    stranger.connect({ sessionId: first.session, password: new Uint8Array(16) });
    expect(first.state).toBe('open');
    resume(ensemble, 1, first);
    expect(first.state).toBe('ended');
    expect(taken(ensemble.leader.pipeline).attaches).toHaveLength(2);
  });

  it('finds what the older one had sent on, and nothing that it had not', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const { pipeline } = ensemble.member(2);
    const first = ensemble.connect(2);
    first.create('/sent');
    first.send(OpCode.sync, PathRequest, { path: '/' });
    first.create('/waits');
    const second = resume(ensemble, 2, first);
    ensemble.settle();
    expect(isWelcome(second)).toBe(true);
    second.create('/new');
    ensemble.settle();
    expect(['/sent', '/waits', '/new'].map((path) => has(ensemble, path))).toEqual([
      true,
      false,
      true,
    ]);
    expect(pipeline.outstanding).toBe(0);
  });

  it('is not ended by a refusal of what the older one sent', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const { pipeline } = ensemble.member(2);
    const first = ensemble.connect(2);
    first.create('/late');
    const late = taken(pipeline).requests;
    const second = resume(ensemble, 2, first);
    attach(ensemble, 2);
    // A network does not do this between two members, but the rule does not depend on that.
    expect(deliver(ensemble, 2, late)).toBe(0);
    expect([isWelcome(second), second.state]).toEqual([true, 'open']);
    expect(pipeline.outstanding).toBe(0);
  });
});

describe('what a turn brought for the leader', () => {
  it('leaves as writes, then syncs, then attaches', () => {
    const ensemble = new TestEnsemble({ size: 2 });
    const { pipeline } = ensemble.member(2);
    const [mover, asker, writer] = [1, 2, 3].map(() => ensemble.connect(2));
    if (mover === undefined) throw new Error('three clients connected');
    resume(ensemble, 2, mover);
    asker?.send(OpCode.sync, PathRequest, { path: '/' });
    writer?.create('/a');
    const kinds = pipeline.takeForLeader().map(({ kind }) => kind);
    expect(kinds).toEqual(['requests', 'sync', 'attach']);
  });
});
