/** Rounds alternate, shares add up, and the remaining time shrinks. The plans are made by hand. */
import { describe, expect, it } from 'vitest';
import { Histogram } from '../load/histogram.js';
import type { LoadResult } from '../load/load.js';
import { Pace } from '../load/pace.js';
import { Recorder } from '../load/recorder.js';
import { factLines } from '../report/facts-text.js';
import { sampleResults } from '../report/sample-results.js';
import { growthPercentPerMinute, slowestPerSecond } from '../scenarios/endurance.js';
import { measurement, scenario } from '../scenarios/scenario.js';
import { chooseScenarios, SCENARIOS } from '../scenarios/table.js';
import { isElectionBetween, knownAfter } from '../systems/srvr.js';
import { merged, shares } from './load-group.js';
import { formatDuration, Progress } from './progress.js';
import { measuredAgain, missingRuns, requireSameBench } from './resume.js';
import { plannedRuns } from './schedule.js';
import { settingsOf } from './settings.js';

const settings = settingsOf({
  rounds: 2,
  seconds: 10,
  warmup: 0,
  minutes: undefined,
  quick: false,
});
const plain = scenario({
  name: 'plain',
  title: '',
  group: '',
  figures: [],
  secondsAbout: () => 10,
  run: async () => measurement({}),
});
const systems = ['rookery', 'zookeeper'];

describe('the schedule', () => {
  it('alternates the systems round by round, after one round that warms up', () => {
    const runs = plannedRuns([plain], { settings, systems });
    expect(runs.map(({ system, round }) => `${round} ${system}`)).toEqual([
      ...['0 rookery', '0 zookeeper', '1 rookery', '1 zookeeper', '2 rookery', '2 zookeeper'],
    ]);
  });

  it('has no warm-up where each run has an ensemble, and respects a limit of rounds', () => {
    const fresh = { ...plain, isFresh: true, roundsMax: 1 };
    expect(plannedRuns([fresh], { settings, systems })).toHaveLength(2);
  });

  it('runs scenarios with the same kind of ensemble one after the other', () => {
    const kinds = SCENARIOS.filter((one) => !one.isFresh).map(({ members }) => members);
    const changes = kinds.filter((members, index) => index > 0 && members !== kinds[index - 1]);
    expect(changes).toEqual([5, 7, 3]);
  });

  it('accepts names and groups, and refuses anything else', () => {
    const names = chooseScenarios(['client', 'mix-0-w1']).map(({ name }) => name);
    expect(names).toEqual(['mix-0-w1', 'client']);
    expect(() => chooseScenarios(['mixes', 'nonsense'])).toThrow('nonsense');
  });

  it('has no two scenarios with the same name', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
  });
});

describe('an interrupted bench', () => {
  const before = sampleResults([
    { scenario: 'mix-0-w32', system: 'rookery', values: { perSecond: [1] } },
  ]);

  it('makes the missing runs, each after its warm-up, and none twice', () => {
    const planned = plannedRuns([plain, { ...plain, name: 'next' }], { settings, systems });
    const at = (scenario: string, system: string, round: number) => ({
      scenario,
      system,
      round,
      measurement: measurement({}),
    });
    const made = [
      ...[at('plain', 'rookery', 1), at('plain', 'zookeeper', 1), at('plain', 'rookery', 2)],
      ...[at('next', 'rookery', 1), at('next', 'rookery', 2)],
    ];
    const left = missingRuns(planned, made);
    expect(left.map((run) => `${run.scenario.name} ${run.round} ${run.system}`)).toEqual([
      ...['plain 0 zookeeper', 'plain 2 zookeeper'],
      ...['next 0 zookeeper', 'next 1 zookeeper', 'next 2 zookeeper'],
    ]);
    expect(missingRuns(planned, [])).toEqual(planned);
  });

  it('continues only with the same product, machine and sizes', () => {
    const { runs, ...now } = before;
    expect(runs).toHaveLength(1);
    expect(() => requireSameBench(before, now)).not.toThrow();
    expect(() => requireSameBench(before, { ...now, commit: 'def' })).toThrow('commit was "abc"');
    const other = { ...now.machine, cpu: 'another' };
    expect(() => requireSameBench(before, { ...now, machine: other })).toThrow('cpu was');
    const longer = { ...now.settings, seconds: 9 };
    expect(() => requireSameBench(before, { ...now, settings: longer })).toThrow('seconds was 1');
    expect(() => requireSameBench(before, { ...now, scenarios: [] })).toThrow('scenarios was');
    const busier = { ...now.machine, loadBefore: 5 };
    expect(() => requireSameBench(before, { ...now, machine: busier })).not.toThrow();
  });
});

describe('scenarios that are measured again', () => {
  const before = sampleResults([
    { scenario: 'mix-0-w32', system: 'rookery', values: { perSecond: [1] } },
    { scenario: 'mix-0-w1', system: 'rookery', values: { perSecond: [2] } },
  ]);
  const again = { at: '2026-02-02', commit: 'def', scenarios: ['mix-0-w1'] };

  it('lose their runs while all others stay, and their commit is named', () => {
    const results = measuredAgain(before, again);
    expect(results.runs.map(({ scenario }) => scenario)).toEqual(['mix-0-w32']);
    expect(factLines(results)).toContainEqual([
      ...['measured again', '2026-02-02, commit def: mix-0-w1'],
    ]);
    expect(() => measuredAgain(before, { ...again, scenarios: ['nonsense'] })).toThrow('nonsense');
  });

  it('continue only with the commit that they were begun with', () => {
    const { runs, ...now } = measuredAgain(before, again);
    expect(runs).toHaveLength(1);
    const results = measuredAgain(before, again);
    const { again: _, ...fresh } = { ...now, commit: 'def' };
    expect(() => requireSameBench(results, fresh)).not.toThrow();
    expect(() => requireSameBench(results, { ...fresh, commit: 'abc' })).toThrow('was "def"');
  });
});

