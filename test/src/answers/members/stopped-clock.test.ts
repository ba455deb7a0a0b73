/**
 * Goal: a member whose machine was suspended, and whose monotonic clock stood still meanwhile,
 * answers nobody whose session has ended elsewhere.
 * Method: real processes, whose monotonic clocks a small library holds while they are stopped. It
 * is compiled here, so there must be a C compiler. The scenario `stopped-clock` of the single
 * faults does the same a hundred times.
 */
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { canStopClocks, onStoppableClocks } from '../../harness/stopped-clock.js';
import { SUSPENDABLE, suspendOnce } from '../../single-faults/stopped-clock.js';

const TEST_DEADLINE_MS = 240_000;

it.skipIf(!canStopClocks())(
  'a suspended member whose monotonic clock stood still answers no session that has ended',
  async () => {
    const ensemble = await useServingEnsemble({ ...SUSPENDABLE, product: onStoppableClocks() });
    const noticed: boolean[] = [];
    for (const place of ['the leader', 'a follower'] as const) {
      for (const isCut of [false, true]) {
        const seen = await suspendOnce(ensemble, place, { leastMs: 0, isCut });
        expect(seen.answers, `${place}, ${isCut ? 'cut off' : 'reachable'}`).toEqual([]);
        noticed.push(seen.wasNoticed);
      }
    }
    // A member reports one jump in ten seconds, by its own clock.
    expect(noticed).toContain(true);
    await ensemble.sameState();
  },
  TEST_DEADLINE_MS,
);
