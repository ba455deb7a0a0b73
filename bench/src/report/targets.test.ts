/** A verdict follows from the figures: the results are made by hand, one figure at a time. */
import { describe, expect, it } from 'vitest';
import { SCENARIOS } from '../scenarios/table.js';
import { SYSTEMS } from '../systems/plan.js';
import { caveat } from './facts-text.js';
import { htmlReport } from './html.js';
import type { Results } from './results.js';
import { type Sample, sampleResults } from './sample-results.js';
import { OTHER_BOUNDS, scenariosOfTargets, TARGETS } from './targets.js';
import { textReport } from './text.js';
import { sectionsOf, type Verdict } from './verdicts.js';

const WRITES = 'setData 100 B, 30 connections x 32';

function verdictsOf(results: Results): readonly Verdict[] {
  return sectionsOf(results).flatMap(({ verdicts }) => verdicts);
}

/** A bench of all three systems. */
function verdictOf(what: string, samples: readonly Sample[]) {
  const results = sampleResults(samples, { systems: SYSTEMS });
  const found = verdictsOf(results).find((verdict) => verdict.what === what);
  if (found === undefined) throw new Error(`there is no target ${what}`);
  return found;
}

function outcomeOf(what: string, samples: readonly Sample[]): string {
  return verdictOf(what, samples).outcome;
}

function writesOf(system: string, perSecond: readonly number[], p999Ms?: number): Sample {
  const values = p999Ms === undefined ? { perSecond } : { perSecond, p999Ms: [p999Ms] };
  return { scenario: 'mix-0-w32', system, values };
}

describe('the targets', () => {
  it('name figures that the scenarios have', () => {
    for (const { goals } of [...TARGETS, ...OTHER_BOUNDS]) {
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
    expect(names).not.toContain('failover-kill');
  });

  it('have different names, by which a report tells them apart', () => {
    const names = [...TARGETS, ...OTHER_BOUNDS].map(({ what }) => what);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are met when every goal of the row is met, also exactly at its bound', () => {
    const met = [
      writesOf('rookery', [900], 50),
      writesOf('zookeeper', [100]),
      writesOf('baseline', [600]),
    ];
    expect(outcomeOf(WRITES, met)).toBe('met');
  });

  it('are not met when a ratio of medians falls short, however good the best round was', () => {
    const own = writesOf('rookery', [9000, 890, 890], 50);
    const slowBaseline = writesOf('baseline', [1, 1, 1]);
    const slowZooKeeper = writesOf('zookeeper', [1, 1, 1]);
    const zooKeeper = writesOf('zookeeper', [100, 100, 100]);
    const baseline = writesOf('baseline', [600, 600, 600]);
    expect(outcomeOf(WRITES, [own, slowZooKeeper, slowBaseline])).toBe('met');
    expect(outcomeOf(WRITES, [own, zooKeeper, slowBaseline])).toBe('not met');
    expect(outcomeOf(WRITES, [own, slowZooKeeper, baseline])).toBe('not met');
  });

  it('are not met when one bound is missed, even if a ratio is unknown', () => {
    expect(outcomeOf(WRITES, [writesOf('rookery', [1], 50.01)])).toBe('not met');
  });

  it('are not judged by a ratio to a system that was not measured', () => {
    const samples = [writesOf('rookery', [900], 50), writesOf('zookeeper', [100])];
    const { outcome, goals } = verdictOf(WRITES, samples);
    expect(outcome).toBe('nothing to compare with');
    expect(goals.map(({ bounds }) => bounds.map((bound) => bound.outcome))).toEqual([
      ['met', 'nothing to compare with'],
      ['met'],
    ]);
    const without = sampleResults(samples, { systems: ['rookery', 'zookeeper'] });
    expect(verdictsOf(without).find(({ what }) => what === WRITES)).toMatchObject({ outcome });
  });

  it('compare with the system that the goal names, in whichever order they were measured', () => {
    const samples = [writesOf('rookery', [900], 50), writesOf('zookeeper', [900])];
    const swapped = sampleResults([...samples, writesOf('baseline', [1])], {
      systems: ['rookery', 'baseline', 'zookeeper'],
    });
    const found = verdictsOf(swapped).find(({ what }) => what === WRITES);
    expect(found?.goals[0]?.bounds.map(({ outcome }) => outcome)).toEqual(['not met', 'met']);
  });

  it('stay open without any run, and for servers that the bench did not start', () => {
    expect(outcomeOf(WRITES, [])).toBe('not measured');
    const served = sampleResults([writesOf('servers', [1e6], 1)], { systems: ['servers'] });
    expect(new Set(verdictsOf(served).map(({ outcome }) => outcome))).toEqual(
      new Set(['not measured']),
    );
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
    const what = 'minutes at half of the maximum: memory and elections';
    const values = { growthPercent: [-0.3], elections: [0] };
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
    expect(sectionsOf(quick)).toEqual([]);
    for (const report of [textReport(quick), htmlReport(quick, '')]) {
      expect(report).toMatch(/quick run says nothing about/i);
      expect(report).not.toMatch(/of \d+ met/);
    }
    expect(textReport(sampleResults([small]))).toMatch(/of \d+ met/);
  });
});
