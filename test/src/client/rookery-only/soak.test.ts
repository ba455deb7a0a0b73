/**
 * The soak of every recipe, for some faults; for an hour, with its heap judged, see soak-main.ts.
 * ROOKERY_SOAK_MS sets the time, ROOKERY_TEST_SEED repeats the choices.
 */
import { expect, it } from 'vitest';
import { Random } from '../../harness/random.js';
import { sharedEnsemble } from '../shared-ensemble.js';
import { runSoak, SOAK_SETTINGS } from '../soak.js';

const DURATION_MS = Number(process.env['ROOKERY_SOAK_MS'] ?? 15_000);
const END_MS_MAX = 5_000;

const ensemble = sharedEnsemble({ proxied: true, settings: SOAK_SETTINGS });

it('every recipe goes on behind each fault, no rejection is left, and SIGTERM ends them at once', {
  timeout: DURATION_MS + 400_000,
}, async () => {
  const random = Random.forTest('the soak of every recipe');
  const onProgress = (line: string) => console.log(line);
  const { directory: snapshotDirectory } = ensemble();
  const times = { durationMs: DURATION_MS, warmMs: DURATION_MS / 2 };
  const options = { random, snapshotDirectory, snapshots: 1, onProgress, ...times };
  const report = await runSoak({ ensemble: ensemble(), ...options });
  expect(report).toMatchObject({ code: 0, errors: '' });
  expect(report.last.warnings).toEqual([]);
  expect(report.endMs).toBeLessThan(END_MS_MAX);
});
