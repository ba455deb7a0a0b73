/** Goal: what the leader does by itself has headroom of its own, and a bound of its own. */
import { CreateSessionRequest, encode, OpCode, SetDataRequest } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { TestLeaderService } from '../simulated/driver/test-leader-service.js';

const RECORDS_IN_FLIGHT_MAX = 10;

it('sessions expire though requests have filled all that may be in flight', () => {
  const test = new TestLeaderService(RECORDS_IN_FLIGHT_MAX);
  const open = encode(CreateSessionRequest, { timeoutMs: 4000 });
  for (let count = 0; count <= RECORDS_IN_FLIGHT_MAX; count++) {
    test.ask(0, OpCode.createSession, open);
    test.apply();
  }
  test.nowMs = 10_000;
  const set = { path: '/zookeeper/quota', data: new Uint8Array(1), version: -1 };
  while (test.service.hasRoom) test.ask(test.session, OpCode.setData, encode(SetDataRequest, set));
  expect(test.service.onTick(), 'no more than may be in flight at once').toBe(
    RECORDS_IN_FLIGHT_MAX,
  );
  test.apply();
  expect(test.state.sessions.count).toBe(1);
});