describe('progress', () => {
  it('estimates the remaining time from the runs that have ended', () => {
    const lines: string[] = [];
    const output = { write: (text: string) => lines.push(text) };
    const runs = plannedRuns([plain], { settings, systems: ['rookery'] });
    const progress = new Progress(runs, settings, output);
    expect(progress.secondsLeft).toBe(30);
    for (const run of runs.slice(0, 1)) progress.onStart(run);
    progress.onEnd(measurement({}, { troubles: ['it creaked'] }), 4);
    expect(progress.secondsLeft).toBe(8);
    expect(lines.join('')).toContain('[1/3, 8 s left] plain rookery warm-up');
    expect(lines.join('')).toContain('!! it creaked');
  });

  it('formats durations for people', () => {
    expect([5.2, 600, 9000].map(formatDuration)).toEqual(['6 s', '10 min', '2.5 h']);
  });
});

describe('a load of several processes', () => {
  const part = (operations: number, slices: readonly number[], silenceMs: number): LoadResult => ({
    seconds: 1,
    operations,
    latency: new Histogram().toData(),
    slices,
    slowestMs: slices.map((count) => 10 * count),
    longestSilenceMs: silenceMs,
    silencesOver50Ms: 0,
    errors: { NoNode: 1 },
    lostRequests: 0,
    lostConnections: 1,
    generator: { cpuShare: silenceMs / 100, delayMaxMs: 0 },
  });

  it('adds operations up, but takes the fewest silences and the busiest process', () => {
    const all = merged([part(10, [4, 6], 30), part(5, [5], 20)]);
    expect([all.operations, all.slices]).toEqual([15, [9, 6]]);
    expect(all.slowestMs).toEqual([50, 60]);
    expect([all.longestSilenceMs, all.generator.cpuShare]).toEqual([20, 0.3]);
    expect([all.errors, all.lostConnections]).toEqual([{ NoNode: 2 }, 2]);
  });

  it('distributes all of its connections evenly', () => {
    expect(shares(30, 4)).toEqual([7, 8, 7, 8]);
    expect(shares(2, 2)).toEqual([1, 1]);
  });
});

describe('a pace', () => {
  it('keeps the time at which a request was due, however late it is sent', () => {
    const pace = new Pace(100, 10);
    expect(pace.take(99)).toBeNull();
    expect([pace.take(125), pace.take(125), pace.take(125), pace.take(125)]).toEqual([
      ...[100, 110, 120, null],
    ]);
  });
});

describe('a recorder', () => {
  it('counts a silence until the measured time ends, and errors do not break it', () => {
    const recorder = new Recorder();
    recorder.measure(1000, 2000);
    recorder.onReply(1000, 1010, true);
    recorder.onReply(1000, 1400, false);
    recorder.end(1700);
    expect(recorder.longestSilenceMs).toBe(690);
    expect(recorder.silences).toBe(1);
    expect(recorder.operations).toBe(2);
    expect(recorder.slowestMs).toEqual([10, 0, 0, 0, 400]);
  });

  it('ignores replies before and after the measured time', () => {
    const recorder = new Recorder();
    recorder.onReply(1, 2, true);
    recorder.measure(1000, 2000);
    recorder.onReply(999, 2000, true);
    expect(recorder.operations).toBe(0);
  });
});

describe('the slowest answer of a second', () => {
  it('is that of its tenths, or of the answer that ended a second without any', () => {
    const tenths = [...[3, 9, 4, 0, 0, 0, 0, 0, 0, 2], ...Array(10).fill(0), ...[1500, 2]];
    expect(slowestPerSecond(tenths, 3)).toEqual([9, 1500, 1500]);
    expect(slowestPerSecond([5, 6], 0)).toEqual([]);
  });
});

describe('memory growth', () => {
  it('is per minute, from minute 2 on, as a share of the memory at that time', () => {
    const settling = Array.from({ length: 120 }, (_, second) => 50 + second);
    const steady = Array.from({ length: 300 }, (_, second) => 1000 + second);
    expect(growthPercentPerMinute([...settling, ...steady])).toBeCloseTo(6);
    expect(growthPercentPerMinute([])).toBe(0);
  });
});

describe('an election', () => {
  it('is a change of leader or epoch, not a member that is slow or still shows epoch 0', () => {
    const leading = { mode: 'leader', epoch: 3 };
    const following = { mode: 'follower', epoch: 3 };
    expect(isElectionBetween([leading, following], [leading, following])).toBe(false);
    expect(isElectionBetween([leading, following], [following, leading])).toBe(true);
    expect(isElectionBetween([leading], [{ mode: 'leader', epoch: 4 }])).toBe(true);
    expect(isElectionBetween([{ mode: 'follower', epoch: 0 }], [following])).toBe(false);
    expect(isElectionBetween([leading], [null])).toBe(false);
  });

  it('is detected although no member answers while it lasts', () => {
    const leading = { mode: 'leader', epoch: 3 };
    const following = { mode: 'follower', epoch: 3 };
    const known = knownAfter(knownAfter([], [leading, following]), [null, null]);
    expect(known).toEqual([leading, following]);
    expect(isElectionBetween(known, [leading, following])).toBe(false);
    expect(isElectionBetween(known, [{ mode: 'leader', epoch: 4 }, null])).toBe(true);
  });
});
