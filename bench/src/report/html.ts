/**
 * The report as one HTML file that needs nothing else: tables, charts and the chart library inside.
 *
 * Everything that comes from outside (titles, troubles, the machine) is escaped. Chart.js's own
 * minified bundle is put in as it is published.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chartsOf } from './charts.js';
import { compare, formatRatio, formatSummary, type ScenarioRows } from './comparison.js';
import { caveat, factLines } from './facts-text.js';
import { SCRIPT, STYLE } from './page.js';
import type { Results } from './results.js';
import { type ScalingTable, scalingTables } from './scaling.js';
import { type Verdict, verdictsOf } from './targets.js';
import { goalMeasured, goalText } from './text.js';
import { formatValue, significant } from './units.js';

export function htmlReport(results: Results, chartLibrary: string): string {
  const scenarios = compare(results);
  const charts = scenarios.flatMap(({ scenario }) => chartsOf(results, scenario));
  const warning = caveat(results);
  const body = [
    `<h1>${escapeHtml(results.systems.join(' and '))}, measured</h1>`,
    ...(warning === null ? [] : [`<p class="caveat">${escapeHtml(warning)}</p>`]),
    tableHtml(
      [],
      factLines(results).map((line) => line.map(escapeHtml)),
    ),
    '<h2>Targets</h2>',
    targetsHtml(verdictsOf(results)),
    '<h2>Scenarios</h2>',
    '<p>Medians of the rounds, in brackets the lowest and the highest. The ratio says how much ' +
      'better the first system is. Percentile curves hold all rounds; time series the last.</p>',
    ...scenarios.map((rows) => scenarioHtml(results, rows)),
    '<h2>Scaling</h2>',
    ...scalingTables(results).map(scalingHtml),
    ...results.skipped.map((reason) => `<p>Not run: ${escapeHtml(reason)}</p>`),
  ];
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Bench report</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<style>${STYLE}</style></head><body>`,
    ...body,
    `<script type="application/json" id="charts">${jsonForScript(charts)}</script>`,
    `<script>${scriptSafe(chartLibrary)}</script><script>${SCRIPT}</script></body></html>\n`,
  ].join('\n');
}

/** The bundle for browsers lies beside the module that Node resolves. */
export function readChartLibrary(): string {
  const main = createRequire(import.meta.url).resolve('chart.js');
  const bundle = readFileSync(join(dirname(main), 'chart.umd.min.js'), 'utf8');
  return bundle.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

function targetsHtml(verdicts: readonly Verdict[]): string {
  const rows = verdicts.flatMap(({ what, outcome, goals }) =>
    goals.map((goal, index) => [
      index === 0 ? mark(outcome, outcome) : '',
      index === 0 ? escapeHtml(what) : '',
      escapeHtml(goal.title),
      escapeHtml(goalText(goal)),
      mark(goal.outcome, goalMeasured(goal)),
    ]),
  );
  return tableHtml(['', 'what', 'figure', 'goal', 'measured'], rows);
}

function scenarioHtml(results: Results, { scenario, rows, troubles }: ScenarioRows): string {
  const isCompared = results.systems.length > 1;
  const head = ['', ...results.systems, ...(isCompared ? ['ratio'] : [])].map(escapeHtml);
  const cells = rows.map(({ figure, summaries, ratio }) =>
    [
      figure.title,
      ...summaries.map((summary) => formatSummary(summary, figure)),
      ...(isCompared ? [formatRatio(ratio)] : []),
    ].map(escapeHtml),
  );
  const canvases = chartsOf(results, scenario).map(
    ({ id }) => `<div><canvas id="${escapeHtml(id)}"></canvas></div>`,
  );
  return [
    `<h3>${escapeHtml(scenario.title)} <code>${escapeHtml(scenario.name)}</code></h3>`,
    tableHtml(head, cells),
    ...troubles.map((trouble) => `<p class="trouble">${escapeHtml(trouble)}</p>`),
    `<div class="charts">${canvases.join('')}</div>`,
  ].join('\n');
}

function scalingHtml({ dimension, what, figures, rows }: ScalingTable): string {
  const head = [dimension, 'system', ...figures.map(({ title }) => title)].map(escapeHtml);
  const cells = rows.map(({ at, system, values, growth }) => [
    String(at),
    escapeHtml(system),
    ...values.map((value, index) => {
      if (value === null) return '-';
      const times = growth[index] ?? null;
      const text = formatValue(value, figures[index]?.unit ?? '');
      return escapeHtml(times === null || times === 1 ? text : `${text} (${significant(times)}x)`);
    }),
  ]);
  return `<h3>${escapeHtml(what)}, by ${escapeHtml(dimension)}</h3>${tableHtml(head, cells)}`;
}

function mark(outcome: string, text: string): string {
  return `<span class="${outcome.replaceAll(' ', '-')}">${escapeHtml(text)}</span>`;
}

/** Cells are HTML already. */
function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  const top = head.length === 0 ? '' : `<thead>${row(head, 'th')}</thead>`;
  const body = rows.map((cells) => row(cells, 'td')).join('\n');
  return `<div class="wide"><table>${top}<tbody>${body}</tbody></table></div>`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Data must not end the element it stands in. */
function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** Nor must a string of the library. */
function scriptSafe(code: string): string {
  return code.replaceAll('</script', '<\\/script');
}
