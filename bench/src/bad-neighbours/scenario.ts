/**
 * Runs a bad neighbour beside a good client and measures the effect on the good client and the
 * members.
 *
 * The good client sends requests at a steady pace, through connections to all members, from a
 * process of its own. The time of each answer runs from when its request was due, so a stall shows
 * in every request that was due in it. The client runs first alone, to know what the machine can
 * do, then beside the attack and until every member gives out sessions again. The ensemble is
 * fresh, so a member's peak is of this run. An ordinary load comes before everything else: without
 * it the slowest answer would be one of the first after the start, when no code of a member (of
 * either product) is compiled yet, and would say nothing about the attack.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeySpace } from '../load/key-space.js';
import type { LoadResult } from '../load/load.js';
import { MEGABYTE } from '../report/units.js';
import type { Context } from '../run/context.js';
import type { LoadGroup } from '../run/load-group.js';
import type { Settings } from '../run/settings.js';
import { partsOf, troublesOf, valuesOf } from '../scenarios/load-figures.js';
import {
  type Figure,
  type Measurement,
  measurement,
  type Scenario,
  scenario,
} from '../scenarios/scenario.js';
import { untilServing } from '../systems/serving.js';
import type { BadNeighbour } from './bad-neighbour.js';
import { MemberWatch } from './member-watch.js';

const CONNECTIONS = 6;
const PER_SECOND = 300;
/** A request that is due is sent at once, even while earlier answers are late. */
const WINDOW = 64;
const READ_PERCENT = 50;
const GOOD_CLIENT_SECONDS_MAX = 3600;
/** Small transactions pass through everything that an attack's writes pass through. */
const WARM_UP = { kind: 'multi', operations: 10 } as const;
const WARM_UP_WINDOW = 8;
const WARM_UP_SECONDS = 3;
const ALONE_SECONDS = 3;
const ATTACK_SECONDS = 10;
const QUICK_SECONDS = 2;
/** An attack that does not stop when its time is over is abandoned after this time. */
const ATTACK_END_MS = 60_000;
const RECOVERY_MS = 60_000;
/** Requests that were under way when all members served again are answered within this time. */
const SETTLE_MS = 500;

const FIGURES: readonly Figure[] = [
  { key: 'p50Ms', title: "good client's p50", unit: 'ms', better: 'lower' },
  { key: 'p99Ms', title: "good client's p99", unit: 'ms', better: 'lower' },
  { key: 'p999Ms', title: "good client's p99.9", unit: 'ms', better: 'lower' },
  { key: 'maxMs', title: "good client's slowest answer", unit: 'ms', better: 'lower' },
  { key: 'aloneMaxMs', title: 'slowest without the attack', unit: 'ms', better: 'lower' },
  { key: 'elections', title: 'elections', unit: '', better: 'lower' },
  { key: 'membersEnded', title: 'members ended', unit: '', better: 'lower' },
  { key: 'peakMb', title: 'peak memory of the largest member', unit: 'MB', better: 'lower' },
];

export function badNeighbourScenario(neighbour: BadNeighbour): Scenario {
  return scenario({
    name: neighbour.name,
    title: `a good client beside: ${neighbour.what}`,
    group: 'bad-neighbour',
    figures: FIGURES,
    isFresh: true,
    needsProcesses: true,
    // Elections are one of the figures here, not a trouble.
    isDisruptive: true,
    isRookeryOnly: !neighbour.onZooKeeper,
    memberSettings: neighbour.memberSettings ?? {},
    secondsAbout: (settings) =>
      warmUpSeconds(settings) + aloneSeconds(settings) + attackSeconds(neighbour, settings) + 15,
    run: (context) => besideGoodClient(context, neighbour),
  });
}

function warmUpSeconds({ isQuick, seconds }: Settings): number {
  return isQuick ? seconds : WARM_UP_SECONDS;
}

function aloneSeconds({ isQuick, seconds }: Settings): number {
  return isQuick ? seconds : ALONE_SECONDS;
}

