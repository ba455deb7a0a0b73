/**
 * For how long a member has shown its role, and for how long it has not served: a failed attempt to
 * follow or to lead is a part of the same outage, and nothing counts from before the member.
 */
import { expect, it } from 'vitest';
import { MemoryEnsemble } from './memory-ensemble.js';
import { everyoneServes, failedAttempt, serving } from './scenario.js';

const EARLIER_MS = 30_000;

it('counts from the start of the member, although its process is older', async () => {
  const ensemble = new MemoryEnsemble({ size: 3, seed: 1, settings: { readOnlyMode: true } });
  await ensemble.timers.advance(EARLIER_MS);
  await ensemble.start(1);
  expect(ensemble.member(1).status.health).toMatchObject({ role: 'looking', roleForMs: 0 });
  await ensemble.start(2, 3);
  await everyoneServes(ensemble);
  const summaries = new Map(ensemble.member(1).status.summaries());
  const lifeMs = ensemble.timers.nowMs() - EARLIER_MS;
  expect(ensemble.member(1).status.details.counters.looked).toBe(1);
  expect(summaries.get('election_time')?.max).toBeLessThanOrEqual(lifeMs);
  expect(summaries.get('unavailable_time')?.max).toBeLessThanOrEqual(lifeMs);
});

it('counts an outage as a whole, with an attempt that failed', async () => {
  const ensemble = await serving();
  const [alone = 0, other = 0] = [1, 2, 3].filter((id) => id !== ensemble.leader);
  for (const id of [ensemble.leader, other]) ensemble.kill(id);
  await ensemble.until(() => !ensemble.serves(alone), 'did it lose its leader');
  const sinceMs = ensemble.timers.nowMs();
  await failedAttempt(ensemble, { alone, other });
  const health = () => ensemble.member(alone).status.health;
  expect(health()).toMatchObject({
    role: 'looking',
    roleForMs: ensemble.timers.nowMs() - sinceMs,
  });
  ensemble.heal(alone);
  await ensemble.until(() => ensemble.serves(alone), 'did it serve again');
  const untilMs = ensemble.timers.nowMs() - health().roleForMs;
  expect(health().roleForMs).toBeLessThanOrEqual(1);
  const { outages } = ensemble.member(alone).status.details.counters;
  expect(outages.max).toBeCloseTo(untilMs - sinceMs, 2);
});
