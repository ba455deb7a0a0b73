/**
 * The figures of a load, and how its result becomes them; for every scenario that is a plain load.
 *
 * It also reports what went wrong in it: errors, lost connections, a generator too busy to be
 * believed.
 */
import { Histogram } from '../load/histogram.js';
import type { LoadResult } from '../load/load.js';
import { SLICE_MS } from '../load/recorder.js';
import type { Context, LoadRequest } from '../run/context.js';
import type { EnsembleFacts } from '../systems/ensemble.js';
import { type Figure, type Measurement, measurement, type Series } from './scenario.js';

/** Above this, the servers may have been faster than the figures say. */
export const GENERATOR_SHARE_MAX = 0.6;

export const LOAD_FIGURES: readonly Figure[] = [
  { key: 'perSecond', title: 'operations', unit: '1/s', better: 'higher' },
  { key: 'p50Ms', title: 'p50', unit: 'ms', better: 'lower' },
  { key: 'p99Ms', title: 'p99', unit: 'ms', better: 'lower' },
  { key: 'p999Ms', title: 'p99.9', unit: 'ms', better: 'lower' },
  { key: 'maxMs', title: 'max', unit: 'ms', better: 'lower' },
  { key: 'silenceMs', title: 'longest silence', unit: 'ms', better: 'lower' },
  { key: 'cpuUs', title: "servers' CPU per operation", unit: 'us', better: 'lower' },
];

/** Runs one load, and measures it from outside too. */
export async function measureLoad(context: Context, request: LoadRequest): Promise<Measurement> {
  const { ensemble } = context.system;
  const load = await context.startLoad(request);
  const before = ensemble?.facts() ?? null;
  const result = await load.result;
  const after = ensemble?.facts() ?? null;
  const warmup = request.warmupSeconds ?? context.settings.warmupSeconds;
  return measurement(
    { ...valuesOf(result), ...cpuOf(result, { before, after, warmup }) },
    partsOf(result),
  );
}

/** For an ensemble of its own, which no round warmed up: a JVM compiles first, and so does V8. */
export async function warmUp(context: Context): Promise<void> {
  context.step('warm-up');
  await context.load({ workload: { kind: 'mix', readPercent: 50 } });
}

export function valuesOf(result: LoadResult): Record<string, number> {
  const latency = Histogram.of([result.latency]);
  const ms = (percent: number) => latency.percentileUs(percent) / 1000;
  return {
    perSecond: result.operations / result.seconds,
    p50Ms: ms(50),
    p99Ms: ms(99),
    p999Ms: ms(99.9),
    maxMs: latency.maxUs / 1000,
    silenceMs: result.longestSilenceMs,
  };
}

export function partsOf(result: LoadResult): Partial<Measurement> {
  return {
    latency: result.latency,
    series: [throughputOf(result)],
    troubles: troublesOf(result),
    generatorShare: result.generator.cpuShare,
  };
}

/** The last slice is incomplete where the run ends. */
export function throughputOf(result: LoadResult): Series {
  const slices = Math.floor((result.seconds * 1000) / SLICE_MS);
  const values = Array.from(
    { length: slices },
    (_, slice) => ((result.slices[slice] ?? 0) * 1000) / SLICE_MS,
  );
  return { name: 'operations', unit: '1/s', stepSeconds: SLICE_MS / 1000, values };
}

export function troublesOf(result: LoadResult): readonly string[] {
  const troubles = Object.entries(result.errors).map(([name, count]) => `${count} x ${name}`);
  if (result.lostConnections > 0) {
    troubles.push(`${result.lostConnections} connections lost, ${result.lostRequests} requests`);
  }
  if (result.operations === 0) troubles.push('no request was answered');
  return troubles;
}

/**
 * The processor time includes the warm-up and the end, so operations are scaled to the same time.
 */
function cpuOf(
  result: LoadResult,
  around: {
    readonly before: EnsembleFacts | null;
    readonly after: EnsembleFacts | null;
    readonly warmup: number;
  },
): Record<string, number> {
  const { before, after, warmup } = around;
  if (before === null || after === null || result.operations === 0) return {};
  const operations = (result.operations * (result.seconds + warmup)) / result.seconds;
  return { cpuUs: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / operations };
}
