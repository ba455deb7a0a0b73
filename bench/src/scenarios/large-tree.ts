/**
 * A tree of a million znodes: loaded, held in memory and on disk, and carried through everything
 * that takes long because of it: failover, a follower's return, a restart of all members.
 *
 * One run does everything, one step after the other, because loading takes the longest. Smaller
 * trees do the same, for the scaling table.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KeySpace } from '../load/key-space.js';
import type { LoadResult } from '../load/load.js';
import { MEGABYTE } from '../report/units.js';
import type { Context } from '../run/context.js';
import { followerBackMs, gapOfFrozenLeader, gapOfKilledLeader, restartMs } from './disruptions.js';
import { partsOf, troublesOf, valuesOf } from './load-figures.js';
import { type Figure, type Measurement, measurement, type Scenario, scenario } from './scenario.js';

const LOADERS = 6;
const LOADERS_WINDOW = 250;
const SETTLE_MS = 3000;
const QUICK_SETTLE_MS = 300;
/** This is the size for the targets, with the heap that Java takes by default. */
const JAVA_HEAP_MEGABYTES = 3000;
/** The write rate of a slow server, for the estimate that is shown. */
const LOADS_PER_SECOND = 12_000;
/** The share of the largest tree. */
const SHARES = { '10k': 0.01, '100k': 0.1, '1m': 1 } as const;
const MISSED_WRITES_MS = 500;

const TREE_FIGURES: readonly Figure[] = [
  { key: 'loadPerSecond', title: 'znodes loaded', unit: '1/s', better: 'higher' },
  { key: 'readerP99Ms', title: "a reader's p99 meanwhile", unit: 'ms', better: 'lower' },
  { key: 'readerMaxMs', title: "a reader's max meanwhile", unit: 'ms', better: 'lower' },
  { key: 'memberMb', title: 'memory of the largest member', unit: 'MB', better: 'lower' },
  { key: 'diskMb', title: 'disk of all members', unit: 'MB', better: 'lower' },
  { key: 'readPerSecond', title: 'getData of random znodes', unit: '1/s', better: 'higher' },
  { key: 'writePerSecond', title: 'setData of random znodes', unit: '1/s', better: 'higher' },
  { key: 'writeP99Ms', title: 'setData p99', unit: 'ms', better: 'lower' },
];

const RECOVERY_FIGURES: readonly Figure[] = [
  { key: 'killGapMs', title: 'leader killed: gap', unit: 'ms', better: 'lower' },
  { key: 'freezeGapMs', title: 'leader frozen: gap', unit: 'ms', better: 'lower' },
  { key: 'diffBackMs', title: 'killed follower back', unit: 'ms', better: 'lower' },
  { key: 'snapBackMs', title: 'wiped follower back', unit: 'ms', better: 'lower' },
  { key: 'restartMs', title: 'all restarted', unit: 'ms', better: 'lower' },
];

export const largeTreeScenarios: readonly Scenario[] = Object.entries(SHARES).map(([size, share]) =>
  scenario({
    name: `znodes-${size}`,
    title: `${size} znodes x 100 B: load, memory, disk, failover, return, restart`,
    group: 'znodes',
    figures: [...TREE_FIGURES, ...RECOVERY_FIGURES],
    isFresh: true,
    needsProcesses: true,
    isDisruptive: true,
    javaHeapMegabytes: JAVA_HEAP_MEGABYTES,
    scale: {
      dimension: 'znodes',
      what: 'load, memory, disk, recovery',
      at: ({ sizes }) => Math.round(sizes.manyZnodes * share),
    },
    secondsAbout: ({ sizes, seconds }) =>
      (share * sizes.manyZnodes) / LOADS_PER_SECOND + 2 * seconds + 45,
    run: (context) => loadAndRecover(context, share),
  }),
);

interface LoadedTree {
  readonly measured: Measurement;
  readonly space: KeySpace;
}

async function loadTree(context: Context, share: number): Promise<LoadedTree> {
  const { settings, ensemble } = context;
  const space: KeySpace = {
    root: context.newRoot(),
    keys: Math.round(settings.sizes.manyZnodes * share),
    valueBytes: 100,
  };
  const reader = await context.startLoad({
    workload: { kind: 'mix', readPercent: 100 },
    connections: 1,
    window: 1,
    seconds: null,
    warmupSeconds: 0,
    processes: 1,
  });
  context.step(`loading ${space.keys} znodes`);
  const loaded = await context.load({
    workload: { kind: 'fill' },
    space,
    isSetUp: true,
    connections: LOADERS,
    window: LOADERS_WINDOW,
    seconds: null,
    warmupSeconds: 0,
    processes: 1,
  });
  const read = await reader.stop();
  await sleep(settings.isQuick ? QUICK_SETTLE_MS : SETTLE_MS);
  const memberBytes = Math.max(...ensemble.facts().residentBytes);
  const diskBytes = ensemble.diskBytes();
  context.step('reads and writes');
  const reads = await context.load({ workload: { kind: 'mix', readPercent: 100 }, space });
  const writes = await context.load({ workload: { kind: 'mix', readPercent: 0 }, space });
  return {
    space,
    measured: measurement(
      {
        loadPerSecond: loaded.operations / loaded.seconds,
        readerP99Ms: valuesOf(read)['p99Ms'] ?? Number.NaN,
        readerMaxMs: valuesOf(read)['maxMs'] ?? Number.NaN,
        memberMb: memberBytes / MEGABYTE,
        diskMb: diskBytes / MEGABYTE,
        readPerSecond: reads.operations / reads.seconds,
        writePerSecond: writes.operations / writes.seconds,
        writeP99Ms: valuesOf(writes)['p99Ms'] ?? Number.NaN,
      },
      { ...partsOf(loaded), troubles: [loaded, read, reads, writes].flatMap(troublesOf) },
    ),
  };
}

async function loadAndRecover(context: Context, share: number): Promise<Measurement> {
  const { measured, space } = await loadTree(context, share);
  const missed = async () => {
    await writeFor(context, space);
  };
  context.step('leader killed');
  const kill = await gapOfKilledLeader(context);
  context.step('leader frozen');
  const freeze = await gapOfFrozenLeader(context);
  context.step('follower back by DIFF');
  const diffBackMs = await followerBackMs(context, { isWiped: false, missed });
  context.step('wiped follower back by SNAP');
  const snapBackMs = await followerBackMs(context, { isWiped: true, missed });
  context.step('restart of all');
  const values = {
    killGapMs: kill.gapMs,
    freezeGapMs: freeze.gapMs,
    diffBackMs,
    snapBackMs,
    restartMs: await restartMs(context),
  };
  const troubles = [...measured.troubles, ...kill.troubles, ...freeze.troubles];
  return { ...measured, values: { ...measured.values, ...values }, troubles };
}

/** The writes that a member misses while it is down. */
async function writeFor(context: Context, space: KeySpace): Promise<LoadResult> {
  const seconds = MISSED_WRITES_MS / 1000;
  const workload = { kind: 'mix', readPercent: 0 } as const;
  return await context.load({ workload, space, seconds, warmupSeconds: 0 });
}
