/**
 * What a run found, for people and for programs. Pure.
 *
 * A run is valid when no workload found a violation and nothing else went wrong: `unknown` is no
 * violation, but it is said.
 */
import { unreachable } from '@rookery/protocol';
import { type ChaosOptions, commandOf } from './options.js';
import type { Checked, Outcomes } from './workload-runs.js';

/** One step of the plan as it went. */
export interface StepDone {
  /** Of the one or two nemeses, joined by ' + '. */
  readonly kind: string;
  /** From the start of the run. */
  readonly atMs: number;
  /** What was done. */
  readonly notes: readonly string[];
  /** From the strike until all members served again. */
  readonly lastedMs: number;
  /** Of that, after the healing. */
  readonly recoveryMs: number;
  /** The longest time without an acknowledged write in it. */
  readonly unavailableMs: number;
}

export interface Findings {
  readonly options: ChaosOptions;
  readonly directory: string;
  readonly lastedMs: number;
  /** What this machine cannot do. */
  readonly without: readonly string[];
  readonly steps: readonly StepDone[];
  readonly workloads: readonly Checked[];
  /** Whatever else went wrong. */
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
  /** Runs the same again. */
  readonly command: string;
  readonly faults: readonly FaultSummary[];
  /** Nemeses that never struck although they were asked for. */
  readonly absent: readonly string[];
}

export function reportOf(found: Findings, planned: readonly string[]): Report {
  const violations = found.workloads.filter(({ verdict }) => verdict.valid === false);
  const struck = new Set(found.steps.flatMap(({ kind }) => kind.split(' + ')));
  return {
    valid: violations.length === 0 && found.findings.length === 0,
    command: commandOf(found.options),
    ...found,
    faults: faultsOf(found.steps),
    absent: planned.filter((name) => !struck.has(name)),
  };
}

/** In the order of their first strike. */
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
    '',
    `histories, logs, report.json: ${report.directory}`,
    `again: ${report.command}`,
    conclusion(report),
  ].join('\n');
}

function conclusion({ valid, workloads }: Report): string {
  if (!valid) return 'VIOLATED';
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
