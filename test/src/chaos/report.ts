/**
 * Reports what a run has found, for people and for programs. It is pure.
 *
 * A run is valid when no workload found a violation, nothing else went wrong, and it has tested
 * what its length allows: after ten minutes every nemesis has struck and every workload has a
 * verdict. In a shorter run a nemesis may not have been applied, and `unknown` verdicts are only
 * reported.
 */
import { unreachable } from '@rookery/protocol';
import { type ChaosOptions, commandOf } from './options.js';
import type { Checked, Outcomes } from './workload-runs.js';

/**
 * A run of this length must have tested everything; plan.test.ts ("within ten minutes") shows it.
 */
const WHOLE_RUN_MS = 600_000;

/** What happened in one step of the plan. */
export interface StepDone {
  /** The kinds of its one or two nemeses, joined by ' + '. */
  readonly kind: string;
  /** The time of the strike since the start of the run. */
  readonly atMs: number;
  /** What the nemeses did. */
  readonly notes: readonly string[];
  /** The nemeses of this step that found nothing to do, or failed. */
  readonly missed: readonly string[];
  /** The time from the strike until all members served again. */
  readonly lastedMs: number;
  /** The part of that time that came after the healing. */
  readonly recoveryMs: number;
  /** The longest time without an acknowledged write during the step. */
  readonly unavailableMs: number;
}

export interface Findings {
  readonly options: ChaosOptions;
  readonly directory: string;
  readonly lastedMs: number;
  /** The faults that this machine cannot make. */
  readonly without: readonly string[];
  readonly steps: readonly StepDone[];
  readonly workloads: readonly Checked[];
  /** Everything else that went wrong. */
  readonly findings: readonly string[];
}

export interface FaultSummary {
  readonly kind: string;
  readonly count: number;
  readonly longestUnavailableMs: number;
  readonly longestRecoveryMs: number;
}

export interface Report extends Findings {
  readonly valid: boolean;
  /** The command that repeats the run. */
  readonly command: string;
  readonly faults: readonly FaultSummary[];
  /** The nemeses that never struck although they were asked for. */
  readonly absent: readonly string[];
  /**
   * What a run of this length should test and this one did not; it must be empty in a valid run.
   */
  readonly untested: readonly string[];
}

export function reportOf(found: Findings, planned: readonly string[]): Report {
  const struck = new Set(
    found.steps.flatMap(({ kind, missed }) => {
      return kind.split(' + ').filter((name) => !missed.includes(name));
    }),
  );
  const absent = planned.filter((name) => !struck.has(name));
  const untested = [
    ...untestedNemeses(found, planned, absent),
    ...found.workloads.filter((checked) => isOwed(found, checked)).map(unjudged),
  ];
  return {
    valid: !isViolated(found) && untested.length === 0,
    command: commandOf(found.options),
    ...found,
    faults: faultsOf(found.steps),
    absent,
    untested,
  };
}

function isViolated({ workloads, findings }: Findings): boolean {
  return findings.length > 0 || workloads.some(({ verdict }) => verdict.valid === false);
}

/**
 * Each nemesis comes once before any comes again, so after that many steps all must have struck.
 */
function untestedNemeses(
  { steps, lastedMs }: Findings,
  planned: readonly string[],
  absent: readonly string[],
): readonly string[] {
  if (planned.length > 0 && absent.length === planned.length) return ['no nemesis ever struck'];
  const isOver = lastedMs >= WHOLE_RUN_MS || steps.length >= planned.length;
  if (!isOver) return [];
  const after = `in ${seconds(lastedMs)} s and ${steps.length} steps`;
  return absent.map((name) => `the nemesis ${name} never struck ${after}`);
}

/** Whether a verdict is missing: the run was long enough for one, or nothing at all succeeded. */
function isOwed({ lastedMs }: Findings, { verdict, outcomes }: Checked): boolean {
  return verdict.valid === 'unknown' && (lastedMs >= WHOLE_RUN_MS || outcomes.ok === 0);
}

function unjudged({ name, verdict }: Checked): string {
  return `the workload ${name} could not be judged: ${verdict.problems.join('; ')}`;
}

/** Returns the faults in the order of their first strike. */
function faultsOf(steps: readonly StepDone[]): FaultSummary[] {
  const kinds = new Map<string, FaultSummary>();
  for (const { kind, unavailableMs, recoveryMs } of steps) {
    const old = kinds.get(kind);
    kinds.set(kind, {
      kind,
      count: (old?.count ?? 0) + 1,
      longestUnavailableMs: Math.max(old?.longestUnavailableMs ?? 0, unavailableMs),
      longestRecoveryMs: Math.max(old?.longestRecoveryMs ?? 0, recoveryMs),
    });
  }
  return [...kinds.values()];
}

export function textOf(report: Report): string {
  const { options, steps, lastedMs } = report;
  return [
    `${options.members} members, ${seconds(lastedMs)} s of faults, ${steps.length} steps`,
    ...report.without.map((text) => `on this machine: ${text}`),
    '',
    'operations           ok      fail      info   verdict',
    ...report.workloads.flatMap(workloadLines),
    '',
    'faults                                    times   longest without a write   to recover',
    ...report.faults.map(faultLine),
    ...(report.absent.length > 0 ? [`never struck: ${report.absent.join(', ')}`] : []),
    ...report.findings.flatMap((finding) => ['', `FOUND: ${finding}`]),
    ...report.untested.flatMap((what) => ['', `NOT TESTED: ${what}`]),
    '',
    `histories, logs, report.json: ${report.directory}`,
    `again: ${report.command}`,
    conclusion(report),
  ].join('\n');
}

function conclusion(report: Report): string {
  const { workloads, untested } = report;
  if (isViolated(report)) return 'VIOLATED';
  if (untested.length > 0) return 'NOT TESTED WHOLE: nothing is wrong in what was tested';
  const unknown = workloads.filter(({ verdict }) => verdict.valid === 'unknown');
  if (unknown.length === 0) return 'all is well';
  return `nothing is wrong; not judged whole: ${unknown.map(({ name }) => name).join(', ')}`;
}

function workloadLines({ name, verdict, outcomes }: Checked): string[] {
  const counts = Object.entries(verdict.counts).map(([key, count]) => `${key} ${count}`);
  const columns = [
    name.padEnd(14),
    ...outcomeColumns(outcomes),
    `   ${verdictText(verdict.valid)}`,
  ];
  return [
    `${columns.join('')}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}`,
    ...verdict.problems.map((problem) => `    ${problem}`),
  ];
}

function outcomeColumns({ ok, fail, info }: Outcomes): string[] {
  return [ok, fail, info].map((count, index) => String(count).padStart(index === 0 ? 9 : 10));
}

function verdictText(valid: boolean | 'unknown'): string {
  switch (valid) {
    case true:
      return 'valid';
    case false:
      return 'VIOLATED';
    case 'unknown':
      return 'unknown';
    default:
      return unreachable(valid);
  }
}

function faultLine(fault: FaultSummary): string {
  const { kind, count, longestUnavailableMs, longestRecoveryMs } = fault;
  const times = String(count).padStart(5);
  const gap = `${seconds(longestUnavailableMs)} s`.padStart(26);
  return `${kind.padEnd(42)}${times}${gap}${`${seconds(longestRecoveryMs)} s`.padStart(13)}`;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
