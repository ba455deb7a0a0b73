/** Every way in which members and clients prove themselves comes in a share of the seeds. */
import { expect, it } from 'vitest';
import { Random } from '../simulation/random.js';
import { describeSecurity, planSecurity } from './security.js';

it('every way comes in a share of the runs, and the same one for the same seed', () => {
  const seeds = Array.from({ length: 60 }, (_, seed) => seed);
  const planned = seeds.map((seed) => describeSecurity(planSecurity(new Random(seed))));
  expect(new Set(planned).size).toBe(6);
  expect(planned).toEqual(seeds.map((seed) => describeSecurity(planSecurity(new Random(seed)))));
});
