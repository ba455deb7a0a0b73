/**
 * What Rookery must reach, as data: the targets, which compare it with ZooKeeper and with an
 * earlier build, and bounds on everything else, such as failover and each bad neighbour.
 *
 * A goal is one figure with what it must keep to: a ratio to another system of the same run, a
 * bound of the median, or a bound of each round, where a median would hide what must never happen.
 * Pure.
 */
import { BAD_NEIGHBOURS } from '../bad-neighbours/all.js';
import { goalsOf } from '../bad-neighbours/goals.js';
import type { SystemName } from '../systems/plan.js';

/** The system that has goals. */
export const MEASURED: SystemName = 'rookery';

export type Bound =
  | { readonly kind: 'ratio'; readonly to: SystemName; readonly least: number }
  | { readonly kind: 'atMost'; readonly most: number }
  | { readonly kind: 'everyRoundAtMost'; readonly most: number };

export interface Goal {
  readonly scenario: string;
  readonly figure: string;
  readonly bounds: readonly Bound[];
}

export interface Target {
  readonly what: string;
  readonly goals: readonly Goal[];
}

const toZooKeeper = (least: number): Bound => ({ kind: 'ratio', to: 'zookeeper', least });
const toBaseline = (least: number): Bound => ({ kind: 'ratio', to: 'baseline', least });
const atMost = (most: number): Bound => ({ kind: 'atMost', most });
const NEVER: Bound = { kind: 'everyRoundAtMost', most: 0 };

function goal(scenario: string, figure: string, ...bounds: readonly Bound[]): Goal {
  return { scenario, figure, bounds };
}

export const TARGETS: readonly Target[] = [
  {
    what: 'setData 100 B, 30 connections x 32',
    goals: [
      goal('mix-0-w32', 'perSecond', toZooKeeper(9), toBaseline(1.5)),
      goal('mix-0-w32', 'p999Ms', atMost(50)),
    ],
  },
  {
    what: 'setData 1 KB, 30 connections x 32',
    goals: [goal('value-1024-write', 'perSecond', toZooKeeper(5), toBaseline(2.5))],
  },
  {
    what: 'setData 8 KB, 8 connections x 4',
    goals: [goal('value-8192-write', 'perSecond', toZooKeeper(2), toBaseline(2.2))],
  },
  {
    what: 'setData 64 KB, 8 connections x 4',
    goals: [goal('value-65536-write', 'perSecond', toZooKeeper(2), toBaseline(3.5))],
  },
  {
    what: 'create 100 B, 30 connections x 32',
    goals: [
      goal('create-w32', 'perSecond', toZooKeeper(5.5), toBaseline(1.4)),
      goal('create-w32', 'p999Ms', atMost(50)),
    ],
  },
  {
    what: '70 % getData, 30 % setData 100 B, 30 connections x 32',
    goals: [goal('mix-70-w32', 'perSecond', toZooKeeper(9), toBaseline(1.1))],
  },
  {
    what: 'getData 100 B, 30 connections x 32',
    goals: [goal('mix-100-w32', 'perSecond', toZooKeeper(15), toBaseline(1))],
  },
  {
    what: 'getData 1 KB, 30 connections x 32',
    goals: [goal('value-1024-read', 'perSecond', toZooKeeper(8), toBaseline(1.4))],
  },
  {
    what: 'getData 100 B, 30 connections x 1',
    goals: [
      goal('mix-100-w1', 'perSecond', toZooKeeper(2.5), toBaseline(1)),
      goal('mix-100-w1', 'p999Ms', toZooKeeper(1)),
    ],
  },
  {
    what: 'setData 100 B, 30 connections x 1',
    goals: [goal('mix-0-w1', 'perSecond', toZooKeeper(2), toBaseline(1.2))],
  },
  {
    what: 'setData 100 B, 1 connection x 1',
    goals: [
      goal('single-write', 'perSecond', toZooKeeper(1.25), toBaseline(1.3)),
      goal('single-write', 'p99Ms', toZooKeeper(1)),
    ],
  },
  {
    what: 'bytes written for the log for a setData of 100 B, by each member',
    goals: [goal('written-100', 'logBytes', atMost(200))],
  },
  ...[1024, 8192, 65_536].map((bytes) => ({
    what: `bytes written for the log for a setData of ${bytes / 1024} KB, by each member`,
    goals: [goal(`written-${bytes}`, 'logBytes', atMost(1.2 * bytes))],
  })),
  {
    what: 'five members: setData 100 B, 30 connections x 32',
    goals: [goal('members-5-write', 'perSecond', toZooKeeper(6.8))],
  },
  {
    what: 'five members: setData 100 B, 1 connection x 1',
    goals: [goal('members-5-single', 'perSecond', toZooKeeper(1))],
  },
  {
    what: 'a million znodes',
    goals: [
      goal('znodes-1m', 'loadPerSecond', toZooKeeper(4.5)),
      goal('znodes-1m', 'readerMaxMs', atMost(50)),
      goal('znodes-1m', 'memberMb', atMost(400)),
      goal('znodes-1m', 'diffBackMs', atMost(1500)),
      goal('znodes-1m', 'snapBackMs', toZooKeeper(1)),
      goal('znodes-1m', 'restartMs', atMost(3000)),
    ],
  },
  {
    what: 'setData for minutes at half of its own maximum',
    goals: [goal('sustained-half', 'p999Ms', atMost(50))],
  },
  {
    what: 'a znode just created, seen through another member',
    goals: [goal('create-seen', 'seenPercent', toZooKeeper(1))],
  },
];

