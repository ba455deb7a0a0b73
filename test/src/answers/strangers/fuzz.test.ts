/**
 * A short fuzzing run: mutated frames over many connections; the long run is `npm run test:fuzz`.
 *
 * ROOKERY_FUZZ_FRAMES is the number of frames, 25,000 by default; ROOKERY_TEST_SEED repeats a run.
 */
import { expect, it } from 'vitest';
import { FUZZ_SETTINGS, fuzz } from '../../fuzz/fuzz.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { Random } from '../../harness/random.js';

const FRAMES = Number(process.env['ROOKERY_FUZZ_FRAMES'] ?? 25_000);

it('garbage from many connections ends no member, harms no other client and leaves nothing behind', {
  timeout: 300_000 + FRAMES,
}, async () => {
  const { seed } = Random.forTest('fuzz');
  const ensemble = await useServingEnsemble({ tickTimeMs: 2_000, settings: FUZZ_SETTINGS });
  const report = await fuzz({ ensemble, frames: FRAMES, seed });
  console.log('fuzz:', JSON.stringify(report));
  expect(report.frames).toBeGreaterThanOrEqual(FRAMES);
  expect(report.outcomes.answered, 'connections answered to the end').toBeGreaterThan(0);
  expect(report.outcomes.closed, 'connections closed by the member').toBeGreaterThan(0);
  await ensemble.sameState();
});
