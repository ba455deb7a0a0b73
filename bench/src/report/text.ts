/**
 * The report on a terminal: a table of all scenarios, the scaling, the targets.
 */
import { unreachable } from '@rookery/protocol';
import type { Unit } from '../scenarios/scenario.js';
import { cellsOf, compare, ratioHeads, type ScenarioRows } from './comparison.js';
import { caveat, factLines } from './facts-text.js';
import type { Results } from './results.js';
import { type ScalingTable, scalingTables } from './scaling.js';
import { formatValue, significant } from './units.js';
import {
  type BoundVerdict,
  countsOf,
  type GoalVerdict,
  isMeasured,
  type Section,
  sectionsOf,
} from './verdicts.js';

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
    ...(results.settings.isQuick ? ['A quick run says nothing about the targets.'] : []),
    ...sectionsOf(results).map((section) => sectionText(results, section)),
    ...results.skipped.map((reason) => `skipped: ${reason}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

function scenarioText(results: Results, { scenario, rows, troubles }: ScenarioRows): string {
  const cells = rows.map((row) => [`  ${row.figure.title}`, ...cellsOf(row)]);
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

function sectionText(results: Results, section: Section): string {
  const cells = section.verdicts
    .filter(isMeasured)
    .flatMap(({ what, outcome, goals }) => [
      [`  ${what}: ${outcome}`],
      ...goals.map((goal) => [
        `    ${goal.row.figure.title}`,
        ...cellsOf(goal.row),
        goalsText(goal),
      ]),
    ]);
  const head = ['', ...results.systems, ...ratioHeads(results), 'goals'];
  return `${section.title}: ${countsOf(section)}\n${alignColumns([head, ...cells])}`;
}

function goalsText({ row, bounds }: GoalVerdict): string {
  return bounds.map((bound) => boundText(bound, row.figure.unit)).join(', ');
}

/** For instance `ratio to zookeeper at least 9x: met`. */
export function boundText({ bound, outcome }: BoundVerdict, unit: Unit): string {
  switch (bound.kind) {
    case 'ratio':
      return `ratio to ${bound.to} at least ${bound.least}x: ${outcome}`;
    case 'atMost':
      return `at most ${formatValue(bound.most, unit)}: ${outcome}`;
    case 'everyRoundAtMost':
      return bound.most === 0
        ? `none in any round: ${outcome}`
        : `at most ${formatValue(bound.most, unit)} in every round: ${outcome}`;
    default:
      return unreachable(bound);
  }
}

/** Each column is as wide as its widest cell; a row's last one neither counts nor is padded. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.slice(0, -1).entries()) {
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
