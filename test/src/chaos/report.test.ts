/**
 * Tests what a report says about findings.
 */
import { expect, it } from 'vitest';
import { Availability } from './availability.js';
import type { HistoryEntry } from './history/entry.js';
import { type Findings, reportOf, type StepDone, textOf } from './report.js';
import { type Checked, countsOf } from './workload-runs.js';
import type { Verdict } from './workloads/workload.js';

const WHOLE_MS = 600_000;

it('all is well when every verdict is valid and nothing else was found', () => {
  const report = reportOf(found({ workloads: [checked(true)] }), []);
  expect(report.valid).toBe(true);
  expect(textOf(report)).toMatch(/all is well$/);
});

it('what a short run could not judge violates nothing, and is named', () => {
  const report = reportOf(found({ workloads: [checked(true), checked('unknown')] }), []);
  expect(report.valid).toBe(true);
  expect(textOf(report)).toMatch(/nothing is wrong; not judged whole: set$/);
});

it('from ten minutes on every workload must be judged', () => {
  const workloads = [checked(true), checked('unknown')];
  expect(reportOf(found({ workloads, lastedMs: WHOLE_MS - 1 }), []).valid).toBe(true);
  const report = reportOf(found({ workloads, lastedMs: WHOLE_MS }), []);
  expect(report.valid).toBe(false);
  expect(textOf(report)).toContain(
    'NOT TESTED: the workload set could not be judged: too little was read',
  );
  expect(textOf(report)).toMatch(/NOT TESTED WHOLE: nothing is wrong in what was tested$/);
});

it('a workload of which nothing succeeded is not tested, however short the run', () => {
  const idle = { ...checked('unknown'), outcomes: { ok: 0, fail: 5, info: 5 } };
  const report = reportOf(found({ workloads: [idle], lastedMs: 1_000 }), []);
  expect(report.valid).toBe(false);
  expect(report.untested).toEqual(['the workload set could not be judged: too little was read']);
});

it('from ten minutes on every nemesis must have struck', () => {
  const parts = { steps: [step('kill-one', {})] };
  const planned = ['kill-one', 'kill-all', 'loss'];
  expect(reportOf(found({ ...parts, lastedMs: WHOLE_MS - 1 }), planned).valid).toBe(true);
  const report = reportOf(found({ ...parts, lastedMs: WHOLE_MS }), planned);
  expect(report.valid).toBe(false);
  expect(textOf(report)).toContain(
    'NOT TESTED: the nemesis kill-all never struck in 600.0 s and 1 steps',
  );
  expect(textOf(report)).toContain('NOT TESTED: the nemesis loss never struck');
});

it('after as many steps as there are nemeses each must have struck, in a short run too', () => {
  const planned = ['kill-one', 'flipped-bit'];
  const struck = [step('kill-one', {}), step('flipped-bit', {})];
  expect(reportOf(found({ steps: struck }), planned).valid).toBe(true);
  const missed = [step('kill-one', {}), step('flipped-bit', { missed: ['flipped-bit'] })];
  const report = reportOf(found({ steps: missed }), planned);
  expect(report.valid).toBe(false);
  expect(report.untested).toEqual(['the nemesis flipped-bit never struck in 60.0 s and 2 steps']);
});

it('a run without any strike has tested nothing, however short it is', () => {
  const report = reportOf(found({ lastedMs: 1_000 }), ['kill-one', 'loss']);
  expect(report.valid).toBe(false);
  expect(report.untested).toEqual(['no nemesis ever struck']);
});

it('a violation is called one even where not all was tested', () => {
  const parts = { workloads: [checked(false), checked('unknown')], lastedMs: WHOLE_MS };
  expect(textOf(reportOf(found(parts), []))).toMatch(/VIOLATED$/);
});

it('a violated workload violates the run, and its problems are told', () => {
  const report = reportOf(found({ workloads: [checked(true), checked(false)] }), []);
  expect(report.valid).toBe(false);
  expect(textOf(report)).toMatch(/VIOLATED$/);
  expect(textOf(report)).toContain('write 7 was lost');
});

