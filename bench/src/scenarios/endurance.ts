/**
 * What short runs do not show: checkpoints under full load, minutes at full and at half load, and
 * how many bytes reach the disk for each write.
 *
 * A checkpoint is ZooKeeper's snapshot. Half load is half of what the same ensemble did at full
 * load just before; its latency counts from when a request was due.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { inGroupsOf, slopeOf } from '../report/statistics.js';
import type { Context } from '../run/context.js';
import { Sampler } from '../run/sampler.js';
import { deviceWrittenBytes } from '../systems/device-bytes.js';
import { metricIn, metricsOf } from '../systems/metrics.js';
import { LOAD_FIGURES, partsOf, throughputOf, valuesOf, warmUp } from './load-figures.js';
import { VALUES, type ValueLoad } from './mixes.js';
import { type Figure, type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const WRITES = { kind: 'mix', readPercent: 0 } as const;
/** Long enough for several checkpoints of either product. */
const CHECKPOINT_SECONDS_MIN = 20;
const SECONDS_PER_MINUTE = 60;
const SLICES_PER_SECOND = 10;
/** Growth counts from minute 2, or from the half of a shorter run. */
const GROWTH_FROM_SECONDS = 120;
const SETTLE_MS = 1000;
/** The unit in which Linux writes files to a disk. */
const PAGE_BYTES = 4096;

/** Loading and sampling before and after the load would otherwise count as its processor time. */
const TAIL_FIGURES: readonly Figure[] = [
  ...LOAD_FIGURES.filter(({ key }) => key !== 'cpuUs'),
  { key: 'over50', title: 'silences over 50 ms', unit: '', better: 'lower' },
];

const ENDURANCE_FIGURES: readonly Figure[] = [
  ...TAIL_FIGURES,
  { key: 'slowestSecond', title: 'slowest second', unit: '1/s', better: 'higher' },
  { key: 'growthPercent', title: 'memory growth per minute', unit: '%', better: 'lower' },
  { key: 'elections', title: 'elections', unit: '', better: 'lower' },
];

export const enduranceScenarios: readonly Scenario[] = [
  scenario({
    name: 'checkpoint',
    title: 'checkpoints of 100,000 znodes under full write load',
    group: 'endurance',
    isFresh: true,
    needsProcesses: true,
    figures: TAIL_FIGURES,
    secondsAbout: (settings) => 20 + checkpointSeconds(settings),
    run: checkpoint,
  }),
  scenario({
    name: 'sustained-full',
    title: 'setData at full load for minutes',
    group: 'endurance',
    isFresh: true,
    roundsMax: 1,
    figures: ENDURANCE_FIGURES,
    secondsAbout: ({ minutes }) => minutes * SECONDS_PER_MINUTE + 6,
    run: (context) => sustained(context, null),
  }),
  scenario({
    name: 'sustained-half',
    title: 'setData at half of the maximum load for minutes',
    group: 'endurance',
    isFresh: true,
    roundsMax: 1,
    figures: ENDURANCE_FIGURES,
    secondsAbout: ({ minutes, seconds }) => minutes * SECONDS_PER_MINUTE + seconds + 6,
    run: async (context) => {
      await warmUp(context);
      context.step('the maximum');
      const full = await context.load({ workload: WRITES });
      return await sustained(context, full.operations / full.seconds / 2);
    },
  }),
  ...VALUES.map((load) =>
    scenario({
      name: `written-${load.valueBytes}`,
      title: `bytes written to disk, setData ${load.valueBytes} B`,
      group: 'endurance',
      needsProcesses: true,
      memberSettings: { isOperated: true },
      figures: [
        { key: 'diskBytes', title: 'by the disk, per set and member', unit: 'B', better: 'lower' },
        { key: 'logBytes', title: 'for the log, estimated', unit: 'B', better: 'lower' },
      ],
      secondsAbout: ({ seconds, warmupSeconds }) => 2 * seconds + warmupSeconds + 3,
      run: (context) => written(context, load),
    }),
  ),
];

function checkpointSeconds({ isQuick, seconds }: Context['settings']): number {
  return isQuick ? seconds : Math.max(seconds, CHECKPOINT_SECONDS_MIN);
}

async function checkpoint(context: Context): Promise<Measurement> {
  await warmUp(context);
  const { settings } = context;
  const space = {
    root: context.newRoot(),
    keys: settings.sizes.checkpointZnodes,
    valueBytes: 100,
  };
  context.step(`loading ${space.keys} znodes`);
  await context.load({
    workload: { kind: 'fill' },
    space,
    isSetUp: true,
    seconds: null,
    warmupSeconds: 0,
  });
  context.step('full write load');
  const result = await context.load({
    workload: WRITES,
    space,
    seconds: checkpointSeconds(settings),
    processes: 1,
  });
  const values = { ...valuesOf(result), over50: result.silencesOver50Ms };
  return measurement(values, partsOf(result));
}

