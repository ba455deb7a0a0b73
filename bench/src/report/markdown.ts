/**
 * The report as bench/RESULTS.md: facts, targets, all figures, scaling. Losses are shown like
 * gains.
 */
import {
  compare,
  formatRatio,
  formatSummary,
  ratioHeads,
  type ScenarioRows,
} from './comparison.js';
import { caveat, factLines } from './facts-text.js';
import type { Results } from './results.js';
import { type ScalingTable, scalingTables } from './scaling.js';
import { type Verdict, verdictsOf } from './targets.js';
import { goalMeasured, goalText } from './text.js';
import { formatValue } from './units.js';

export function markdownReport(results: Results): string {
  const warning = caveat(results);
  const parts = [
    '# Results of `npm run bench`',
    'Written by the bench itself (`--write-results`). Medians of the rounds, with the lowest and ' +
      'the highest; a ratio is that of the medians, with the lowest and the highest of a round, ' +
      'and above 1 means that the first system is better.',
    factLines(results)
      .map(([name, value]) => `- ${name}: ${value}`)
      .join('\n'),
    ...(warning === null ? [] : [`**${warning}**`]),
    '## Targets',
    targetsTable(verdictsOf(results)),
    '## Figures',
    ...compare(results).map((rows) => scenarioTable(results, rows)),
    '## Scaling',
    ...scalingTables(results).map(scalingTable),
    ...(results.skipped.length === 0 ? [] : ['## Not run']),
    ...results.skipped.map((reason) => `- ${reason}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

function targetsTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.flatMap(({ what, goals }) =>
    goals.map((goal) => [what, goal.title, goalText(goal), goalMeasured(goal)]),
  );
  return table(['what', 'figure', 'goal', 'measured'], rows);
}

function scenarioTable(results: Results, { scenario, rows, troubles }: ScenarioRows): string {
  const head = ['', ...results.systems, ...ratioHeads(results)];
  const cells = rows.map(({ figure, summaries, ratios }) => [
    figure.title,
    ...summaries.map((summary) => formatSummary(summary, figure)),
    ...ratios.map(formatRatio),
  ]);
  const notes = troubles.map((trouble) => `- trouble: ${trouble}`);
  return [
    `**${scenario.title}** (\`${scenario.name}\`)`,
    table(head, cells),
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ].join('\n\n');
}

function scalingTable({ dimension, what, figures, rows }: ScalingTable): string {
  const head = [dimension, 'system', ...figures.map(({ title }) => title)];
  const cells = rows.map(({ at, system, values }) => [
    String(at),
    system,
    ...values.map((value, index) =>
      value === null ? '-' : formatValue(value, figures[index]?.unit ?? ''),
    ),
  ]);
  return `**${what}, by ${dimension}**\n\n${table(head, cells)}`;
}

/** A `|` would end the cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