function attackSeconds({ secondsMin }: BadNeighbour, { isQuick, seconds }: Settings): number {
  return isQuick ? QUICK_SECONDS : Math.max(seconds, secondsMin ?? ATTACK_SECONDS);
}

async function besideGoodClient(context: Context, neighbour: BadNeighbour): Promise<Measurement> {
  const { settings } = context;
  const space: KeySpace = { root: context.newRoot(), keys: settings.sizes.keys, valueBytes: 100 };
  context.step('warming up');
  await warmUp(context, space);
  context.step('the good client alone');
  const first = await startGoodClient(context, space);
  await sleep(aloneSeconds(settings) * 1000);
  const alone = await first.stop();
  const watch = await MemberWatch.start(context.ensemble);
  context.step('preparing the attack');
  await neighbour.prepare?.(context);
  const goodClient = await startGoodClient(context, space);
  context.step('the attack');
  const troubles: string[] = [];
  await attack(context, neighbour, troubles);
  context.step('recovery');
  await recovery(context, troubles);
  const beside = await goodClient.stop();
  const { elections, membersEnded, peakBytes } = await watch.stop();
  const answers = valuesOf(beside);
  return measurement(
    {
      ...answers,
      maxMs: slowestMs(beside),
      aloneMaxMs: slowestMs(alone),
      elections,
      membersEnded,
      peakMb: peakBytes / MEGABYTE,
    },
    { ...partsOf(beside), troubles: [...troubles, ...troublesOf(beside)] },
  );
}

/** If nothing was answered at all, the silence is the result. */
function slowestMs(result: LoadResult): number {
  return Math.max(valuesOf(result)['maxMs'] ?? 0, result.longestSilenceMs);
}

/** The setup creates the good client's znodes, too. */
async function warmUp(context: Context, space: KeySpace): Promise<void> {
  const load = await context.startLoad({
    workload: WARM_UP,
    space,
    isSetUp: true,
    connections: CONNECTIONS,
    window: WARM_UP_WINDOW,
    seconds: warmUpSeconds(context.settings),
    warmupSeconds: 0,
    processes: 1,
  });
  await load.result;
}

async function startGoodClient(context: Context, space: KeySpace): Promise<LoadGroup> {
  return await context.startLoad({
    workload: { kind: 'mix', readPercent: READ_PERCENT },
    space,
    isSetUp: false,
    connections: CONNECTIONS,
    window: WINDOW,
    // The load is stopped before this time; a paced load needs an end.
    seconds: GOOD_CLIENT_SECONDS_MAX,
    warmupSeconds: 0,
    perSecond: PER_SECOND,
    processes: 1,
  });
}

async function attack(
  context: Context,
  neighbour: BadNeighbour,
  troubles: string[],
): Promise<void> {
  const timeMs = attackSeconds(neighbour, context.settings) * 1000;
  const over = new AbortController();
  // Each of many connections listens for the end.
  setMaxListeners(0, over.signal);
  const timer = setTimeout(() => over.abort(), timeMs);
  const late = new AbortController();
  const isLate = sleep(timeMs + ATTACK_END_MS, 'late', { signal: late.signal, ref: false }).catch(
    () => 'late',
  );
  try {
    const ending = await Promise.race([neighbour.attack(context, over.signal), isLate]);
    if (ending === 'late') troubles.push('the attack did not end');
  } catch (error) {
    troubles.push(`the attack failed: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(timer);
    over.abort();
    late.abort();
  }
}

/** Requests that wait at a stalled member are answered once it no longer stalls. */
async function recovery({ system }: Context, troubles: string[]): Promise<void> {
  const deadlineMs = performance.now() + RECOVERY_MS;
  const served = await Promise.all(system.hosts.map((host) => untilServing(host, deadlineMs)));
  for (const [index, serves] of served.entries()) {
    if (!serves)
      troubles.push(`member ${index + 1} granted no session within ${RECOVERY_MS / 1000} s`);
  }
  await sleep(SETTLE_MS);
}