async function sustained(context: Context, perSecond: number | null): Promise<Measurement> {
  const { settings, system } = context;
  if (perSecond === null) await warmUp(context);
  context.step(perSecond === null ? 'full load' : `${Math.round(perSecond)} a second`);
  const sampler = new Sampler(system);
  const result = await context.load({
    workload: WRITES,
    seconds: settings.minutes * SECONDS_PER_MINUTE,
    perSecond,
    processes: 1,
  });
  await sampler.stop();
  const seconds = inGroupsOf(SLICES_PER_SECOND, throughputOf(result).values);
  const perSeconds = seconds.map((value) => value / SLICES_PER_SECOND);
  const slowest = slowestPerSecond(result.slowestMs, perSeconds.length);
  const values: Record<string, number> = {
    ...valuesOf(result),
    over50: result.silencesOver50Ms,
    elections: sampler.elections,
  };
  if (perSeconds.length > 0) values['slowestSecond'] = Math.min(...perSeconds);
  const memory = sampler.residentBytes;
  if (memory.length > 0) values['growthPercent'] = growthPercentPerMinute(memory);
  return measurement(values, {
    ...partsOf(result),
    series: [
      { name: 'operations', unit: '1/s', stepSeconds: 1, values: perSeconds },
      { name: 'slowest answer', unit: 'ms', stepSeconds: 1, values: slowest },
      { name: 'memory', unit: 'MB', stepSeconds: 1, values: memory.map((bytes) => bytes / 1e6) },
      {
        name: 'kept by the host',
        unit: '%',
        stepSeconds: 1,
        values: sampler.stolenShares.map((share) => 100 * share),
      },
    ],
  });
}

/** A second without any answer gets the value of the one that ended it. */
export function slowestPerSecond(tenths: readonly number[], seconds: number): readonly number[] {
  const values = Array.from({ length: seconds }, (_, second) =>
    Math.max(0, ...tenths.slice(second * SLICES_PER_SECOND, (second + 1) * SLICES_PER_SECOND)),
  );
  for (let second = values.length - 2; second >= 0; second--) {
    if (values[second] === 0) values[second] = values[second + 1] ?? 0;
  }
  return values;
}

/** For one sample a second: the slope from minute 2 on, as a share of the memory at that time. */
export function growthPercentPerMinute(residentBytes: readonly number[]): number {
  const isLong = residentBytes.length >= 2 * GROWTH_FROM_SECONDS;
  const from = isLong ? GROWTH_FROM_SECONDS : Math.floor(residentBytes.length / 2);
  const late = residentBytes.slice(from);
  const [first] = late;
  if (first === undefined || first === 0) return 0;
  return (100 * slopeOf(late) * SECONDS_PER_MINUTE) / first;
}

/**
 * Whatever else the machine writes to the same disk meanwhile counts, too. A first load, which does
 * not count, creates the znodes, and files of the log that the second uses again.
 */
async function written(context: Context, load: ValueLoad): Promise<Measurement> {
  const { ensemble, settings } = context;
  const { valueBytes } = load;
  const space = { root: context.newRoot(), keys: settings.sizes.keys, valueBytes };
  await context.load({ workload: WRITES, ...load, space, isSetUp: true });
  // The disk writes of a checkpoint or compaction that is still in progress belong to the load.
  await sleep(SETTLE_MS);
  const before = await writtenBytes(context);
  const result = await context.load({ workload: WRITES, ...load, space, warmupSeconds: 0 });
  await sleep(SETTLE_MS);
  const after = await writtenBytes(context);
  const sets = result.operations * ensemble.hosts.length;
  const values = {
    diskBytes: (after.disk - before.disk) / sets,
    logBytes: (after.log - before.log) / sets,
  };
  const known = Object.entries(values).filter(([, value]) => Number.isFinite(value));
  return measurement(Object.fromEntries(known), partsOf(result));
}

/**
 * What the disk has written, and what all members have written to their logs; NaN for what is not
 * known. ZooKeeper and the baseline do not tell the latter. It is an estimate: the bytes of the
 * transactions, and a page for each synced write, which also writes what else is in its first and
 * its last page. The heads of records and files, zeros that are written to a new file in advance,
 * and the journal of the file system are left out.
 */
async function writtenBytes({ system, ensemble }: Context): Promise<{ disk: number; log: number }> {
  const logs = await Promise.all(
    ensemble.hosts.map(async (host) => {
      if (system.name !== 'rookery') return Number.NaN;
      const text = await metricsOf(host);
      const writes = metricIn(text, 'rookery_fsync_duration_seconds_count');
      return metricIn(text, 'rookery_log_appended_bytes_total') + PAGE_BYTES * writes;
    }),
  );
  const disk = deviceWrittenBytes(ensemble.directory) ?? Number.NaN;
  return { disk, log: logs.reduce((sum, bytes) => sum + bytes, 0) };
}
