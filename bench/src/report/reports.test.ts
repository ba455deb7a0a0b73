/** The reports state what was measured, losses and gaps included. The results are made by hand. */
import { describe, expect, it } from 'vitest';
import { Histogram } from '../load/histogram.js';
import { chartsOf, curveOf } from './charts.js';
import { formatSummary } from './comparison.js';
import { htmlReport, readChartLibrary } from './html.js';
import { markdownReport, table } from './markdown.js';
import type { Results } from './results.js';
import { sampleResults } from './sample-results.js';
import { scalingTables } from './scaling.js';
import { summarize } from './statistics.js';
import { OTHER_BOUNDS, TARGETS } from './targets.js';
import { alignColumns, textReport } from './text.js';
import { formatValue } from './units.js';

const compared = sampleResults([
  {
    scenario: 'mix-0-w32',
    system: 'rookery',
    values: { perSecond: [30_000, 50_000, 40_000], p99Ms: [12, 10, 11] },
    troubles: ['3 x <NoNode>'],
  },
  {
    scenario: 'mix-0-w32',
    system: 'zookeeper',
    values: { perSecond: [20_000, 20_000, 20_000], p99Ms: [5.5, 5.5, 5.5] },
  },
]);

const loaded: Results = {
  ...compared,
  runs: compared.runs.map((run) => ({
    ...run,
    measurement: {
      ...run.measurement,
      latency: latencyOf(1, 2, 3).toData(),
      series: [
        { name: 'operations', unit: '1/s', stepSeconds: 1, values: [1, 2] },
        { name: 'memory', unit: 'MB', stepSeconds: 1, values: [3, 4] },
      ],
    },
  })),
};

describe('the text report', () => {
  it('has medians, spreads and ratios, and a ratio below 1 where Rookery loses', () => {
    const lines = textReport(compared).split('\n');
    const operations = lines.find((line) => line.startsWith('  operations')) ?? '';
    expect(operations).toContain('40.0k/s (30.0 to 50.0k/s)');
    expect(operations).toContain('2.00x (1.50 to 2.50)');
    expect(lines.find((line) => line.startsWith('  p99 '))).toContain('0.50x');
  });

  it('has a ratio to each other system where there are several', () => {
    const three = ['rookery', 'zookeeper', 'baseline'];
    const perSecond = [40_000, 20_000, 32_000];
    const results = sampleResults(
      three.map((system, index) => ({
        scenario: 'mix-0-w32',
        system,
        values: { perSecond: perSecond.slice(index, index + 1) },
      })),
      { systems: three },
    );
    const text = textReport({ ...results, baseline: 'abcdef012345' });
    expect(text).toContain('baseline: commit abcdef012345');
    expect(text).toMatch(/ratio to zookeeper +ratio to baseline$/m);
    expect(text).toMatch(/^ {2}operations +40\.0k\/s +20\.0k\/s +32\.0k\/s +2\.00x +1\.25x$/m);
    const head = '|  | rookery | zookeeper | baseline | ratio to zookeeper | ratio to baseline |';
    expect(markdownReport(results)).toContain(head);
    expect(htmlReport(results, '')).toContain('<th>ratio to baseline</th>');
  });

  it('repeats the unit within a spread only where the unit changes', () => {
    const figure = {
      key: 'perSecond',
      title: 'operations',
      unit: '1/s',
      better: 'higher',
    } as const;
    const spread = (...values: number[]) => formatSummary(summarize(values), figure);
    expect(spread(900, 1000, 1200)).toBe('1.00k/s (900/s to 1.20k/s)');
    expect(spread(1100, 1150, 1200)).toBe('1.15k/s (1.10 to 1.20k/s)');
    expect(spread(1100)).toBe('1.10k/s');
  });

  it('states that there is no verdict on a figure without its comparison', () => {
    const alone = sampleResults([
      { scenario: 'mix-0-w32', system: 'rookery', values: { perSecond: [30_000], p999Ms: [12] } },
    ]);
    const lines = textReport(alone).split('\n');
    const goals = (title: string) => lines.find((line) => line.startsWith(`    ${title} `));
    expect(goals('operations')).toMatch(
      /30\.0k\/s +- +- +ratio to zookeeper at least 9x: nothing to compare with, ratio to base/,
    );
    expect(goals('p99.9')).toMatch(/12\.0 ms +- +- +at most 50\.0 ms: met$/);
  });

  it('reports each trouble once a round', () => {
    expect(textReport(compared).match(/!! rookery, round \d: 3 x <NoNode>/g)).toHaveLength(3);
  });

  it('shows a dash for what was not measured', () => {
    const line = textReport(compared)
      .split('\n')
      .find((one) => one.startsWith('  p50'));
    expect(line).toMatch(/p50 +- +- +-$/);
  });

  it('aligns its columns', () => {
    expect(
      alignColumns([
        ['a', 'b'],
        ['long', 'c'],
      ]),
    ).toBe('a     b\nlong  c');
  });

  it('does not widen a column for a heading', () => {
    expect(alignColumns([['a heading'], ['a', 'b']])).toBe('a heading\na  b');
  });
});

