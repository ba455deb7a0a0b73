/**
 * The steps in which members die, freeze and come back; for every scenario that needs them.
 *
 * Each leaves the ensemble intact: all members serve when it resolves. A gap is the longest time
 * without an acknowledged write by any of the writers, which are connected to all members and
 * resume their sessions as a client does. It includes the time that the generator itself needs to
 * reconnect.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../run/context.js';
import type { LoadGroup } from '../run/load-group.js';
import { throughputOf } from './load-figures.js';
import type { Series } from './scenario.js';

/** Writes flow for this long before and after the disruption. */
const BEFORE_MS = 1000;
const AFTER_MS = 1000;
const GAP_MAX_MS = 60_000;
const PROGRESS_MS = 20;
const WRITERS = 6;

export interface Gap {
  readonly gapMs: number;
  /** The acknowledged writes, from a second before the disruption to a second after it. */
  readonly writes: Series;
  readonly troubles: readonly string[];
}

/** The leader is killed and the others continue. It comes back afterwards. */
export async function gapOfKilledLeader(context: Context): Promise<Gap> {
  const { ensemble } = context;
  const leader = await ensemble.leader();
  return await gapDuring(context, {
    disrupt: () => void ensemble.kill(leader),
    repair: () => ensemble.startAgain(leader),
    others: others(context, leader),
  });
}

/** The leader hangs while its connections stay open: only its silence reveals it. */
export async function gapOfFrozenLeader(context: Context): Promise<Gap> {
  const { ensemble } = context;
  const leader = await ensemble.leader();
  return await gapDuring(context, {
    disrupt: () => ensemble.freeze(leader),
    repair: () => ensemble.thaw(leader),
    others: others(context, leader),
  });
}

/** A follower is killed, misses `missed`, and is started again. Measures until it serves. */
export async function followerBackMs(
  context: Context,
  options: { readonly isWiped: boolean; readonly missed: () => Promise<void> },
): Promise<number> {
  const { ensemble } = context;
  const leader = await ensemble.leader();
  const [follower] = others(context, leader);
  if (follower === undefined) throw new Error('there is no follower');
  await ensemble.kill(follower);
  await options.missed();
  if (options.isWiped) ensemble.wipe(follower);
  const fromMs = performance.now();
  ensemble.startAgain(follower);
  await ensemble.untilServing([follower]);
  return performance.now() - fromMs;
}

/** All members are ended as an operator would, and started. Measures until all serve. */
export async function restartMs(context: Context): Promise<number> {
  const { ensemble } = context;
  await ensemble.stop();
  const fromMs = performance.now();
  ensemble.startAll();
  await ensemble.untilServing();
  return performance.now() - fromMs;
}

function others({ ensemble }: Context, member: number): readonly number[] {
  return ensemble.hosts.map((_, index) => index).filter((index) => index !== member);
}

interface Disruption {
  readonly disrupt: () => void;
  readonly repair: () => void;
  readonly others: readonly number[];
}

async function gapDuring(context: Context, disruption: Disruption): Promise<Gap> {
  const { ensemble } = context;
  const writers = await startWriters(context);
  await sleep(BEFORE_MS);
  disruption.disrupt();
  const isOver = await writesFlow(context, disruption.others);
  await sleep(AFTER_MS);
  const ending = writers.stop();
  // The connections are cut now, so that requests that hang at a frozen member are answered or
  // lost.
  disruption.repair();
  const result = await ending;
  await ensemble.untilServing();
  const troubles = Object.entries(result.errors).map(([name, count]) => `${count} x ${name}`);
  if (!isOver) troubles.push(`no write for ${GAP_MAX_MS / 1000} s`);
  return { gapMs: result.longestSilenceMs, writes: throughputOf(result), troubles };
}

/** With a window of 1, a request is answered before the next one is sent, as with most clients. */
async function startWriters(context: Context): Promise<LoadGroup> {
  return await context.startLoad({
    workload: { kind: 'mix', readPercent: 0 },
    connections: WRITERS,
    window: 1,
    seconds: null,
    warmupSeconds: 0,
    processes: 1,
  });
}

/** Waits until the remaining members have elected a leader among them and serve. */
async function writesFlow(context: Context, members: readonly number[]): Promise<boolean> {
  const { ensemble } = context;
  const deadlineMs = performance.now() + GAP_MAX_MS;
  while (performance.now() < deadlineMs) {
    const states = await ensemble.statesOf(members);
    const leaders = states.filter((state) => state?.mode === 'leader').length;
    if (leaders === 1 && states.every((state) => state !== null)) return true;
    await sleep(PROGRESS_MS);
  }
  return false;
}
