/**
 * The leader goes: killed, or frozen as if its machine hung. And how fast an ensemble is there.
 *
 * The gap is that of acknowledged writes; the median of several repetitions in one ensemble.
 */
import { median } from '../report/statistics.js';
import type { Context } from '../run/context.js';
import { type Gap, gapOfFrozenLeader, gapOfKilledLeader, restartMs } from './disruptions.js';
import {
  type Figure,
  type Measurement,
  measurement,
  type Scenario,
  type Series,
  scenario,
} from './scenario.js';

const FROZEN_REPETITIONS_MAX = 2;

export const GAP_FIGURES: readonly Figure[] = [
  { key: 'gapMs', title: 'longest gap between acknowledged writes', unit: 'ms', better: 'lower' },
  { key: 'gapMaxMs', title: 'worst repetition', unit: 'ms', better: 'lower' },
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
    figures: GAP_FIGURES,
    secondsAbout: ({ sizes }) => Math.min(sizes.repetitions, FROZEN_REPETITIONS_MAX) * 15,
    run: (context) => {
      const repetitions = Math.min(context.settings.sizes.repetitions, FROZEN_REPETITIONS_MAX);
      return gaps(context, repetitions, gapOfFrozenLeader);
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

/** The ensemble is stopped and wiped: what it started with before is not what is timed. */
async function coldStart(context: Context): Promise<Measurement> {
  const { ensemble } = context;
  await ensemble.stop();
  for (const member of ensemble.hosts.keys()) ensemble.wipe(member);
  return measurement({ servingMs: await restartMs(context) });
}
