/**
 * The report on a terminal: a table of all scenarios, the scaling, the targets.
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
import { type GoalVerdict, type Verdict, verdictsOf } from './targets.js';
import { formatValue, significant } from './units.js';

const COLUMN_GAP = 2;

export function textReport(results: Results): string {
  const warning = caveat(results);
  const parts = [
    factLines(results)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    ...(warning === null ? [] : [`NOTE: ${warning}`]),
    ...compare(results).map((rows) => scenarioText(results, rows)),
    ...scalingTables(results).map(scalingText),
    targetsText(verdictsOf(results)),
    ...results.skipped.map((reason) => `skipped: ${reason}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

function scenarioText(results: Results, { scenario, rows, troubles }: ScenarioRows): string {
  const cells = rows.map(({ figure, summaries, ratios }) => [
    `  ${figure.title}`,
    ...summaries.map((summary) => formatSummary(summary, figure)),
    ...ratios.map(formatRatio),
  ]);
  const head = ['', ...results.systems, ...ratioHeads(results)];
  return [
    `${scenario.name}: ${scenario.title}`,
    alignColumns([head, ...cells]),
    ...troubles.map((trouble) => `  !! ${trouble}`),
  ].join('\n');
}

function scalingText({ dimension, what, figures, rows }: ScalingTable): string {
  const head = [`  ${dimension}`, 'system', ...figures.map(({ title }) => title)];
  const cells = rows.map(({ at, system, values, growth }) => [
    `  ${at}`,
    system,
    ...values.map((value, index) => {
      const unit = figures[index]?.unit ?? '';
      return value === null ? '-' : `${formatValue(value, unit)}${growthText(growth[index])}`;
    }),
  ]);
  return `how ${what} grows with ${dimension}\n${alignColumns([head, ...cells])}`;
}

function growthText(growth: number | null | undefined): string {
  return growth === null || growth === undefined || growth === 1
    ? ''
    : ` (${significant(growth)}x)`;
}

function targetsText(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return 'targets: a quick run says nothing about them';
  const measured = verdicts.filter(({ goals }) => goals.some((goal) => goal.measured !== null));
  const cells = measured.flatMap(({ what, outcome, goals }) => [
    [`  ${outcome}`, what, '', ''],
    ...goals.map((goal) => ['', `  ${goal.title}`, goalText(goal), goalMeasured(goal)]),
  ]);
  const met = verdicts.filter(({ outcome }) => outcome === 'met').length;
  const head = `targets: ${met} of ${verdicts.length} met, ${measured.length} measured`;
  return `${head}\n${alignColumns(cells)}`.trimEnd();
}

/** Returns the goal as text. */
export function goalText({ goal, unit }: GoalVerdict): string {
  if (goal.kind === 'ratio') return `at least ${goal.least}x`;
  const isInEveryRound = goal.kind === 'everyRoundAtMost';
  if (isInEveryRound && goal.most === 0) return 'none in any round';
  return `at most ${formatValue(goal.most, unit)}${isInEveryRound ? ' in every round' : ''}`;
}

/** Returns the measurement as text. */
export function goalMeasured({ outcome, measured, baseline, ratio, unit }: GoalVerdict): string {
  if (measured === null) return 'not measured';
  const parts = [formatValue(measured, unit)];
  if (baseline !== null) parts.push(`ZooKeeper ${formatValue(baseline, unit)}`);
  const ratioText = formatRatio(ratio);
  if (ratioText !== '-') parts.push(`ratio ${ratioText}`);
  // Only a ratio can lack a verdict here: ZooKeeper was not measured.
  if (outcome === 'not measured') return `${parts.join(', ')}; nothing to compare with`;
  return `${parts.join(', ')}: ${outcome}`;
}

/** Each column is as wide as its widest cell; the last one is not padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd((widths[column] ?? 0) + COLUMN_GAP))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
