/**
 * Runs one bench from options to reports: it decides which scenarios run on which systems, runs
 * them, and writes all files.
 *
 * The data of the members is in a temporary directory below --out, so that it is on the disk whose
 * fdatasync is measured. It is removed at the end.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Host } from './load/dial.js';
import { htmlReport, readChartLibrary } from './report/html.js';
import { markdownReport } from './report/markdown.js';
import { factsOf, type MeasuredAgain, type Results, type Run } from './report/results.js';
import { scenariosOfTargets } from './report/targets.js';
import { textReport } from './report/text.js';
import { Progress } from './run/progress.js';
import { measuredAgain, missingRuns, requireSameBench } from './run/resume.js';
import { Runner, type RunnerOptions } from './run/runner.js';
import { plannedRuns } from './run/schedule.js';
import { type Settings, settingsOf } from './run/settings.js';
import type { Scenario } from './scenarios/scenario.js';
import { chooseScenarios, SCENARIOS } from './scenarios/table.js';
import { describeMachine, type Machine } from './systems/machine.js';
import { missingFor, type SystemName } from './systems/plan.js';

export interface BenchOptions {
  readonly against?: 'zookeeper';
  readonly baseline?: string;
  readonly connect?: readonly Host[];
  readonly scenarios?: readonly string[];
  readonly targets?: true;
  readonly rounds?: number;
  readonly seconds?: number;
  readonly warmup?: number;
  readonly minutes?: number;
  readonly quick?: true;
  readonly generators: number;
  readonly out?: string;
  readonly resume?: true;
  readonly again?: readonly string[];
  readonly basePort: number;
  readonly profile?: string;
  readonly keep?: true;
  readonly writeResults?: true;
}

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const RESULTS_FILE = 'bench.json';

/** Returns the exit code. */
export async function runBench(options: BenchOptions): Promise<number> {
  const settings = settingsOf({
    rounds: options.rounds,
    seconds: options.seconds,
    warmup: options.warmup,
    minutes: options.minutes,
    quick: options.quick === true,
  });
  if (settings.isQuick && options.writeResults === true) {
    throw new Error('--quick measures nothing that is worth --write-results');
  }
  const { scenarios, skipped } = choose(options);
  const baseline = options.baseline === undefined ? null : resolve(options.baseline);
  const systems = systemsOf(options, baseline);
  const out = resolve(options.out ?? join(REPOSITORY, 'bench', 'out'));
  mkdirSync(out, { recursive: true });
  const names = 'hosts' in systems ? [systems.name] : systems;
  const planned = plannedRuns(scenarios, { settings, systems: names });
  const fresh: Parts = {
    startedAt: new Date().toISOString(),
    resumedAt: [],
    commit: commitOf(REPOSITORY),
    machine: describeMachine(out),
    settings,
    baseline: baseline === null ? null : commitOf(baseline),
    systems: names,
    scenarios,
    skipped,
  };
  const before = resultsToContinue(out, options, fresh);
  const parts = before === null ? fresh : resumed(fresh, before);
  const made = before?.runs ?? [];
  const left = missingRuns(planned, made);
  const directory = mkdtempSync(join(out, 'members-'));
  const isKept = options.keep === true;
  const remove = () => {
    if (!isKept) rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  // A signal also leads here; the hooks of the members' processes end them earlier.
  process.on('exit', remove);
  try {
    const profileDirectory = options.profile === undefined ? null : resolve(options.profile);
    const { basePort, generators } = options;
    const progress = new Progress(left, settings, process.stderr);
    const runner = new Runner(
      { settings, directory, basePort, generators, profileDirectory, systems, baseline, isKept },
      progress,
    );
    const onRuns = (some: readonly Run[]) => writeJson(out, resultsOf(parts, [...made, ...some]));
    const runs = [...made, ...(await runner.runAll(left, onRuns))];
    writeReports(resultsOf(parts, runs), { out, isResults: options.writeResults === true });
    return runs.length < planned.filter(({ round }) => round > 0).length ? 1 : 0;
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function choose(options: BenchOptions): {
  readonly scenarios: readonly Scenario[];
  readonly skipped: readonly string[];
} {
  const names = options.targets === true ? scenariosOfTargets() : options.scenarios;
  const chosen = names === undefined ? SCENARIOS : chooseScenarios(names);
  if (options.connect === undefined) return { scenarios: chosen, skipped: [] };
  const unsupported = chosen.filter((one) => one.needsProcesses || one.members !== 3);
  return {
    scenarios: chosen.filter((one) => !unsupported.includes(one)),
    skipped: unsupported.map(({ name }) => `${name} needs servers that the bench has started`),
  };
}

function systemsOf(
  { connect, against }: BenchOptions,
  baseline: string | null,
): RunnerOptions['systems'] {
  if (connect !== undefined) return { name: 'servers', hosts: connect, ensemble: null };
  const systems: SystemName[] = ['rookery'];
  if (against !== undefined) systems.push(against);
  if (baseline !== null) systems.push('baseline');
  for (const system of systems) {
    const missing = missingFor(system, baseline);
    if (missing !== null) throw new Error(missing);
  }
  return systems;
}

interface Parts {
  readonly startedAt: string;
  readonly resumedAt: readonly string[];
  readonly again?: readonly MeasuredAgain[];
  readonly commit: string;
  readonly baseline: string | null;
  readonly machine: Machine;
  readonly settings: Settings;
  readonly systems: readonly string[];
  readonly scenarios: readonly Scenario[];
  readonly skipped: readonly string[];
}

/** The results to continue from; null for a new bench. */
function resultsToContinue(
  out: string,
  { resume, again: scenarios }: BenchOptions,
  { startedAt: at, commit }: Parts,
): Results | null {
  if (scenarios !== undefined) return measuredAgain(readResults(out), { at, commit, scenarios });
  return resume === true ? readResults(out) : null;
}

/** Keeps the facts of the first start, and how busy the machine was at the busiest start. */
function resumed(fresh: Parts, before: Results): Parts {
  requireSameBench(before, resultsOf(fresh, []));
  const isAgain = before.again?.at(-1)?.at === fresh.startedAt;
  const loadBefore = Math.max(fresh.machine.loadBefore, before.machine.loadBefore);
  return {
    ...fresh,
    startedAt: before.startedAt,
    commit: before.commit,
    again: before.again ?? [],
    resumedAt: [...(before.resumedAt ?? []), ...(isAgain ? [] : [fresh.startedAt])],
    machine: { ...before.machine, loadBefore },
  };
}

function resultsOf({ settings, scenarios, ...parts }: Parts, runs: readonly Run[]): Results {
  const { rounds, seconds, minutes, isQuick } = settings;
  return {
    ...parts,
    settings: { rounds, seconds, minutes, isQuick },
    scenarios: scenarios.map((one) => factsOf(one, one.scale?.at(settings) ?? null)),
    runs,
  };
}

const MEASURED = ['protocol', 'server', 'cli', 'client', 'package-lock.json'];

/** The newest commit that changed what is measured, with a mark if the sources differ from it. */
function commitOf(directory: string): string {
  const git = (...parameters: string[]) =>
    spawnSync('git', parameters, { cwd: directory, encoding: 'utf8' }).stdout?.trim() ?? '';
  const commit = git('log', '-1', '--abbrev=12', '--format=%h', '--', ...MEASURED);
  if (commit === '') return 'unknown';
  const changed = git('status', '--porcelain', '--', ...MEASURED);
  return changed === '' ? commit : `${commit} with changes`;
}

/** Reads the results of a bench that was interrupted. */
function readResults(out: string): Results {
  const file = join(out, RESULTS_FILE);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results;
  } catch (error) {
    throw new Error(`there is nothing to resume in ${file}: ${String(error)}`, { cause: error });
  }
}

/** Writes the whole file or nothing, because a bench may be resumed from it after any end. */
function writeJson(out: string, results: Results): string {
  const file = join(out, RESULTS_FILE);
  writeFileSync(`${file}.new`, `${JSON.stringify(results)}\n`);
  renameSync(`${file}.new`, file);
  return file;
}

function writeReports(
  results: Results,
  to: { readonly out: string; readonly isResults: boolean },
): void {
  const json = writeJson(to.out, results);
  process.stdout.write(textReport(results));
  const html = join(to.out, 'report.html');
  writeFileSync(html, htmlReport(results, readChartLibrary()));
  process.stderr.write(`written: ${json}, ${html}\n`);
  if (!to.isResults) return;
  const file = join(REPOSITORY, 'bench', 'RESULTS.md');
  writeFileSync(file, markdownReport(results));
  process.stderr.write(`written: ${file}\n`);
}
