/**
 * What Rookery must reach, row by row, and whether it does.
 *
 * A goal is a ratio to ZooKeeper measured in the same run, a bound of Rookery's own median, or a
 * bound of each round, where a median would hide what must never happen. The rows are the project's
 * targets, and one for each bad neighbour. A row is met if each of its goals is. Pure.
 */
import { BAD_NEIGHBOURS } from '../bad-neighbours/all.js';
import { goalsOf } from '../bad-neighbours/goals.js';
import type { Figure, Unit } from '../scenarios/scenario.js';
import { SCENARIOS } from '../scenarios/table.js';
import { type Results, valuesOf } from './results.js';
import { type Ratio, ratioOf, summarize } from './statistics.js';

export type Goal =
  | {
      readonly kind: 'ratio';
      readonly scenario: string;
      readonly figure: string;
      readonly least: number;
    }
  | {
      readonly kind: 'atMost';
      readonly scenario: string;
      readonly figure: string;
      readonly most: number;
    }
  | {
      readonly kind: 'everyRoundAtMost';
      readonly scenario: string;
      readonly figure: string;
      readonly most: number;
    };

export interface Target {
  readonly what: string;
  readonly goals: readonly Goal[];
}

export type Outcome = 'met' | 'not met' | 'not measured';

export interface Verdict {
  readonly what: string;
  readonly outcome: Outcome;
  readonly goals: readonly GoalVerdict[];
}

export interface GoalVerdict {
  readonly goal: Goal;
  readonly title: string;
  readonly unit: Unit;
  readonly outcome: Outcome;
  /** Rookery's median; for a bound of every round, its worst round. */
  readonly measured: number | null;
  /** The same value for ZooKeeper. */
  readonly baseline: number | null;
  readonly ratio: Ratio | null;
}

const ratio = (scenario: string, figure: string, least: number): Goal => ({
  kind: 'ratio',
  scenario,
  figure,
  least,
});
const atMost = (scenario: string, figure: string, most: number): Goal => ({
  kind: 'atMost',
  scenario,
  figure,
  most,
});
const never = (scenario: string, figure: string): Goal => ({
  kind: 'everyRoundAtMost',
  scenario,
  figure,
  most: 0,
});

export const TARGETS: readonly Target[] = [
  {
    what: 'getData 100 B, 30 connections x 32',
    goals: [ratio('mix-100-w32', 'perSecond', 14), atMost('mix-100-w32', 'p99Ms', 5)],
  },
  {
    what: 'setData 100 B, 30 connections x 32',
    goals: [
      ratio('mix-0-w32', 'perSecond', 6),
      atMost('mix-0-w32', 'p99Ms', 20),
      atMost('mix-0-w32', 'p999Ms', 50),
    ],
  },
  {
    what: 'create 100 B, 30 connections x 32',
    goals: [ratio('create-w32', 'perSecond', 5), atMost('create-w32', 'p999Ms', 100)],
  },
  { what: '70 % get, 30 % set, 30 x 32', goals: [ratio('mix-70-w32', 'perSecond', 6)] },
  { what: 'setData 1 KB, 30 connections x 32', goals: [ratio('value-1024-write', 'perSecond', 5)] },
  { what: 'getData 1 KB, 30 connections x 32', goals: [ratio('value-1024-read', 'perSecond', 8)] },
  {
    what: 'setData 8 KB and 64 KB, 8 connections x 4',
    goals: [ratio('value-8192-write', 'perSecond', 2), ratio('value-65536-write', 'perSecond', 2)],
  },
  { what: 'setData, five members', goals: [ratio('members-5-write', 'perSecond', 6)] },
  {
    what: 'setData, 30 connections x 1',
    goals: [ratio('mix-0-w1', 'perSecond', 2.3), atMost('mix-0-w1', 'p99Ms', 5)],
  },
  { what: 'getData, 30 connections x 1', goals: [ratio('mix-100-w1', 'perSecond', 2.8)] },
  {
    what: 'a znode just created, seen through another member',
    goals: [ratio('create-seen', 'seenPercent', 1)],
  },
  { what: 'setData, 1 connection x 1', goals: [atMost('single-write', 'p50Ms', 0.5)] },
  { what: 'leader killed: longest gap', goals: [atMost('failover-kill', 'gapMs', 100)] },
  {
    what: 'leader frozen: longest gap, and no election by load alone',
    goals: [atMost('failover-freeze', 'gapMs', 1500), never('failover-freeze', 'elections')],
  },
  { what: 'cold start to serving', goals: [atMost('cold-start', 'servingMs', 700)] },
  { what: '1M znodes: memory per member', goals: [atMost('znodes-1m', 'memberMb', 400)] },
  {
    what: '1M znodes: loading, and a reader meanwhile',
    goals: [ratio('znodes-1m', 'loadPerSecond', 4), atMost('znodes-1m', 'readerMaxMs', 50)],
  },
  { what: '1M znodes: killed follower back', goals: [atMost('znodes-1m', 'diffBackMs', 1500)] },
  { what: '1M znodes: all restarted', goals: [atMost('znodes-1m', 'restartMs', 3000)] },
  { what: '1M znodes: disk of three members', goals: [atMost('znodes-1m', 'diskMb', 1200)] },
  { what: '3000 sessions: connect all', goals: [atMost('sessions-3000', 'connectMs', 900)] },
  { what: 'one change seen by 3000 watchers', goals: [atMost('watches-3000', 'fanOutMs', 50)] },
  {
    what: 'memory per member, empty and with 3000 sessions',
    goals: [atMost('sessions-3000', 'emptyMb', 90), atMost('sessions-3000', 'memberMb', 120)],
  },
  {
    what: 'bytes written for a set of 100 B, and of 1 KB, by each member',
    goals: [atMost('written-100', 'diskBytes', 200), atMost('written-1024', 'diskBytes', 1229)],
  },
  {
    what: 'minutes at half of the maximum load',
    goals: [
      atMost('sustained-half', 'p999Ms', 50),
      atMost('sustained-half', 'growthPercent', 1),
      never('sustained-half', 'elections'),
    ],
  },
  { what: 'getData 100 B by TLS, 30 connections x 32', goals: [ratio('tls-read', 'perSecond', 8)] },
  {
    what: 'a scrape of each member in each second',
    goals: [atMost('scraped-writes', 'costPercent', 1)],
  },
  {
    what: '1M znodes: a backup of a running follower, and its clients meanwhile',
    goals: [atMost('backup-1m', 'saveSeconds', 10), atMost('backup-1m', 'readMaxMs', 20)],
  },
  {
    what: 'the client library, per call and per watch',
    goals: [
      atMost('client', 'callUs', 8),
      atMost('client', 'windowedCallUs', 8),
      atMost('client', 'watchBytes', 1024),
    ],
  },
  ...BAD_NEIGHBOURS.map((neighbour) => ({
    what: `beside: ${neighbour.what}`,
    goals: goalsOf(neighbour).map(
      (goal): Goal => ({ kind: 'everyRoundAtMost', scenario: neighbour.name, ...goal }),
    ),
  })),
];

