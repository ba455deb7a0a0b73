/**
 * Whether Rookery reaches its targets and keeps to its bounds, by the figures of one bench.
 *
 * A row is met if each of its goals is, and a goal if each of its bounds is. A bound that compares
 * with a system that was not measured has no verdict, and so has its row, unless another bound of
 * it is missed. Pure.
 */
import { unreachable } from '@rookery/protocol';
import type { Figure } from '../scenarios/scenario.js';
import { SCENARIOS } from '../scenarios/table.js';
import { type FigureRow, rowOf } from './comparison.js';
import type { Results } from './results.js';
import { type Bound, type Goal, MEASURED, OTHER_BOUNDS, TARGETS, type Target } from './targets.js';

/** The earliest one of several decides. */
const OUTCOMES = ['not met', 'not measured', 'nothing to compare with', 'met'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Verdict {
  readonly what: string;
  readonly outcome: Outcome;
  readonly goals: readonly GoalVerdict[];
}

export interface GoalVerdict {
  readonly row: FigureRow;
  readonly outcome: Outcome;
  readonly bounds: readonly BoundVerdict[];
}

export interface BoundVerdict {
  readonly bound: Bound;
  readonly outcome: Outcome;
}

/** The verdicts that a report shows under one heading. */
export interface Section {
  readonly title: string;
  readonly verdicts: readonly Verdict[];
}

/** There are none for a quick run: its sizes are so small that a verdict on them would be wrong. */
export function sectionsOf(results: Results): readonly Section[] {
  if (results.settings.isQuick) return [];
  return [
    { title: 'Targets', verdicts: verdictsOf(results, TARGETS) },
    { title: 'Other bounds', verdicts: verdictsOf(results, OTHER_BOUNDS) },
  ];
}

function verdictsOf(results: Results, targets: readonly Target[]): readonly Verdict[] {
  return targets.map(({ what, goals }) => {
    const verdicts = goals.map((goal) => verdictOf(results, goal));
    return { what, outcome: together(verdicts), goals: verdicts };
  });
}

/** For instance `3 of 19 met, 5 measured`. */
export function countsOf({ verdicts }: Section): string {
  const met = verdicts.filter(({ outcome }) => outcome === 'met').length;
  return `${met} of ${verdicts.length} met, ${verdicts.filter(isMeasured).length} measured`;
}

/** A part of it may not have been measured. */
export function isMeasured({ goals }: Verdict): boolean {
  return goals.some(({ outcome }) => outcome !== 'not measured');
}

function together(parts: readonly { readonly outcome: Outcome }[]): Outcome {
  return OUTCOMES.find((one) => parts.some(({ outcome }) => outcome === one)) ?? 'met';
}

function verdictOf(results: Results, goal: Goal): GoalVerdict {
  const row = rowOf(results, goal.scenario, figureOf(goal));
  const bounds = goal.bounds.map((bound) => ({
    bound,
    outcome: outcomeOf(bound, row, results.systems),
  }));
  return { row, outcome: together(bounds), bounds };
}

function figureOf({ scenario, figure }: Goal): Figure {
  const found = SCENARIOS.find(({ name }) => name === scenario);
  const facts = found?.figures.find(({ key }) => key === figure);
  if (facts === undefined) throw new Error(`${scenario} does not measure ${figure}`);
  return facts;
}

/** Servers that the bench only connects to are not judged, whatever they are. */
function outcomeOf(bound: Bound, row: FigureRow, systems: readonly string[]): Outcome {
  const own = row.summaries[systems.indexOf(MEASURED)] ?? null;
  if (own === null) return 'not measured';
  switch (bound.kind) {
    case 'ratio': {
      // The first system has no ratio to itself.
      const ratio = row.ratios[systems.indexOf(bound.to) - 1] ?? null;
      if (ratio === null) return 'nothing to compare with';
      return ratio.ofMedians >= bound.least ? 'met' : 'not met';
    }
    case 'atMost':
      return own.median <= bound.most ? 'met' : 'not met';
    case 'everyRoundAtMost':
      return own.highest <= bound.most ? 'met' : 'not met';
    default:
      return unreachable(bound);
  }
}
