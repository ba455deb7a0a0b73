/**
 * The log of the leader names a session that has expired, with what an operator needs to find out
 * why.
 */

import { expect, it } from 'vitest';
import { prefixedHex } from '../net/four-letter/format.js';
import { connected, follower, serving } from './scenario.js';

it('names an expired session, how long it was silent, its member and its ephemerals', async () => {
  const ensemble = await serving();
  const at = follower(ensemble);
  const client = await connected(ensemble, at);
  const { sessionId = 0 } = client.connected ?? {};
  const expired = () => ensemble.lines.filter((line) => line.includes('"msg":"sessions.expired"'));
  await ensemble.until(() => expired().length > 0, 'has the silent session expired');
  const facts: unknown = JSON.parse(expired()[0] ?? '');
  expect(facts).toMatchObject({
    count: 1,
    sessions: [
      {
        session: prefixedHex(sessionId),
        timeoutMs: 10_000,
        member: at,
        ephemerals: 0,
        endedByOperator: false,
        silentMs: expect.any(Number),
      },
    ],
  });
  const silentMs = Number(/"silentMs":(\d+)/.exec(expired()[0] ?? '')?.[1]);
  expect(silentMs).toBeGreaterThan(10_000);
});