export const OTHER_BOUNDS: readonly Target[] = [
  {
    what: 'leader killed: longest gap',
    goals: [goal('failover-kill', 'gapMs', atMost(100))],
  },
  {
    what: 'leader frozen: longest gap, and no election by load alone',
    goals: [
      goal('failover-freeze', 'gapMs', atMost(1500)),
      goal('failover-freeze', 'elections', NEVER),
    ],
  },
  { what: 'cold start to serving', goals: [goal('cold-start', 'servingMs', atMost(700))] },
  {
    what: 'a million znodes: disk of three members',
    goals: [goal('znodes-1m', 'diskMb', atMost(1200))],
  },
  ...[100, 1024, 8192, 65_536].map((bytes) => ({
    what: `bytes written for a setData of ${bytes} B, checkpoints included, by each member`,
    goals: [goal(`written-${bytes}`, 'diskBytes', atMost(Math.max(250, 2.2 * bytes)))],
  })),
  {
    what: '3000 sessions: connect all',
    goals: [goal('sessions-3000', 'connectMs', atMost(900))],
  },
  {
    what: 'one change seen by 3000 watchers',
    goals: [goal('watches-3000', 'fanOutMs', atMost(50))],
  },
  {
    what: 'memory per member, empty and with 3000 sessions',
    goals: [
      goal('sessions-3000', 'emptyMb', atMost(90)),
      goal('sessions-3000', 'memberMb', atMost(120)),
    ],
  },
  {
    what: 'minutes at half of the maximum: memory and elections',
    goals: [
      goal('sustained-half', 'growthPercent', atMost(1)),
      goal('sustained-half', 'elections', NEVER),
    ],
  },
  {
    what: 'getData 100 B by TLS, 30 connections x 32',
    goals: [goal('tls-read', 'perSecond', toZooKeeper(8))],
  },
  {
    what: 'a scrape of each member in each second',
    goals: [goal('scraped-writes', 'costPercent', atMost(1))],
  },
  {
    what: 'a million znodes: a backup of a running follower, and its clients meanwhile',
    goals: [
      goal('backup-1m', 'saveSeconds', atMost(10)),
      goal('backup-1m', 'readMaxMs', atMost(20)),
    ],
  },
  {
    what: 'the client library, per call and per watch',
    goals: [
      goal('client', 'callUs', atMost(8)),
      goal('client', 'windowedCallUs', atMost(8)),
      goal('client', 'watchBytes', atMost(1024)),
    ],
  },
  ...BAD_NEIGHBOURS.map((neighbour) => ({
    what: `beside: ${neighbour.what}`,
    goals: goalsOf(neighbour).map(({ figure, most }) =>
      goal(neighbour.name, figure, { kind: 'everyRoundAtMost', most }),
    ),
  })),
];

/** The scenarios that the targets need, each once. */
export function scenariosOfTargets(): readonly string[] {
  return [...new Set(TARGETS.flatMap(({ goals }) => goals.map(({ scenario }) => scenario)))];
}
