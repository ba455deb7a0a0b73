/**
 * Members die by SIGKILL under load, one at a time and then all at once; nothing is lost.
 *
 * Each round kills a random member (the leader in at least a third of them), lets the load continue
 * until it has had an answer again, restarts the member and waits until it serves. The ledger of
 * the load is then compared with every member.
 */
import { expect, it } from 'vitest';
import { type Ensemble, useServingEnsemble } from '../../harness/ensemble.js';
import { Random } from '../../harness/random.js';
import { expectNothingLost } from '../../harness/verify.js';
import { WriteLoad } from '../../harness/write-load.js';

const ROUNDS = 20;
const LEADER_ROUNDS = 8;
const RESUME_DEADLINE_MS = 20_000;
/** The number of acknowledged writes between two kills, so that every kill hits a running load. */
const WRITES_BETWEEN_KILLS = 300;

it('loses no acknowledged write when members are killed 20 times and then all at once', async () => {
  const random = Random.forTest('kill9');
  const ensemble = await useServingEnsemble();
  const load = new WriteLoad({ ports: ensemble.ports });
  await load.start();

  const gaps: number[] = [];
  for (const victim of random.shuffle(victims())) {
    gaps.push(await killAndRestart(ensemble, load, victim, random));
  }
  const killedAt = performance.now();
  await Promise.all(ensemble.members.map((member) => member.kill()));
  ensemble.start();
  await ensemble.serving();
  await load.progress(WRITES_BETWEEN_KILLS, RESUME_DEADLINE_MS);
  const coldGap = load.longestGapMs(killedAt);
  await load.stop();

  await expectNothingLost(ensemble, load.ledgers);
  expectTelling(load);
  report(gaps, coldGap, load);
}, 240_000);

function victims(): ('leader' | 'anyone')[] {
  return Array.from({ length: ROUNDS }, (_, i) => (i < LEADER_ROUNDS ? 'leader' : 'anyone'));
}

/**
 * The ledger must contain every kind of outcome, because otherwise nothing could have been found
 * missing.
 */
function expectTelling(load: WriteLoad): void {
  const booked = load.ledgers.reduce((sum, ledger) => sum + ledger.acknowledged.size, 0);
  expect(booked).toBe(load.acknowledged);
  expect(load.refused, 'multis that had to fail').toBeGreaterThan(booked / 20);
  expect(load.unknown, 'writes that a kill interrupted').toBeGreaterThan(ROUNDS);
}

/** Runs one round; returns the longest time without an acknowledged write in it. */
async function killAndRestart(
  ensemble: Ensemble,
  load: WriteLoad,
  victim: 'leader' | 'anyone',
  random: Random,
): Promise<number> {
  const member = victim === 'leader' ? await ensemble.leader() : random.pick(ensemble.members);
  const killedAt = performance.now();
  await member.kill();
  await load.progress(WRITES_BETWEEN_KILLS, RESUME_DEADLINE_MS);
  const gap = load.longestGapMs(killedAt);
  ensemble.start([member.id]);
  await ensemble.serving([member.id]);
  return gap;
}

function report(gaps: readonly number[], coldGap: number, load: WriteLoad): void {
  const sorted = [...gaps].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const worst = sorted.at(-1) ?? 0;
  console.log(
    `kill9: gap of writes over ${gaps.length} kills: median ${median.toFixed(0)} ms, ` +
      `worst ${worst.toFixed(0)} ms; all three at once: ${coldGap.toFixed(0)} ms; ` +
      `${load.acknowledged} writes acknowledged, ${load.unknown} unknown`,
  );
}
