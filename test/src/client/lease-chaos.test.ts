/**
 * Leases under random faults, for a few seconds; for minutes and with worker threads see
 * lease-chaos-main.ts. ROOKERY_CHAOS_MS sets the time, ROOKERY_TEST_SEED repeats the choices.
 *
 * Not against Apache ZooKeeper: its followers answer heartbeats by themselves, without the leader,
 * which may expire a session whose client hears from a member that is cut off.
 */
import { expect, test } from 'vitest';
import { productUnderTest } from '../harness/product.js';
import { Random } from '../harness/random.js';
import { runLeaseChaos } from './lease-chaos.js';
import { CHAOS_TICK_MS } from './lease-chaos-contender.js';
import { sharedEnsemble } from './shared-ensemble.js';

const DURATION_MS = Number(process.env['ROOKERY_CHAOS_MS'] ?? 6_000);

const settings = { maxClientCnxns: 0, peerTimeoutMs: 1_000 };
const ensemble = sharedEnsemble({ tickTimeMs: CHAOS_TICK_MS, settings });

test.skipIf(productUnderTest().name === 'apache')(
  'whatever breaks, no two hold what one may hold, nobody waits in vain, nothing is left',
  async () => {
    const report = await runLeaseChaos({
      ensemble: ensemble(),
      random: Random.forTest('leases under random faults'),
      durationMs: DURATION_MS,
      clientCount: 20,
    });
    expect(report.violations).toEqual([]);
    expect(report.given).toBeGreaterThan(0);
  },
  DURATION_MS + 240_000,
);
