/**
 * The rows of every table: one for each scenario and figure, with a summary of each system's
 * rounds.
 *
 * Pure. A ratio says how much better the first system is than another one, whichever direction is
 * better for the figure.
 */
import type { Figure } from '../scenarios/scenario.js';
import { type Results, runsOf, type ScenarioFacts, valuesOf } from './results.js';
import { type Ratio, ratioOf, type Summary, summarize } from './statistics.js';
import { formatValue, significant } from './units.js';

export interface FigureRow {
  readonly figure: Figure;
  /** In the order of the results' systems. */
  readonly summaries: readonly (Summary | null)[];
  /** To each system but the first; null where one of both was not measured. */
  readonly ratios: readonly (Ratio | null)[];
}

export interface ScenarioRows {
  readonly scenario: ScenarioFacts;
  readonly rows: readonly FigureRow[];
  /** Each trouble once, with the system that had it. */
  readonly troubles: readonly string[];
}

/** Returns the rows of scenarios that have any run. */
export function compare(results: Results): readonly ScenarioRows[] {
  return results.scenarios.flatMap((scenario) => {
    const rows = scenario.figures.map((figure) => rowOf(results, scenario.name, figure));
    const isMeasured = rows.some(({ summaries }) => summaries.some((one) => one !== null));
    return isMeasured ? [{ scenario, rows, troubles: troublesOf(results, scenario.name) }] : [];
  });
}

/** The figure's summaries and ratios, whether it was measured or not. */
export function rowOf(results: Results, scenario: string, figure: Figure): FigureRow {
  const values = results.systems.map((system) =>
    valuesOf(results, { scenario, system, figure: figure.key }),
  );
  const [measured = [], ...others] = values;
  return {
    figure,
    summaries: values.map(summarize),
    ratios: others.map((other) => ratioOf(measured, other, figure.better)),
  };
}

/** Returns the heads of the columns that contain the ratios. */
export function ratioHeads({ systems }: Results): readonly string[] {
  const others = systems.slice(1);
  return others.length === 1 ? ['ratio'] : others.map((other) => `ratio to ${other}`);
}

function troublesOf(results: Results, scenario: string): readonly string[] {
  const told = results.systems.flatMap((system) =>
    runsOf(results, { scenario, system }).flatMap(({ round, measurement }) =>
      measurement.troubles.map((trouble) => `${system}, round ${round}: ${trouble}`),
    ),
  );
  return [...new Set(told)];
}

/** A row's summaries and ratios as text, under the systems' names and `ratioHeads`. */
export function cellsOf({ figure, summaries, ratios }: FigureRow): readonly string[] {
  return [...summaries.map((one) => formatSummary(one, figure)), ...ratios.map(formatRatio)];
}

/**
 * For instance `25.1k/s (24.0 to 26.2k/s)`; the spread is shown only if there was more than one
 * round.
 */
export function formatSummary(summary: Summary | null, { unit }: Figure): string {
  if (summary === null) return '-';
  const median = formatValue(summary.median, unit);
  if (summary.runs === 1) return median;
  const highest = formatValue(summary.highest, unit);
  const lowest = formatValue(summary.lowest, unit);
  return `${median} (${withoutUnitOf(highest, lowest)} to ${highest})`;
}

/**
 * Returns the number alone if both have the same unit: `900/s to 1.20k/s`, but `1.10 to 1.20k/s`.
 */
function withoutUnitOf(other: string, text: string): string {
  const unit = other.replace(/^[-\d.]+/, '');
  return unit !== '' && text.replace(/^[-\d.]+/, '') === unit ? text.slice(0, -unit.length) : text;
}

/** For instance `1.64x (1.50 to 1.71)`. */
export function formatRatio(ratio: Ratio | null): string {
  if (ratio === null || !Number.isFinite(ratio.ofMedians)) return '-';
  const { ofMedians, lowest, highest } = ratio;
  const spread = lowest === highest ? '' : ` (${significant(lowest)} to ${significant(highest)})`;
  return `${significant(ofMedians)}x${spread}`;
}
