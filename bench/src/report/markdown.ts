/**
 * The report as bench/RESULTS.md: facts, targets, all figures, scaling. Losses are shown like
 * gains.
 */
import { cellsOf, compare, ratioHeads, type ScenarioRows } from './comparison.js';
import { caveat, factLines } from './facts-text.js';
import type { Results } from './results.js';
import { type ScalingTable, scalingTables } from './scaling.js';
import { boundText } from './text.js';
import { formatValue } from './units.js';
import { countsOf, type GoalVerdict, isMeasured, type Section, sectionsOf } from './verdicts.js';

export function markdownReport(results: Results): string {
  const warning = caveat(results);
  const parts = [
    '# Results of `npm run bench`',
    'Written by the bench itself (`--write-results`). Medians of the rounds, with the lowest and ' +
      'the highest; a ratio is that of the medians, with the lowest and the highest of a round, ' +
      'and above 1 means that the first system is better.',
    listOf(factLines(results).map(([name, value]) => `${name}: ${value}`)),
    ...(warning === null ? [] : [`**${warning}**`]),
    ...sectionsOf(results).flatMap((section) => sectionParts(results, section)),
    '## Figures',
    ...compare(results).map((rows) => scenarioTable(results, rows)),
    '## Scaling',
    ...scalingTables(results).map(scalingTable),
    ...(results.skipped.length === 0 ? [] : ['## Not run']),
    ...results.skipped.map((reason) => `- ${reason}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** One row a figure, with all systems, ratios and goals; a goal that is missed is bold. */
function sectionParts(results: Results, section: Section): readonly string[] {
  const { title, verdicts } = section;
  const head = ['what', 'figure', ...results.systems, ...ratioHeads(results), 'goals'];
  const rows = verdicts
    .filter(isMeasured)
    .flatMap(({ what, goals }) =>
      goals.map((goal) => [what, goal.row.figure.title, ...cellsOf(goal.row), goalsText(goal)]),
    );
  const others = verdicts.filter((verdict) => !isMeasured(verdict));
  return [
    `## ${title}`,
    `${countsOf(section)}.`,
    ...(rows.length === 0 ? [] : [table(head, rows)]),
    ...(others.length === 0 ? [] : ['Not measured:', listOf(others.map(({ what }) => what))]),
  ];
}

function goalsText({ row, bounds }: GoalVerdict): string {
  const texts = bounds.map((bound) => {
    const text = boundText(bound, row.figure.unit);
    return bound.outcome === 'not met' ? `**${text}**` : text;
  });
  return texts.join(', ');
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

function scenarioTable(results: Results, { scenario, rows, troubles }: ScenarioRows): string {
  const head = ['', ...results.systems, ...ratioHeads(results)];
  const cells = rows.map((row) => [row.figure.title, ...cellsOf(row)]);
  const notes = troubles.map((trouble) => `trouble: ${trouble}`);
  return [
    `**${scenario.title}** (\`${scenario.name}\`)`,
    table(head, cells),
    ...(notes.length === 0 ? [] : [listOf(notes)]),
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
