/**
 * The log of the leader names a session that has expired, with what an operator needs to find out
 * why.
 */

import { expect, it } from 'vitest';
import { prefixedHex } from '../net/four-letter/format.js';
import type { MemoryEnsemble } from './memory-ensemble.js';
import { connected, follower, serving } from './scenario.js';

function expiriesOf({ lines }: MemoryEnsemble): readonly string[] {
  return lines.filter((line) => line.includes('"msg":"sessions.expired"'));
}

it('names an expired session, how long it was silent, its member and its ephemerals', async () => {
  const ensemble = await serving();
  const at = follower(ensemble);
  const client = await connected(ensemble, at);
  const { sessionId = 0 } = client.connected ?? {};
  const expired = () => expiriesOf(ensemble);
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

it.each([
  ['stops', (ensemble: MemoryEnsemble, leader: number) => ensemble.stop(leader)],
  [
    'loses its followers',
    async (ensemble: MemoryEnsemble, leader: number) => {
      for (const id of [1, 2, 3]) if (id !== leader) ensemble.kill(id);
      await ensemble.until(() => !ensemble.serves(leader), 'did the leader notice');
    },
  ],
] as const)('names what has expired since the last line when the leader %s', async (_, endTerm) => {
  const ensemble = await serving();
  const { leader } = ensemble;
  await connected(ensemble, follower(ensemble));
  await ensemble.timers.advance(300);
  const { connected: last } = await connected(ensemble, follower(ensemble));
  const sessionId = Number(last?.sessionId ?? 0);
  await ensemble.until(() => expiriesOf(ensemble).length === 1, 'has the first session expired');
  const isGone = () => !ensemble.member(leader).knowsSession(sessionId);
  await ensemble.until(isGone, 'has the last session expired');
  expect(expiriesOf(ensemble).length, 'one line a second at most').toBe(1);
  await endTerm(ensemble, leader);
  expect(expiriesOf(ensemble).at(-1)).toContain(prefixedHex(sessionId));
});
