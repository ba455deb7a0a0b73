/**
 * When the counter of a zxid approaches 2^32, a new epoch begins, under load and without loss.
 *
 * A test-only setting makes every epoch start at 0xfffffff0, so that each has space for only 15
 * transactions: a few hundred writes, and restarts, go through many rollovers.
 */
import { counterOf, epochOf } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { productUnderTest } from '../../harness/product.js';
import { expectNothingLost } from '../../harness/verify.js';
import { WriteLoad } from '../../harness/write-load.js';

const FIRST_COUNTER = 0xfffffff0;
const WRITES = 1_500;
const PROGRESS_DEADLINE_MS = 90_000;
const TEST_DEADLINE_MS = 170_000;

it.skipIf(productUnderTest().name === 'apache')(
  'a counter started at 0xfffffff0 rolls over under load with nothing lost',
  async () => {
    const environment = { ROOKERY_FIRST_COUNTER: `0x${FIRST_COUNTER.toString(16)}` };
    const ensemble = await useServingEnsemble({ environment });
    const load = new WriteLoad({ ports: ensemble.ports, clients: 3, window: 2 });
    await load.start();
    const leader = await ensemble.leader();
    const before = Number((await leader.status())?.zxid ?? 0);
    await load.progress(WRITES, PROGRESS_DEADLINE_MS);
    await load.stop();
    await ensemble.serving();
    await expectNothingLost(ensemble, load.ledgers);

    const zxids = load.ledgers.flatMap((ledger) => [...ledger.acknowledged.values()]).map(Number);
    const epochs = new Set(zxids.map(epochOf));
    expect(epochs.size, 'the load uses several epochs').toBeGreaterThan(2);
    expect(Math.min(...zxids.map(counterOf))).toBeGreaterThanOrEqual(FIRST_COUNTER);
    expect(Math.max(...zxids)).toBeGreaterThan(before);
    expect(ensemble.running.length, 'no member has died').toBe(3);
  },
  TEST_DEADLINE_MS,
);
