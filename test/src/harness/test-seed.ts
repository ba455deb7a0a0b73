/**
 * The one number from which all random choices of a test run are derived.
 *
 * It is fixed, so that what `npm test` does depends on nothing but the commit; ROOKERY_TEST_SEED
 * sets another one, which is how new choices are made (`npm run test:fresh`) and repeated.
 */
const DEFAULT_SEED = 1;

/** A whole number from 0 to 2^32 - 1. Throws for any other value in the environment. */
export function testSeed(given = process.env['ROOKERY_TEST_SEED']): number {
  const seed = given === undefined || given === '' ? DEFAULT_SEED : Number(given);
  if (!Number.isInteger(seed) || seed < 0 || seed >= 2 ** 32) {
    throw new Error(`ROOKERY_TEST_SEED is ${given}: expected a whole number below 2^32`);
  }
  return seed;
}