it('whatever else was found violates the run', () => {
  const report = reportOf(found({ findings: ['member 2 ended with code 1'] }), []);
  expect(report.valid).toBe(false);
  expect(textOf(report)).toContain('FOUND: member 2 ended with code 1');
});

it('faults are summed up by kind, with the worst of each', () => {
  const steps = [
    step('kill-one', { unavailableMs: 500, recoveryMs: 2_000 }),
    step('loss + pause-one', { unavailableMs: 4_000, recoveryMs: 100 }),
    step('kill-one', { unavailableMs: 900, recoveryMs: 1_000 }),
  ];
  const planned = ['kill-one', 'kill-all', 'loss', 'pause-one'];
  const report = reportOf(found({ steps }), planned);
  expect(report.faults).toEqual([
    { kind: 'kill-one', count: 2, longestUnavailableMs: 900, longestRecoveryMs: 2_000 },
    { kind: 'loss + pause-one', count: 1, longestUnavailableMs: 4_000, longestRecoveryMs: 100 },
  ]);
  expect(report.absent).toEqual(['kill-all']);
  expect(textOf(report)).toContain('never struck: kill-all');
});

it('the command that runs it again is in the report', () => {
  const report = reportOf(found({}), []);
  expect(report.command).toBe('npm run chaos -- --minutes 1 --members 3 --seed 9');
  expect(textOf(report)).toContain(`again: ${report.command}`);
});

it('a gap is counted from the strike on, and up to the end where no write came any more', () => {
  const availability = new Availability();
  for (const atMs of [100, 200, 900, 1_000]) availability.onAcknowledged(atMs);
  expect(availability.longestGapMs(0, 1_000)).toBe(700);
  expect(availability.longestGapMs(500, 1_000)).toBe(400);
  expect(availability.longestGapMs(950, 3_000)).toBe(2_000);
  expect(availability.longestGapMs(2_000, 3_000)).toBe(1_000);
});

it('outcomes are counted by operation, and what has not ended is not', () => {
  const entry = (type: HistoryEntry['type'], f: string): HistoryEntry => {
    return { index: 0, time: 0, workload: 'set', process: 0, client: 0, type, f, value: null };
  };
  const { outcomes, byOperation } = countsOf([
    ...[entry('invoke', 'add'), entry('ok', 'add'), entry('invoke', 'add'), entry('info', 'add')],
    ...[entry('invoke', 'read'), entry('fail', 'read'), entry('invoke', 'read')],
  ]);
  expect(outcomes).toEqual({ ok: 1, fail: 1, info: 1 });
  expect(byOperation).toEqual({
    add: { ok: 1, fail: 0, info: 1 },
    read: { ok: 0, fail: 1, info: 0 },
  });
});

function found(parts: Partial<Findings>): Findings {
  const options = { minutes: 1, members: 3, nemeses: null, workloads: null, seed: 9, keep: null };
  const nothing = { steps: [], workloads: [], findings: [], without: [] };
  return { options, directory: '/tmp/run', lastedMs: 60_000, ...nothing, ...parts };
}

function checked(valid: Verdict['valid']): Checked {
  return {
    name: 'set',
    byOperation: {},
    historyFile: '/tmp/run/history-set.jsonl',
    outcomes: { ok: 3, fail: 2, info: 1 },
    verdict: { valid, problems: problemsOf(valid), counts: { writes: 3 } },
  };
}

function problemsOf(valid: Verdict['valid']): readonly string[] {
  if (valid === 'unknown') return ['too little was read'];
  return valid ? [] : ['write 7 was lost'];
}

function step(kind: string, parts: Partial<StepDone>): StepDone {
  const lengths = { lastedMs: 0, recoveryMs: 0, unavailableMs: 0 };
  return { kind, atMs: 0, notes: [], missed: [], ...lengths, ...parts };
}
