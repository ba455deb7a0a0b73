/**
 * The loss of the leader, which is killed, or frozen as if its machine hung; and how fast an
 * ensemble starts.
 *
 * The gap is that of acknowledged writes, as the median of several repetitions in one ensemble. A
 * product that notices a frozen leader quickly might mistake a busy one for it, so every freeze
 * comes after a full load, during which no other leader may be elected.
 */
import { median } from '../report/statistics.js';
import type { Context } from '../run/context.js';
import { Sampler } from '../run/sampler.js';
import type { Settings } from '../run/settings.js';
import { type Gap, gapOfFrozenLeader, gapOfKilledLeader, restartMs } from './disruptions.js';
import { troublesOf } from './load-figures.js';
import {
  type Figure,
  type Measurement,
  measurement,
  type Scenario,
  type Series,
  scenario,
} from './scenario.js';

const FROZEN_REPETITIONS_MAX = 2;
/** Several times as long as a silent leader needs to be considered dead. */
const FULL_LOAD_SECONDS_MIN = 5;

export const GAP_FIGURES: readonly Figure[] = [
  { key: 'gapMs', title: 'longest gap between acknowledged writes', unit: 'ms', better: 'lower' },
  { key: 'gapMaxMs', title: 'worst repetition', unit: 'ms', better: 'lower' },
];

const FROZEN_FIGURES: readonly Figure[] = [
  ...GAP_FIGURES,
  { key: 'elections', title: 'elections under full load before', unit: '', better: 'lower' },
];

export const failoverScenarios: readonly Scenario[] = [
  scenario({
    name: 'failover-kill',
    title: 'leader killed with SIGKILL',
    group: 'failover',
    needsProcesses: true,
    isDisruptive: true,
    figures: GAP_FIGURES,
    secondsAbout: ({ sizes }) => sizes.repetitions * 7,
    run: (context) => gaps(context, context.settings.sizes.repetitions, gapOfKilledLeader),
  }),
  scenario({
    name: 'failover-freeze',
    title: 'leader frozen with SIGSTOP',
    group: 'failover',
    needsProcesses: true,
    isDisruptive: true,
    figures: FROZEN_FIGURES,
    secondsAbout: (settings) => fullLoadSeconds(settings) + frozenRepetitions(settings) * 15,
    run: async (context) => {
      const load = await electionsUnderLoad(context);
      const frozen = await gaps(context, frozenRepetitions(context.settings), gapOfFrozenLeader);
      const values = { ...frozen.values, ...load.values };
      return { ...frozen, values, troubles: [...load.troubles, ...frozen.troubles] };
    },
  }),
  scenario({
    name: 'cold-start',
    title: 'an empty ensemble is started',
    group: 'failover',
    isFresh: true,
    needsProcesses: true,
    isDisruptive: true,
    figures: [{ key: 'servingMs', title: 'every member serves', unit: 'ms', better: 'lower' }],
    secondsAbout: () => 6,
    run: coldStart,
  }),
];

function frozenRepetitions({ sizes }: Settings): number {
  return Math.min(sizes.repetitions, FROZEN_REPETITIONS_MAX);
}

function fullLoadSeconds({ isQuick, seconds }: Settings): number {
  return isQuick ? seconds : Math.max(seconds, FULL_LOAD_SECONDS_MIN);
}

async function electionsUnderLoad(context: Context): Promise<Measurement> {
  context.step('full write load');
  const sampler = new Sampler(context.system);
  const result = await context.load({
    workload: { kind: 'mix', readPercent: 0 },
    seconds: fullLoadSeconds(context.settings),
  });
  await sampler.stop();
  return measurement({ elections: sampler.elections }, { troubles: troublesOf(result) });
}

async function gaps(
  context: Context,
  repetitions: number,
  measure: (context: Context) => Promise<Gap>,
): Promise<Measurement> {
  const gapsMs: number[] = [];
  const troubles: string[] = [];
  let series: readonly Series[] = [];
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    context.step(`repetition ${repetition} of ${repetitions}`);
    const gap = await measure(context);
    gapsMs.push(gap.gapMs);
    troubles.push(...gap.troubles);
    series = [gap.writes];
  }
  return measurement(
    { gapMs: median(gapsMs), gapMaxMs: Math.max(...gapsMs) },
    { series, troubles },
  );
}

/** The ensemble is stopped and wiped: its first start is not the one that is timed. */
async function coldStart(context: Context): Promise<Measurement> {
  const { ensemble } = context;
  await ensemble.stop();
  for (const member of ensemble.hosts.keys()) ensemble.wipe(member);
  return measurement({ servingMs: await restartMs(context) });
}
