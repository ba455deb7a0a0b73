/** A verdict follows from the figures: the results are made by hand, one figure at a time. */
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../scenarios/table.js';
import { caveat } from './facts-text.js';
import { htmlReport } from './html.js';
import { type Sample, sampleResults } from './sample-results.js';
import { scenariosOfTargets, TARGETS, verdictsOf } from './targets.js';
import { textReport } from './text.js';

const READS = 'getData 100 B, 30 connections x 32';

function outcomeOf(what: string, samples: readonly Sample[]): string | undefined {
  return verdictsOf(sampleResults(samples)).find((verdict) => verdict.what === what)?.outcome;
}

describe('the targets', () => {
  it('name figures that the scenarios have', () => {
    for (const { goals } of TARGETS) {
      for (const { scenario, figure } of goals) {
        const found = SCENARIOS.find(({ name }) => name === scenario);
        expect(
          found?.figures.map(({ key }) => key),
          scenario,
        ).toContain(figure);
      }
    }
  });

  it('need each scenario once', () => {
    const names = scenariosOfTargets();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('mix-0-w32');
    expect(names).not.toContain('members-7-read');
  });

  it('are met when every goal of the row is met, also exactly at its bound', () => {
    const met: Sample[] = [
      { scenario: 'mix-100-w32', system: 'rookery', values: { perSecond: [1400], p99Ms: [5] } },
      { scenario: 'mix-100-w32', system: 'zookeeper', values: { perSecond: [100] } },
    ];
    expect(outcomeOf(READS, met)).toBe('met');
  });

  it('are not met when the ratio of medians falls short, however good the best round was', () => {
    const missed: Sample[] = [
      {
        scenario: 'mix-100-w32',
        system: 'rookery',
        values: { perSecond: [9000, 1300, 1300], p99Ms: [1, 1, 1] },
      },
      { scenario: 'mix-100-w32', system: 'zookeeper', values: { perSecond: [100, 100, 100] } },
    ];
    expect(outcomeOf(READS, missed)).toBe('not met');
  });

  it('are not met when one bound is missed, even if the ratio is unknown', () => {
    const slow: Sample[] = [
      { scenario: 'mix-100-w32', system: 'rookery', values: { perSecond: [1], p99Ms: [5.01] } },
    ];
    expect(outcomeOf(READS, slow)).toBe('not met');
  });

  it('stay open without the system to compare with, and without any run', () => {
    const alone: Sample[] = [
      { scenario: 'mix-100-w32', system: 'rookery', values: { perSecond: [1e6], p99Ms: [1] } },
    ];
    expect(outcomeOf(READS, alone)).toBe('not measured');
    expect(outcomeOf(READS, [])).toBe('not measured');
  });

  it('are not met by fast detection of a frozen leader when load alone causes an election', () => {
    const what = 'leader frozen: longest gap, and no election by load alone';
    const run = { scenario: 'failover-freeze', system: 'rookery' };
    expect(outcomeOf(what, [{ ...run, values: { gapMs: [900], elections: [0] } }])).toBe('met');
    const withElection = { gapMs: [900], elections: [0, 1, 0] };
    expect(outcomeOf(what, [{ ...run, values: withElection }])).toBe('not met');
    expect(outcomeOf(what, [{ ...run, values: { gapMs: [900] } }])).toBe('not measured');
  });

  it('bound the number of elections by 0', () => {
    const what = 'minutes at half of the maximum load';
    const values = { p999Ms: [20], growthPercent: [-0.3], elections: [0] };
    const run = { scenario: 'sustained-half', system: 'rookery' };
    expect(outcomeOf(what, [{ ...run, values }])).toBe('met');
    expect(outcomeOf(what, [{ ...run, values: { ...values, elections: [1] } }])).toBe('not met');
  });
});

describe('a quick run', () => {
  it('says that its figures mean nothing', () => {
    expect(caveat(sampleResults([], { isQuick: true }))).toMatch(/quick/);
    expect(caveat(sampleResults([]))).toBeNull();
  });

  it('judges no target, in any report', () => {
    const small = { scenario: 'znodes-1m', system: 'rookery', values: { memberMb: [83] } };
    const quick = sampleResults([small], { isQuick: true });
    expect(verdictsOf(quick)).toEqual([]);
    for (const report of [textReport(quick), htmlReport(quick, '')]) {
      expect(report).toMatch(/quick run says nothing about/i);
      expect(report).not.toMatch(/of \d+ met/);
    }
    expect(textReport(sampleResults([small]))).toMatch(/of \d+ met/);
  });
});
