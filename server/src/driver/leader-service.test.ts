/**
 * Goal: what the leader does by itself has headroom of its own, and a bound of its own; it logs
 * what has expired at once, and not more than once a second.
 */
import { CreateSessionRequest, encode, OpCode, SetDataRequest } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { TestLeaderService } from '../simulated/driver/test-leader-service.js';

const OVERLAY_SIZE_MAX = 10;

it('sessions expire though requests have filled all that may be in flight', () => {
  const test = new TestLeaderService(OVERLAY_SIZE_MAX);
  const open = encode(CreateSessionRequest, { timeoutMs: 4000 });
  for (let count = 0; count <= OVERLAY_SIZE_MAX; count++) {
    test.ask(0, OpCode.createSession, open);
    test.apply();
  }
  test.nowMs = 10_000;
  const set = { path: '/zookeeper/quota', data: new Uint8Array(1), version: -1 };
  while (test.service.hasRoom) test.ask(test.session, OpCode.setData, encode(SetDataRequest, set));
  expect(test.service.onTick(), 'no more than may be in flight at once').toBe(OVERLAY_SIZE_MAX);
  test.apply();
  expect(test.state.sessions.count).toBe(1);
});

it('logs an expiry in the tick that decides it, and at most one line in a second', () => {
  const test = new TestLeaderService();
  const { service, expiryLines } = test;
  const expireOne = (atMs: number): readonly number[] => {
    test.nowMs = atMs;
    test.ask(0, OpCode.createSession, encode(CreateSessionRequest, { timeoutMs: 4000 }));
    test.apply();
    for (const id of test.state.sessions.sorted().map(([session]) => session)) {
      service.preparer.leases.end(id);
    }
    service.onTick();
    test.apply();
    return expiryLines.splice(0);
  };
  service.onTick();
  expect(expireOne(500), 'though a tick before had nothing to log').toEqual([1]);
  expect(expireOne(1_499)).toEqual([]);
  expect(expireOne(1_500)).toEqual([2]);
  expect(expireOne(1_501)).toEqual([]);
  service.onTermEnd();
  expect(expiryLines.splice(0)).toEqual([1]);
  service.onTermEnd();
  expect(expiryLines).toEqual([]);
});
