/**
 * Tests that an address that opens sessions and drops their connections gets no more of them at
 * some point, that others do, and what counts no longer.
 */
import { Empty, OpCode } from '@rookery/protocol';
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../simulated/pipeline/test-client.js';
import { resume, TestEnsemble } from '../simulated/pipeline/test-ensemble.js';
import { LeftSessions } from './left-sessions.js';

const MAX = 300;
const GREEDY = '10.0.0.1';
const OTHER = '10.0.0.2';
const TIMEOUT_MS = 30_000;

function newEnsemble(size = 1): TestEnsemble {
  return new TestEnsemble({ size, pipeline: { leftSessionsMax: MAX } });
}

/** Opens as many sessions as `count` says at member 1 and leaves them. */
function leave(
  ensemble: TestEnsemble,
  count: number,
  how: (ensemble: TestEnsemble, some: readonly TestClient[]) => void = leaveAtOnce,
): readonly TestClient[] {
  const { pipeline } = ensemble.leader;
  const clients: TestClient[] = [];
  while (clients.length < count) {
    const some = Array.from({ length: Math.min(200, count - clients.length) }, () =>
      ensemble.open(1, GREEDY),
    );
    for (const client of some) client.connect({ timeoutMs: TIMEOUT_MS });
    how(ensemble, some);
    for (const { id } of some) pipeline.onClosed(id);
    ensemble.settle();
    clients.push(...some);
  }
  return clients;
}

function leaveAtOnce(): void {}

function leaveWelcomed(ensemble: TestEnsemble, some: readonly TestClient[]): void {
  ensemble.settle();
  for (const client of some) client.takeConnectResponse();
}

function isRefused(ensemble: TestEnsemble, address = GREEDY, memberId = 1): boolean {
  const client = ensemble.open(memberId, address);
  client.connect({ timeoutMs: TIMEOUT_MS });
  ensemble.settle();
  const refused = client.state === 'closed';
  if (refused) expect(client.closedBecause).toMatch(/has left too many sessions/);
  else client.send(OpCode.closeSession, Empty, null);
  ensemble.settle();
  return refused;
}

describe('sessions that were left', () => {
  it.each([
    ['before they were answered', leaveAtOnce],
    ['after it', leaveWelcomed],
  ])('are bounded for each address, and others get theirs: %s', (_, how) => {
    const ensemble = newEnsemble(2);
    leave(ensemble, MAX - 1, how);
    expect(isRefused(ensemble)).toBe(false);
    leave(ensemble, 1, how);
    expect(isRefused(ensemble)).toBe(true);
    expect(isRefused(ensemble, OTHER)).toBe(false);
    expect(isRefused(ensemble, '127.0.0.1')).toBe(false);
    // What is refused leaves nothing behind.
    expect(ensemble.leader.state.sessions.count).toBe(MAX);
    expect(ensemble.leader.pipeline.outstanding).toBe(0);
  });

  it('count no longer once a client has come back, here or elsewhere later', () => {
    const ensemble = newEnsemble(2);
    const [one, two] = leave(ensemble, MAX, leaveWelcomed);
    if (one === undefined || two === undefined) throw new Error('two were left');
    const back = resume(ensemble, 1, one);
    ensemble.settle();
    expect(back.state).toBe('open');
    expect(isRefused(ensemble)).toBe(false);
    leave(ensemble, 1);
    expect(isRefused(ensemble)).toBe(true);
    // It moves while it has a connection here.
    resume(ensemble, 2, back);
    ensemble.settle();
    expect(isRefused(ensemble)).toBe(true);
    ensemble.nowMs += TIMEOUT_MS;
    expect(isRefused(ensemble)).toBe(false);
  });

  it('count no longer once they have ended', () => {
    const ensemble = newEnsemble();
    leave(ensemble, MAX);
    expect(isRefused(ensemble)).toBe(true);
    const [[first] = []] = ensemble.leader.state.sessions.sorted();
    if (first === undefined) throw new Error('sessions were left');
    ensemble.preparer.leases.end(first);
    ensemble.tickIn(50);
    expect(isRefused(ensemble)).toBe(false);
  });

  it('count no longer in the next role', () => {
    const ensemble = newEnsemble();
    leave(ensemble, MAX);
    ensemble.leader.pipeline.stopServing();
    ensemble.leader.pipeline.startServing();
    expect(isRefused(ensemble)).toBe(false);
  });

  it('are forgotten by their ids and by their times, and nothing is kept of their address', () => {
    const left = new LeftSessions(MAX);
    for (let id = 1; id <= MAX; id++) left.add(id, { address: GREEDY, untilMs: 100 + id });
    expect(left.areTooMany(GREEDY, 100)).toBe(true);
    expect(left.areTooMany(GREEDY, 101)).toBe(false);
    left.add(1, { address: GREEDY, untilMs: 200 });
    expect(left.areTooMany(GREEDY, 150)).toBe(false);
    for (let id = 1; id <= MAX; id++) left.delete(id);
    expect(left.count).toBe(0);
  });

  it('are one sum for a network of IPv6, and none for loopback and for this process', () => {
    const left = new LeftSessions(MAX);
    for (let id = 1; id <= MAX; id++) {
      left.add(id, { address: `2001:db8::${id.toString(16)}`, untilMs: 1 });
      for (const [place, address] of ['127.0.0.1', '::ffff:127.0.0.9', '::1', ''].entries()) {
        left.add((place + 1) * MAX + id, { address, untilMs: 1 });
      }
    }
    expect(left.areTooMany('2001:db8::ffff:1', 0)).toBe(true);
    expect(left.count).toBe(MAX);
  });
});
