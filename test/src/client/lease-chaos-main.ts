/**
 * lease-chaos.ts for minutes, by hand, with worker threads among the clients:
 *
 *   npx tsc -b && ROOKERY_CHAOS_MS=300000 node test/dist/client/lease-chaos-main.js
 *
 * Prints what happened; the process ends by itself, with status 1 if anything was wrong.
 */
import { Ensemble } from '../harness/ensemble.js';
import { Random } from '../harness/random.js';
import { runLeaseChaos } from './lease-chaos.js';
import { CHAOS_TICK_MS } from './lease-chaos-contender.js';

const ensemble = await Ensemble.create({
  tickTimeMs: CHAOS_TICK_MS,
  settings: { maxClientCnxns: 0, peerTimeoutMs: 1_000 },
});
process.on('warning', ({ name, stack }) => {
  if (name !== 'RookeryWarning') console.log(`a warning: ${stack}`);
});
try {
  ensemble.start();
  await ensemble.serving();
  const durationMs = Number(process.env['ROOKERY_CHAOS_MS'] ?? 120_000);
  const random = Random.forSearch('leases under faults');
  const options = { ensemble, random, durationMs, clientCount: 20, workerCount: 4 };
  const report = await runLeaseChaos(options);
  console.log(report);
  if (report.violations.length > 0) process.exitCode = 1;
} finally {
  await ensemble.close();
}
