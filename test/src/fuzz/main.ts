/**
 * The long fuzzing run: `npm run test:fuzz`, after a build.
 *
 * ROOKERY_FUZZ_FRAMES is the number of frames, 1,000,000 by default; ROOKERY_TEST_SEED repeats a
 * run.
 *
 * It prints each member's memory and exits with 1 if that has grown by more than a tenth since the
 * first 100,000 frames, both times after garbage was collected: how long the runtime leaves garbage
 * uncollected says nothing about leaks, so the members run with eager collection (collector.ts).
 * What a member's log keeps in memory grows up to one segment, 16 MB, and then begins again; the
 * segments are small here, so that this, and whatever a segment might leave behind, happens a
 * hundred times.
 */
import { Ensemble } from '../harness/ensemble.js';
import { Random } from '../harness/random.js';
import { COLLECTING, FUZZ_SETTINGS, fuzz } from './fuzz.js';

const FRAMES = Number(process.env['ROOKERY_FUZZ_FRAMES'] ?? 1_000_000);
const WARM_UP_FRAMES = Math.min(100_000, FRAMES / 2);
const GROWTH_MAX = 1.1;
const SMALL_LOG = {
  ROOKERY_LOG_SEGMENT_BYTES: `${256 * 1024}`,
  ROOKERY_LOG_KEEP_BYTES: `${1024 * 1024}`,
};

const { seed } = Random.forSearch('fuzz');
const ensemble = await Ensemble.create({
  tickTimeMs: 2_000,
  settings: FUZZ_SETTINGS,
  environment: { ...SMALL_LOG, ...COLLECTING },
});
try {
  ensemble.start();
  await ensemble.serving();
  const began = performance.now();
  const report = await fuzz({
    ensemble,
    frames: FRAMES,
    seed,
    warmUpFrames: WARM_UP_FRAMES,
    report: (line) => console.log(`${Math.round((performance.now() - began) / 1_000)} s: ${line}`),
  });
  await ensemble.sameState();
  console.log(JSON.stringify(report));
  for (const { member, warm, end } of report.memory) {
    const growth = end.collectedMb / warm.collectedMb;
    const isTooMuch = !(growth <= GROWTH_MAX);
    const verdict = `${((growth - 1) * 100).toFixed(1)} %${isTooMuch ? ', TOO MUCH' : ''}`;
    console.log(
      `member ${member}: ${warm.collectedMb} MB resident after ${WARM_UP_FRAMES} frames,` +
        ` ${end.collectedMb} MB at the end: ${verdict}` +
        ` (before garbage was collected: ${warm.asIsMb} and ${end.asIsMb} MB)`,
    );
    if (isTooMuch) process.exitCode = 1;
  }
} catch (error) {
  console.log(ensemble.logTails());
  throw error;
} finally {
  await ensemble.close();
}
