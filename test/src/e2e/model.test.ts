/**
 * Random pipelined sequences of every operation, against the reference model and three members.
 *
 *   ROOKERY_MODEL_SEQUENCES   how many; default 2,000
 *   ROOKERY_TEST_SEED         repeats a run
 */
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { Random } from '../harness/random.js';
import { checkPlans } from '../model/check.js';
import { ROOKERY } from '../model/dialect.js';

const SEQUENCES = Number(process.env['ROOKERY_MODEL_SEQUENCES'] ?? 2_000);
/** A second is plenty for what is measured here; a slow machine must not end connections. */
const SETTINGS = { peerTimeoutMs: 10_000 };

it('three members agree with the reference model on random sequences', {
  timeout: 600_000 + SEQUENCES * 100,
}, async () => {
  const { seed } = Random.forTest('model');
  const ensemble = await useServingEnsemble({ tickTimeMs: 2_000, settings: SETTINGS });
  const { members } = ensemble;
  const summary = await checkPlans({ members, dialect: ROOKERY, sequences: SEQUENCES, seed });
  console.log('model:', JSON.stringify(summary));
  expect(summary.sequences).toBe(SEQUENCES);
  expect(summary.lengths.longer, 'long sequences').toBeGreaterThan(SEQUENCES / 5);
  await ensemble.sameState();
});
