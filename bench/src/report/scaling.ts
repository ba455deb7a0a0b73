/**
 * Shows how throughput, latency and memory grow with members, znodes, sessions, watches and value
 * size.
 *
 * A row is a scenario at one size. Rows that differ only in size are next to each other, smallest
 * first, and say how their figures relate to the smallest. Pure.
 */
import type { Figure } from '../scenarios/scenario.js';
import { type Results, type ScenarioFacts, valuesOf } from './results.js';
import { summarize } from './statistics.js';

export interface ScalingTable {
  readonly dimension: string;
  readonly what: string;
  readonly figures: readonly Figure[];
  readonly rows: readonly ScalingRow[];
}

export interface ScalingRow {
  readonly at: number;
  readonly system: string;
  /** In the order of the figures; null if a figure was not measured. */
  readonly values: readonly (number | null)[];
  /** Each value relative to that of the smallest size of the same system. */
  readonly growth: readonly (number | null)[];
}

export function scalingTables(results: Results): readonly ScalingTable[] {
  const groups = new Map<string, ScenarioFacts[]>();
  for (const scenario of results.scenarios) {
    if (scenario.scale === null) continue;
    const key = `${scenario.scale.dimension} ${scenario.scale.what}`;
    groups.set(key, [...(groups.get(key) ?? []), scenario]);
  }
  return [...groups.values()].flatMap((group) => {
    const table = tableOf(results, group);
    return table === null ? [] : [table];
  });
}

function tableOf(results: Results, group: readonly ScenarioFacts[]): ScalingTable | null {
  const [first, ...others] = group;
  if (first === undefined || first.scale === null) return null;
  // Only figures that all sizes measure are shown: the largest size may measure more.
  const figures = first.figures.filter(({ key }) =>
    others.every((other) => other.figures.some((figure) => figure.key === key)),
  );
  const rows = results.systems.flatMap((system) => rowsOf(results, { group, figures, system }));
  const { dimension, what } = first.scale;
  return rows.length === 0 ? null : { dimension, what, figures, rows };
}

function rowsOf(
  results: Results,
  table: {
    readonly group: readonly ScenarioFacts[];
    readonly figures: readonly Figure[];
    readonly system: string;
  },
): readonly ScalingRow[] {
  const { group, figures, system } = table;
  const sorted = [...group].sort((a, b) => (a.scale?.at ?? 0) - (b.scale?.at ?? 0));
  const measured = sorted.flatMap(({ name, scale }) => {
    const values = figures.map(({ key }) => {
      const rounds = valuesOf(results, { scenario: name, system, figure: key });
      return summarize(rounds)?.median ?? null;
    });
    const isMeasured = values.some((value) => value !== null);
    return isMeasured ? [{ at: scale?.at ?? 0, system, values }] : [];
  });
  const smallest = measured[0]?.values ?? [];
  return measured.map((row) => ({
    ...row,
    growth: row.values.map((value, index) => {
      const base = smallest[index] ?? null;
      return value === null || base === null || base === 0 ? null : value / base;
    }),
  }));
}
