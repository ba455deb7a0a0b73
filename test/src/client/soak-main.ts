/**
 * The soak for an hour, or ROOKERY_SOAK_MS, by hand:
 *
 *   npm run test:soak
 *
 * Prints each fault and what came of it. The process ends by itself, with status 1 if the soaked
 * one held over 5 % more at the end than after five minutes (a twelfth of the time), or anything
 * else was wrong. ROOKERY_SOAK_SNAPSHOTS=<directory> keeps a heap snapshot of both moments, in
 * which a browser's developer tools show what has been added. ROOKERY_SOAK_RECIPES=Mutex,Queue
 * soaks these recipes alone.
 */
import { Ensemble } from '../harness/ensemble.js';
import { Random } from '../harness/random.js';
import { runSoak, SOAK_SETTINGS } from './soak.js';

const GROWTH_MAX = 0.05;
const SNAPSHOTS = 5;
const END_MS_MAX = 2_000;

const durationMs = Number(process.env['ROOKERY_SOAK_MS'] ?? 3_600_000);
const kept = process.env['ROOKERY_SOAK_SNAPSHOTS'];
const ensemble = await Ensemble.create({ proxied: true, settings: SOAK_SETTINGS });
try {
  ensemble.start();
  await ensemble.serving();
  const random = Random.forSearch('the soak of every recipe');
  const onProgress = (line: string) => console.log(new Date().toISOString(), line);
  const snapshotDirectory = kept ?? ensemble.directory;
  const options = { snapshotDirectory, snapshots: SNAPSHOTS, durationMs, warmMs: durationMs / 12 };
  const { last, ...report } = await runSoak({ ensemble, random, onProgress, ...options });
  console.log(last, report);
  const growth = report.endBytes / report.warmBytes - 1;
  const problems = [
    growth > GROWTH_MAX && `what it holds has grown by ${(growth * 100).toFixed(1)} %`,
    report.endMs > END_MS_MAX && `the process took ${report.endMs} ms to end`,
    report.code !== 0 && `the process ended with ${report.code}`,
    report.errors !== '' && report.errors,
    last.warnings.length > 0 && last.warnings.join('\n'),
  ].filter((problem) => problem !== false);
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) process.exitCode = 1;
} finally {
  await ensemble.close();
}
