/**
 * Random pipelined sequences of every operation, against the reference model and three members:
 * with the usual settings, with local sessions, and without a quorum.
 *
 * ROOKERY_MODEL_SEQUENCES is the number of sequences, at least 500, which is the default: each run
 * of CI makes other ones besides (`npm run test:fresh`). ROOKERY_TEST_SEED repeats a run.
 */
import { ErrorCode } from '@rookery/protocol';
import { expect, it } from 'vitest';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { fourLetterWord } from '../../harness/four-letter.js';
import { Random } from '../../harness/random.js';
import { until } from '../../harness/wait.js';
import { checkPlans, checkReads, NO_REAPING } from '../../model/check.js';
import { ROOKERY } from '../../model/dialect.js';
import { MEMBER_SETTINGS } from '../../model/operations.js';

const SEQUENCES = Number(process.env['ROOKERY_MODEL_SEQUENCES'] ?? 500);
/** A second is more than these runs need; a slow machine must not end connections. */
const SETTINGS = { ...MEMBER_SETTINGS, peerTimeoutMs: 10_000 };

/** The number of sequences for a variation; enough to cover rare cases. */
const FEWER_SEQUENCES = Math.max(200, Math.ceil(SEQUENCES / 10));
const READ_ONLY_DEADLINE_MS = 30_000;
/** Every code with which a plan can be refused must have occurred. */
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

it('members with local sessions agree with the model, too: their clients own no ephemerals', {
  timeout: 600_000 + FEWER_SEQUENCES * 100,
}, async () => {
  const { seed } = Random.forTest('model of local sessions');
  const settings = { ...SETTINGS, localSessions: true };
  const ensemble = await useServingEnsemble({
    tickTimeMs: 2_000,
    settings,
    environment: NO_REAPING,
  });
  const sequences = FEWER_SEQUENCES;
  const options = { ensemble, dialect: ROOKERY, sequences, seed, localSessions: true };
  const summary = await checkPlans(options);
  console.log('model, local sessions:', JSON.stringify(summary));
  const met = Object.keys(summary.codes).map(Number);
  const codes = [...COMMON_CODES, ErrorCode.ephemeralOnLocalSession];
  expect(met).toEqual(expect.arrayContaining(codes));
  expect(met).not.toContain(ErrorCode.noChildrenForEphemerals);
  await ensemble.sameState();
});

it('a member that lost its quorum agrees with the model, too: it serves every read and no write', {
  timeout: 600_000 + FEWER_SEQUENCES * 100,
}, async () => {
  const { seed } = Random.forTest('model of reads without a quorum');
  // Reads without a quorum begin after twice this time.
  const settings = { ...MEMBER_SETTINGS, readOnlyMode: true, peerTimeoutMs: 2_000 };
  const ensemble = await useServingEnsemble({
    tickTimeMs: 2_000,
    settings,
    environment: NO_REAPING,
  });
  const alone = async () => {
    await ensemble.sameState();
    const [left, ...others] = await ensemble.followers();
    if (left === undefined) throw new Error('there is no follower');
    for (const member of [...others, await ensemble.leader()]) await member.kill();
    await until('reads are served', READ_ONLY_DEADLINE_MS, async () => {
      return (await fourLetterWord(left.clientPort, 'isro')) === 'ro' ? true : undefined;
    });
    return left;
  };
  const sequences = FEWER_SEQUENCES;
  const summary = await checkReads({ ensemble, dialect: ROOKERY, sequences, seed, alone });
  console.log('model, reads without a quorum:', JSON.stringify(summary));
  const met = Object.keys(summary.codes)
    .map(Number)
    .sort((a, b) => a - b);
  expect(met).toEqual([-121, -119, -102, -101, -8, -5, 0]);
});
