/**
 * Defines a scenario: what it needs, what it measures, and the run that measures it.
 *
 * A scenario is data and one function. It knows neither rounds nor other systems: the runner calls
 * it once for each round and system, and the report compares. Its values are the raw material of
 * medians: one number for each figure and run, absent if the server cannot do what is requested.
 */
import type { HistogramData } from '../load/histogram.js';
import type { Context } from '../run/context.js';
import type { Settings } from '../run/settings.js';
import type { MemberSettings } from '../systems/plan.js';

export const UNITS = ['1/s', 'ms', 'us', 's', 'MB', 'KB', 'B', '%', 'x', ''] as const;
export type Unit = (typeof UNITS)[number];

export interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: Unit;
  readonly better: 'higher' | 'lower';
}

export const DIMENSIONS = ['members', 'znodes', 'sessions', 'watches', 'value bytes'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** One point of a row of the scaling table, which shows `what` at this size. */
export interface Scale {
  readonly dimension: Dimension;
  readonly what: string;
  readonly at: (settings: Settings) => number;
}

export type MemberCount = 3 | 5 | 7;

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly group: string;
  readonly members: MemberCount;
  readonly figures: readonly Figure[];
  /** Each run gets an ensemble that was not used before. */
  readonly isFresh: boolean;
  /**
   * The scenario kills, freezes or watches processes, so servers that the bench did not start
   * cannot be used.
   */
  readonly needsProcesses: boolean;
  /** Elections are part of it; elsewhere an election is reported as a trouble. */
  readonly isDisruptive: boolean;
  readonly javaHeapMegabytes: number | null;
  /** ZooKeeper has nothing to compare with. */
  readonly isRookeryOnly: boolean;
  /** What members are started with beyond the usual. Equal ones share an ensemble. */
  readonly memberSettings: Partial<MemberSettings>;
  /** At most this many rounds, where one takes very long; null for no limit. */
  readonly roundsMax: number | null;
  readonly scale: Scale | null;
  /** The approximate time of one run, only for the progress shown. */
  readonly secondsAbout: (settings: Settings) => number;
  readonly run: (context: Context) => Promise<Measurement>;
}

export interface Series {
  readonly name: string;
  readonly unit: Unit;
  readonly stepSeconds: number;
  readonly values: readonly number[];
}

export interface Measurement {
  readonly values: Readonly<Record<string, number>>;
  readonly latency: HistogramData | null;
  readonly series: readonly Series[];
  /** What went wrong, or must be known to interpret the values; empty if all went well. */
  readonly troubles: readonly string[];
  /** The busiest generator's share of one processor; null if it does not matter. */
  readonly generatorShare: number | null;
  /**
   * The share of the wanted processor time that the host of a virtual machine stole; null if
   * unknown.
   */
  readonly stolenShare: number | null;
}

const DEFAULTS = {
  members: 3,
  isFresh: false,
  needsProcesses: false,
  isDisruptive: false,
  javaHeapMegabytes: null,
  isRookeryOnly: false,
  memberSettings: {},
  roundsMax: null,
  scale: null,
  secondsAbout: ({ seconds, warmupSeconds }: Settings) => seconds + warmupSeconds + 1,
} as const satisfies Partial<Scenario>;

type ScenarioInput = Pick<Scenario, 'name' | 'title' | 'group' | 'figures' | 'run'> &
  Partial<Scenario>;

export function scenario(input: ScenarioInput): Scenario {
  return { ...DEFAULTS, ...input };
}

const NOTHING_KNOWN = {
  latency: null,
  series: [],
  troubles: [],
  generatorShare: null,
  stolenShare: null,
} as const satisfies Omit<Measurement, 'values'>;

export function measurement(
  values: Readonly<Record<string, number>>,
  rest: Partial<Measurement> = {},
): Measurement {
  return { ...NOTHING_KNOWN, values, ...rest };
}
