/**
 * The charts of the HTML report, as Chart.js configurations that are plain data.
 *
 * Percentile curves have 1/(1-p) on a logarithmic axis, so that 99, 99.9 and 99.99 % are as far
 * apart as they matter; the page adds the labels. Time series are those of the last round. Pure.
 */
import { Histogram } from '../load/histogram.js';
import type { Unit } from '../scenarios/scenario.js';
import { type Results, type Run, runsOf, type ScenarioFacts } from './results.js';

export interface ChartData {
  readonly id: string;
  readonly title: string;
  readonly kind: 'percentiles' | 'time';
  readonly xTitle: string;
  readonly yTitle: string;
  /** The unit as it follows a value, with the space before it. */
  readonly unit: string;
  readonly lines: readonly {
    readonly label: string;
    readonly color: string;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
}

const PERCENTS = [
  ...[0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 97, 98, 99],
  ...[99.5, 99.7, 99.9, 99.95, 99.99, 99.995, 99.999],
] as const;
const COLORS = ['#1f6feb', '#d1652a', '#2da44e', '#8250df'] as const;
/** One more point would claim more precision than was measured. */
const VALUES_PER_POINT_MIN = 1;

export function chartsOf(results: Results, scenario: ScenarioFacts): readonly ChartData[] {
  return [...percentiles(results, scenario), ...timeSeries(results, scenario)];
}

function percentiles(results: Results, { name }: ScenarioFacts): readonly ChartData[] {
  const lines = results.systems.flatMap((system, index) => {
    const runs = runsOf(results, { scenario: name, system });
    const parts = runs.flatMap(({ measurement }) => measurement.latency ?? []);
    const points = curveOf(Histogram.of(parts));
    return points.length === 0 ? [] : [{ label: system, color: colorOf(index), points }];
  });
  if (lines.length === 0) return [];
  const titles = {
    title: 'latency by percentile, all rounds',
    xTitle: 'percentile of operations',
    yTitle: 'ms, logarithmic',
  } as const;
  return [{ id: `${name}-latency`, kind: 'percentiles', ...titles, unit: ' ms', lines }];
}

/** Ends the curve at the last percentile that has a value of its own. */
export function curveOf(latency: Histogram): readonly { x: number; y: number }[] {
  return PERCENTS.filter(
    (percent) => latency.count * (1 - percent / 100) >= VALUES_PER_POINT_MIN,
  ).map((percent) => ({
    x: 1 / (1 - percent / 100),
    y: Math.max(latency.percentileUs(percent), 1) / 1000,
  }));
}

function timeSeries(results: Results, { name }: ScenarioFacts): readonly ChartData[] {
  const last = results.systems.flatMap((system, index) => {
    const run = runsOf(results, { scenario: name, system }).at(-1);
    return run === undefined ? [] : [{ system, color: colorOf(index), run }];
  });
  const titles = new Set(last.flatMap(({ run }) => run.measurement.series.map((one) => one.name)));
  return [...titles].flatMap((title) => {
    const lines = last.flatMap(({ system, color, run }) => lineOf(run, { title, system, color }));
    const unit = last
      .flatMap(({ run }) => run.measurement.series)
      .find((one) => one.name === title)?.unit;
    if (lines.length === 0 || unit === undefined) return [];
    return [
      {
        id: `${name}-${title}`,
        kind: 'time',
        title: `${title} over time, last round`,
        xTitle: 'seconds',
        ...unitTexts(unit),
        lines,
      } as const,
    ];
  });
}

function unitTexts(unit: Unit): Pick<ChartData, 'yTitle' | 'unit'> {
  if (unit === '1/s') return { yTitle: 'per second', unit: '/s' };
  return { yTitle: unit, unit: unit === '' ? '' : ` ${unit}` };
}

function lineOf(
  { measurement }: Run,
  line: { readonly title: string; readonly system: string; readonly color: string },
): ChartData['lines'] {
  const series = measurement.series.find((one) => one.name === line.title);
  if (series === undefined || series.values.length === 0) return [];
  const points = series.values.map((y, step) => ({ x: step * series.stepSeconds, y }));
  return [{ label: line.system, color: line.color, points }];
}

function colorOf(index: number): string {
  return COLORS[index % COLORS.length] ?? COLORS[0];
}
