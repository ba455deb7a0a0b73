/**
 * Runs before each test file: fast-check draws its cases from the seed of the test run, so that a
 * property is tested with the same cases each time (see test-seed.ts).
 */
import { configureGlobal, readConfigureGlobal } from 'fast-check';
import { testSeed } from './test-seed.js';

configureGlobal({ ...readConfigureGlobal(), seed: testSeed() });