/** The scenarios that the rows need, each once. */
export function scenariosOfTargets(): readonly string[] {
  return [...new Set(TARGETS.flatMap(({ goals }) => goals.map(({ scenario }) => scenario)))];
}

/** There are none for a quick run: its sizes are so small that a verdict on them would be wrong. */
export function verdictsOf(results: Results): readonly Verdict[] {
  if (results.settings.isQuick) return [];
  return TARGETS.map(({ what, goals }) => {
    const verdicts = goals.map((goal) => verdictOf(results, goal));
    return { what, outcome: outcomeOf(verdicts.map(({ outcome }) => outcome)), goals: verdicts };
  });
}

/** One missed goal means a missed row; one that was not measured leaves the row open. */
function outcomeOf(outcomes: readonly Outcome[]): Outcome {
  if (outcomes.includes('not met')) return 'not met';
  return outcomes.includes('not measured') ? 'not measured' : 'met';
}

function verdictOf(results: Results, goal: Goal): GoalVerdict {
  const { scenario, figure } = goal;
  const facts = figureOf(goal);
  const measured = valuesOf(results, { scenario, figure, system: 'rookery' });
  const baseline = valuesOf(results, { scenario, figure, system: 'zookeeper' });
  const compared =
    goal.kind === 'everyRoundAtMost' ? null : ratioOf(measured, baseline, facts.better);
  const own = decisive(goal, measured);
  return {
    goal,
    title: facts.title,
    unit: facts.unit,
    outcome: outcomeOfGoal(goal, own, compared),
    measured: own,
    baseline: decisive(goal, baseline),
    ratio: compared,
  };
}

function decisive({ kind }: Goal, rounds: readonly number[]): number | null {
  const summary = summarize(rounds);
  if (summary === null) return null;
  return kind === 'everyRoundAtMost' ? summary.highest : summary.median;
}

function figureOf({ scenario, figure }: Goal): Figure {
  const found = SCENARIOS.find(({ name }) => name === scenario);
  const facts = found?.figures.find(({ key }) => key === figure);
  if (facts === undefined) throw new Error(`${scenario} does not measure ${figure}`);
  return facts;
}

function outcomeOfGoal(goal: Goal, own: number | null, compared: Ratio | null): Outcome {
  if (goal.kind === 'ratio') {
    if (compared === null) return 'not measured';
    return compared.ofMedians >= goal.least ? 'met' : 'not met';
  }
  if (own === null) return 'not measured';
  return own <= goal.most ? 'met' : 'not met';
}
