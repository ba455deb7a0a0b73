/**
 * Random pipelined sequences of every operation, against the reference model and three members.
 *
 *   ROOKERY_MODEL_SEQUENCES   how many; default 2,000
 *   ROOKERY_TEST_SEED         repeats a run
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../harness/ensemble.js';
import { Random } from '../harness/random.js';
import { checkPlans, NO_REAPING } from '../model/check.js';
import { ROOKERY } from '../model/dialect.js';
import { MEMBER_SETTINGS } from '../model/operations.js';

const SEQUENCES = Number(process.env['ROOKERY_MODEL_SEQUENCES'] ?? 2_000);
/** A second is plenty for what is measured here; a slow machine must not end connections. */
const SETTINGS = { ...MEMBER_SETTINGS, peerTimeoutMs: 10_000 };

/** Whatever a plan can be refused with must have been met. */
const COMMON_CODES = [0, -2, -5, -8, -101, -102, -103, -110, -111, -114, -121, -125];

it('three members agree with the reference model on random sequences', {
  timeout: 600_000 + SEQUENCES * 100,
}, async () => {
  const { seed } = Random.forTest('model');
  const environment = NO_REAPING;
  const ensemble = await useServingEnsemble({ tickTimeMs: 2_000, settings: SETTINGS, environment });
  const summary = await checkPlans({ ensemble, dialect: ROOKERY, sequences: SEQUENCES, seed });
  console.log('model:', JSON.stringify(summary));
  expect(summary.sequences).toBe(SEQUENCES);
  expect(summary.lengths.longer, 'long sequences').toBeGreaterThan(SEQUENCES / 5);
  const met = Object.keys(summary.codes).map(Number);
  expect(met).toEqual(expect.arrayContaining([...COMMON_CODES, ErrorCode.noChildrenForEphemerals]));
  await ensemble.sameState();
});

it('members with local sessions agree with it, too: their clients own no ephemerals', {
  timeout: 600_000 + SEQUENCES * 10,
}, async () => {
  const { seed } = Random.forTest('model of local sessions');
  const settings = { ...SETTINGS, localSessions: true };
  const ensemble = await useServingEnsemble({
    tickTimeMs: 2_000,
    settings,
    environment: NO_REAPING,
  });
  const sequences = Math.ceil(SEQUENCES / 10);
  const options = { ensemble, dialect: ROOKERY, sequences, seed, localSessions: true };
  const summary = await checkPlans(options);
  console.log('model, local sessions:', JSON.stringify(summary));
  const met = Object.keys(summary.codes).map(Number);
  const codes = [...COMMON_CODES, ErrorCode.ephemeralOnLocalSession];
  expect(met).toEqual(expect.arrayContaining(codes));
  expect(met).not.toContain(ErrorCode.noChildrenForEphemerals);
  await ensemble.sameState();
});
