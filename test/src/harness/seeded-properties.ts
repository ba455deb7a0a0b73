/**
 * Runs before each test file: fast-check draws its cases from the seed of the test run, so that a
 * property is tested with the same cases each time (see test-seed.ts).
 *
 * With ROOKERY_FRESH_SEED this is the seed, but for the files that keep the fixed one
 * (scripts/fresh-choices.mjs). Files share processes, so each file sets it.
 */
import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { expect } from 'vitest';
import { testSeed } from './test-seed.js';

const { ROOKERY_FRESH_SEED: fresh, ROOKERY_KEEPS_SEED: keeps = '' } = process.env;
if (fresh !== undefined) {
  const isKept = new RegExp(keeps).test(expect.getState().testPath ?? '');
  process.env['ROOKERY_TEST_SEED'] = isKept ? '' : fresh;
}
configureGlobal({ ...readConfigureGlobal(), seed: testSeed() });
