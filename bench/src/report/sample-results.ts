/** Results made by hand, for the tests of the reports. Nothing else uses them. */
import { measurement } from '../scenarios/scenario.js';
import { SCENARIOS } from '../scenarios/table.js';
import { factsOf, type Results } from './results.js';

/** One system's values in one scenario, by figure, with one value for each round. */
export interface Sample {
  readonly scenario: string;
  readonly system: string;
  readonly values: Readonly<Record<string, readonly number[]>>;
  readonly troubles?: readonly string[];
}

const SIZE = 3;

export function sampleResults(
  samples: readonly Sample[],
  {
    isQuick = false,
    systems = ['rookery', 'zookeeper'],
  }: { readonly isQuick?: boolean; readonly systems?: readonly string[] } = {},
): Results {
  const names = new Set(samples.map(({ scenario }) => scenario));
  return {
    startedAt: '2026-01-01T00:00:00.000Z',
    commit: 'abc',
    machine: {
      cpu: 'a processor',
      cores: 2,
      memoryBytes: 24e9,
      kernel: 'Linux 6',
      node: 'v20',
      java: '17',
      fileSystem: 'ext4',
      fdatasyncUs: { median: 160, p99: 400 },
      loadBefore: 0.1,
    },
    settings: { rounds: 1, seconds: 1, minutes: 1, isQuick },
    systems,
    scenarios: SCENARIOS.filter(({ name }) => names.has(name)).map((one) => {
      const sizes = { members: one.members, 'value bytes': Number(one.name.split('-')[1]) };
      const dimension = one.scale?.dimension;
      const isKnown = dimension === 'members' || dimension === 'value bytes';
      return factsOf(one, isKnown ? sizes[dimension] : SIZE);
    }),
    runs: samples.flatMap(runsOfSample),
    skipped: [],
  };
}

function runsOfSample({ scenario, system, values, troubles = [] }: Sample): Results['runs'] {
  const rounds = Math.max(...Object.values(values).map((some) => some.length));
  return Array.from({ length: rounds }, (_, index) => {
    const ofRound = Object.entries(values).flatMap(([key, some]) => {
      const value = some[index];
      return value === undefined ? [] : [[key, value] as const];
    });
    const measured = measurement(Object.fromEntries(ofRound), { troubles });
    return { scenario, system, round: index + 1, measurement: measured };
  });
}
