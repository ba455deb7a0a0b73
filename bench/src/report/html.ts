/**
 * The report as one HTML file that needs nothing else: tables, charts and the chart library are
 * inside.
 *
 * Everything that comes from outside (titles, troubles, the machine) is escaped. Chart.js's own
 * minified bundle is included unchanged.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { chartsOf } from './charts.js';
import { cellsOf, compare, ratioHeads, type ScenarioRows } from './comparison.js';
import { caveat, factLines } from './facts-text.js';
import { SCRIPT, STYLE } from './page.js';
import type { Results } from './results.js';
import { type ScalingTable, scalingTables } from './scaling.js';
import { boundText } from './text.js';
import { formatValue, significant } from './units.js';
import {
  countsOf,
  type GoalVerdict,
  isMeasured,
  type Section,
  sectionsOf,
  type Verdict,
} from './verdicts.js';

const SCALING_NOTE =
  '<p>Medians, in brackets how many times that of the smallest size of the same system.</p>';

export function htmlReport(results: Results, chartLibrary: string): string {
  const scenarios = compare(results);
  const charts = scenarios.flatMap(({ scenario }) => chartsOf(results, scenario));
  const warning = caveat(results);
  const title = `Bench of ${results.systems.join(' and ')}`;
  const subtitle = subtitleOf(results);
  const facts = factLines(results).map((line) => line.map(escapeHtml));
  const scaling = scalingTables(results);
  const body = [
    `<h1>${escapeHtml(title)}</h1>`,
    `<p class="subtitle">${escapeHtml(subtitle)}</p>`,
    ...(warning === null ? [] : [`<p class="caveat">${escapeHtml(warning)}</p>`]),
    '<noscript><p class="caveat">The charts need JavaScript.</p></noscript>',
    `<div class="facts">${tableHtml([], facts)}</div>`,
    ...(results.settings.isQuick ? ['<p>A quick run says nothing about the targets.</p>'] : []),
    ...sectionsOf(results).map((section) => sectionHtml(results, section)),
    '<h2>Scenarios</h2>',
    `<p>${escapeHtml(legendOf(results))}</p>`,
    ...scenarios.map((rows) => scenarioHtml(results, rows)),
    ...(scaling.length === 0 ? [] : ['<h2>Scaling</h2>', SCALING_NOTE]),
    ...scaling.map(scalingHtml),
    ...results.skipped.map((reason) => `<p>Not run: ${escapeHtml(reason)}</p>`),
  ];
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${escapeHtml(`${title}: ${subtitle}`)}</title>`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<style>${STYLE}</style></head><body>`,
    ...body,
    `<script type="application/json" id="charts">${jsonForScript(charts)}</script>`,
    `<script>${scriptSafe(chartLibrary)}</script><script>${SCRIPT}</script></body></html>\n`,
  ].join('\n');
}

/** The bundle for browsers is next to the module that Node resolves. */
export function readChartLibrary(): string {
  const main = createRequire(import.meta.url).resolve('chart.js');
  const bundle = readFileSync(join(dirname(main), 'chart.umd.min.js'), 'utf8');
  return bundle.replace(/^\/\/# sourceMappingURL=.*$/m, '');
}

/** When, what and where, in one line. */
function subtitleOf({ startedAt, commit, machine }: Results): string {
  const date = startedAt.replace(/T(\d\d:\d\d).*$/, ' $1 UTC');
  return `${date}, commit ${commit}, on ${machine.cpu} with ${machine.cores} cores`;
}

function legendOf({ settings, systems }: Results): string {
  const rounds = 'Medians of the rounds, in brackets the lowest and the highest.';
  const ratio = `A ratio says how much better ${systems[0]} is.`;
  return [
    ...(settings.rounds > 1 ? [rounds] : ['One round.']),
    ...(systems.length > 1 ? [ratio] : []),
  ].join(' ');
}

/**
 * Shows the targets that were measured, and the others on request: most runs are of a few
 * scenarios.
 */
function sectionHtml(results: Results, section: Section): string {
  const { title, verdicts } = section;
  const measured = verdicts.filter(isMeasured);
  const others = verdicts.filter((verdict) => !isMeasured(verdict));
  return [
    `<h2>${escapeHtml(title)}</h2>`,
    `<p>${countsOf(section)}.</p>`,
    ...(measured.length === 0 ? [] : [targetTable(results, measured)]),
    ...(others.length === 0
      ? []
      : [
          `<details><summary>${others.length} not measured</summary>`,
          `${targetTable(results, others)}</details>`,
        ]),
  ].join('\n');
}

function targetTable(results: Results, verdicts: readonly Verdict[]): string {
  const heads = ['figure', ...results.systems, ...ratioHeads(results), 'goals'];
  const rows = verdicts.flatMap(({ what, outcome, goals }) => [
    `<tr><th colspan="${heads.length}">${escapeHtml(what)} ${mark(outcome, outcome)}</th></tr>`,
    ...goals.map((goal) =>
      row('td', [
        escapeHtml(goal.row.figure.title),
        ...cellsOf(goal.row).map(withSpread),
        goalsHtml(goal),
      ]),
    ),
  ]);
  const head = row('th', heads.map(escapeHtml));
  const body = rows.join('\n');
  const table = `<table><thead>${head}</thead><tbody>${body}</tbody></table>`;
  return `<div class="wide targets">${table}</div>`;
}

function goalsHtml({ row, bounds }: GoalVerdict): string {
  return bounds.map((bound) => mark(bound.outcome, boundText(bound, row.figure.unit))).join('<br>');
}

function scenarioHtml(results: Results, { scenario, rows, troubles }: ScenarioRows): string {
  const head = ['', ...results.systems, ...ratioHeads(results)].map(escapeHtml);
  const cells = rows.map((row) => [escapeHtml(row.figure.title), ...cellsOf(row).map(withSpread)]);
  const canvases = chartsOf(results, scenario).map(({ id, title }) => {
    const label = escapeHtml(`${scenario.title}: ${title}`);
    return `<div><canvas id="${escapeHtml(id)}" role="img" aria-label="${label}"></canvas></div>`;
  });
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
      return withSpread(times === null || times === 1 ? text : `${text} (${significant(times)}x)`);
    }),
  ]);
  return `<h3>${escapeHtml(what)}, by ${escapeHtml(dimension)}</h3>${tableHtml(head, cells)}`;
}

function mark(outcome: string, text: string): string {
  return `<span class="${outcome.replaceAll(' ', '-')}">${escapeHtml(text)}</span>`;
}

/** A line break is allowed only before the brackets, whose content is set smaller. */
function withSpread(text: string): string {
  const [, value = text, spread = ''] = /^(.*?) (\(.*\))$/.exec(text) ?? [];
  if (spread === '') return whole(value);
  return `${whole(value)} <span class="spread">${escapeHtml(spread)}</span>`;
}

/** No line break is allowed within it. */
function whole(text: string): string {
  return `<span class="whole">${escapeHtml(text)}</span>`;
}

/** The cells are HTML already. */
function tableHtml(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const top = head.length === 0 ? '' : `<thead>${row('th', head)}</thead>`;
  const body = rows.map((cells) => row('td', cells)).join('\n');
  return `<div class="wide"><table>${top}<tbody>${body}</tbody></table></div>`;
}

function row(tag: 'th' | 'td', cells: readonly string[]): string {
  return `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The data must not end the element that contains it. */
function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}

/** A string of the library must not end its element either. */
function scriptSafe(code: string): string {
  return code.replaceAll('</script', '<\\/script');
}
