/**
 * CI notices if the simulator no longer detects bugs. The test tries a sample of the mutants that
 * the simulator caught in its first seeds, always the same ones unless ROOKERY_TEST_SEED selects
 * others; `npm run sim:mutants` tries all of them.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { testSeed } from '../harness/test-seed.js';
import { seededMutants } from '../mutants/index.js';
import { quick, readRecorded } from '../mutants/recorded.js';
import { sampled } from '../mutants/selection.js';
import { tryMutant } from '../mutants/trial.js';
import { Workspace } from '../mutants/workspace.js';

const SAMPLE = 4;
/** The number of seeds when the result was recorded; the sources have changed since. */
const SEEDS_RECORDED_MAX = 1;
const SEEDS_MAX = 30;
/**
 * The trial bounds its programs, by more time for more seeds; this is above the sum of its bounds,
 * so that a slow machine fails no mutant that it would catch.
 */
const TRIAL_DEADLINE_MS = 30 * 60_000;

const sample = testSeed();
const mutants = sampled(
  quick(seededMutants, await readRecorded(), SEEDS_RECORDED_MAX),
  SAMPLE,
  sample,
);
const workspaces = { workspace: await Workspace.create(), original: await Workspace.create() };
afterAll(async () => {
  for (const workspace of Object.values(workspaces)) await workspace.remove();
});

describe(`the simulator, of sample ${sample} of the mutants,`, () => {
  it.each(mutants)('catches $name', { timeout: TRIAL_DEADLINE_MS }, async (mutant) => {
    const result = await tryMutant(workspaces, mutant, { firstSeed: 1, seedsMax: SEEDS_MAX });
    expect(result).toMatchObject({ verdict: 'caught' });
  });

  it('has the expected number of mutants', () => {
    expect(mutants).toHaveLength(SAMPLE);
  });
});