describe('the HTML report', () => {
  it('loads nothing from elsewhere, and escapes all text that comes from outside', () => {
    const html = htmlReport(compared, readChartLibrary());
    expect(html).toContain('3 x &lt;NoNode&gt;');
    expect(html).not.toMatch(/<script[^>]+src=|<link/);
    expect(html).toContain('Chart');
    expect(html).not.toContain('sourceMappingURL');
  });

  it('states date, systems and machine in its title', () => {
    const title = /<title>(.*)<\/title>/.exec(htmlReport(compared, ''))?.[1];
    expect(title).toBe(
      'Bench of rookery and zookeeper: 2026-01-01 00:00 UTC, commit abc, on a processor with 2 cores',
    );
  });

  it('has every target, and lists those that were not measured separately', () => {
    const html = htmlReport(compared, '');
    const [measured = '', ...others] = html.split('<details>');
    const rows = (part: string) => part.match(/<th colspan="5">/g)?.length;
    expect(rows(measured)).toBe(1);
    expect(others.map(rows)).toEqual([TARGETS.length - 1, OTHER_BOUNDS.length]);
  });

  it('marks a goal that is missed and one that has no comparison', () => {
    const html = htmlReport(compared, '');
    expect(html).toContain('<span class="not-met">ratio to zookeeper at least 9x: not met</span>');
    expect(html).toContain('<span class="nothing-to-compare-with">ratio to baseline at least 1.5x');
  });

  it('names both axes of each chart, with the unit', () => {
    const [scenario] = loaded.scenarios;
    if (scenario === undefined) throw new Error('the sample has a scenario');
    expect(
      chartsOf(loaded, scenario).map(({ kind, xTitle, yTitle }) => [kind, xTitle, yTitle]),
    ).toEqual([
      ['percentiles', 'percentile of operations', 'ms, logarithmic'],
      ['time', 'seconds', 'per second'],
      ['time', 'seconds', 'MB'],
    ]);
  });

  it('has no element that data within it can end early', () => {
    const html = htmlReport(compared, 'x = "</script><b>"');
    expect(html).not.toContain('</script><b>');
  });
});

