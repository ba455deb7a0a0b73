/**
 * The long fuzzing run: `npm run test:fuzz`, after a build.
 *
 *   ROOKERY_FUZZ_FRAMES   how many; default 1,000,000
 *   ROOKERY_TEST_SEED     repeats a run
 *
 * Ends with 1 when memory has grown by more than a tenth since the first 100,000 frames.
 */
import { Ensemble } from '../harness/ensemble.js';
import { Random } from '../harness/random.js';
import { FUZZ_SETTINGS, fuzz } from './fuzz.js';

const FRAMES = Number(process.env['ROOKERY_FUZZ_FRAMES'] ?? 1_000_000);
const WARM_UP_FRAMES = Math.min(100_000, FRAMES / 2);
const GROWTH_MAX = 1.1;

const { seed } = Random.forTest('fuzz');
const ensemble = await Ensemble.create({ tickTimeMs: 2_000, settings: FUZZ_SETTINGS });
try {
  ensemble.start();
  await ensemble.serving();
  const began = performance.now();
  const report = await fuzz({
    ...{ ensemble, frames: FRAMES, seed, warmUpFrames: WARM_UP_FRAMES },
    report: (line) => console.log(`${Math.round((performance.now() - began) / 1_000)} s: ${line}`),
  });
  await ensemble.sameState();
  console.log(JSON.stringify(report));
  for (const { member, warmMb, endMb } of report.memory) {
    const growth = `${warmMb} MB after ${WARM_UP_FRAMES} frames, ${endMb} MB at the end`;
    console.log(`member ${member}: ${growth}`);
    if (endMb > warmMb * GROWTH_MAX) process.exitCode = 1;
  }
} catch (error) {
  console.log(ensemble.logTails());
  throw error;
} finally {
  await ensemble.close();
}