describe('the results file', () => {
  it('has one row a figure with all systems, both ratios, and missed goals in bold', () => {
    const perSecond = { rookery: 400_000, zookeeper: 50_000, baseline: 200_000 };
    const three = sampleResults(
      Object.entries(perSecond).map(([system, value]) => ({
        scenario: 'mix-0-w32',
        system,
        values: { perSecond: [value] },
      })),
      { systems: Object.keys(perSecond) },
    );
    const markdown = markdownReport(three);
    expect(markdown).toContain(
      '| what | figure | rookery | zookeeper | baseline | ratio to zookeeper | ratio to baseline ' +
        '| goals |',
    );
    expect(markdown).toContain(
      '| setData 100 B, 30 connections x 32 | operations | 400k/s | 50.0k/s | 200k/s | 8.00x ' +
        '| 2.00x | **ratio to zookeeper at least 9x: not met**, ' +
        'ratio to baseline at least 1.5x: met |',
    );
  });

  it('names all targets, measured or not', () => {
    const markdown = markdownReport(compared);
    const [measured = '', others = '', otherBounds = ''] = markdown.split('Not measured:');
    expect(measured).toContain('| setData 100 B, 30 connections x 32 | p99.9 | - | - | - |');
    expect(others).not.toContain('\n- setData 100 B, 30 connections x 32\n');
    expect(others).toContain('\n- a million znodes\n');
    expect(otherBounds).toContain('\n- leader killed: longest gap\n');
    expect(markdown).toContain(`## Targets\n\n0 of ${TARGETS.length} met, 1 measured.`);
    expect(markdown).toContain(`## Other bounds\n\n0 of ${OTHER_BOUNDS.length} met, 0 measured.`);
    expect(markdown).toContain('- trouble: rookery, round 1: 3 x <NoNode>');
  });

  it('states how much of the processor time the host kept, if any run knows', () => {
    expect(markdownReport(compared)).toContain('- kept by the host: unknown');
    const shares = [0.01, 0.02, 0.31];
    const runs = compared.runs.flatMap((run, index) => {
      const stolenShare = shares[index];
      return stolenShare === undefined
        ? []
        : [{ ...run, measurement: { ...run.measurement, stolenShare } }];
    });
    expect(markdownReport({ ...compared, runs })).toContain(
      '- kept by the host: 2.00 % of the processor time of a run, at most 31.0 %',
    );
  });

  it('escapes a bar so that it does not end its cell', () => {
    expect(table(['a'], [['x|y']])).toBe('| a |\n| --- |\n| x\\|y |');
  });
});

describe('the scaling table', () => {
  const scaled = sampleResults([
    { scenario: 'members-7-write', system: 'rookery', values: { perSecond: [50, 60, 70] } },
    { scenario: 'members-3-write', system: 'rookery', values: { perSecond: [120] } },
    { scenario: 'members-3-read', system: 'rookery', values: { perSecond: [7] } },
  ]);

  it('is ordered by size, and relates each figure to the smallest size of its system', () => {
    const tables = scalingTables(scaled);
    const writes = tables.find(({ what }) => what === 'setData');
    const column = writes?.figures.findIndex(({ key }) => key === 'perSecond') ?? -1;
    expect(writes?.rows.map(({ at }) => at)).toEqual([3, 7]);
    expect(writes?.rows.map(({ values }) => values[column])).toEqual([120, 60]);
    expect(writes?.rows.map(({ growth }) => growth[column])).toEqual([1, 0.5]);
    expect(tables.find(({ what }) => what === 'getData')?.rows).toHaveLength(1);
  });
});

describe('a percentile curve', () => {
  it('ends at the last percentile that has a value of its own', () => {
    const ms = Array.from({ length: 100 }, (_, index) => index + 1);
    const curve = curveOf(latencyOf(...ms));
    expect(curve[0]).toEqual({ x: 1, y: expect.closeTo(1, 1) });
    expect(curve.at(-1)?.x).toBeCloseTo(100);
    expect(curve.at(-1)?.y).toBeGreaterThanOrEqual(99);
    expect(curveOf(new Histogram())).toEqual([]);
  });
});

describe('a figure', () => {
  it('has three significant digits, and a count without decimals is whole', () => {
    expect(formatValue(1_234_567, '1/s')).toBe('1.23M/s');
    expect(formatValue(74_700, '1/s')).toBe('74.7k/s');
    expect(formatValue(0.6234, 'ms')).toBe('0.62 ms');
    expect(formatValue(0, '')).toBe('0');
    expect(formatValue(2, '')).toBe('2');
    expect(formatValue(2.5, '')).toBe('2.50');
    expect(formatValue(Number.NaN, 'ms')).toBe('-');
  });
});

function latencyOf(...valuesMs: readonly number[]): Histogram {
  const latency = new Histogram();
  for (const valueMs of valuesMs) latency.add(valueMs * 1000);
  return latency;
}
