#!/usr/bin/env node
/**
 * `node bench/dist/compare.js`: Rookery next to Apache ZooKeeper, in turn, on the same machine.
 *
 * Starts both ensembles in a temporary directory, runs each operation alternately on both for
 * several rounds after one that does not count (a JVM compiles first), prints each run and the
 * ratio of medians. Whoever is not measured idles. A change of epoch during a run is an election,
 * and said so. Everything started is stopped, and the directory removed unless --keep.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { failuresOf, type Run, ratioOf, summarize } from './comparison.js';
import { Ensemble, type EnsembleFacts, SYSTEMS, type SystemName } from './ensemble.js';
import type { LoadResult } from './load.js';
import { numberOption, operationsOption, runCommand, UsageError, wholeOption } from './options.js';
import type { OperationName } from './requests.js';

const USAGE = `Usage: node bench/dist/compare.js
  --rounds 3   --seconds 4   --warmup 1
  --operations getData,setData,create,mixed70
  --connections 30   --window 32   --bytes 100
  --only zookeeper|rookery   --base-port 23181
  --profile DIR (CPU profiles of the Rookery members)   --keep   --json`;

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly operations: readonly OperationName[];
  readonly systems: readonly SystemName[];
  /** Handed on to the load's own process. */
  readonly loadArguments: readonly string[];
}

const WARM_UP_ROUND = 0;
const LOAD = fileURLToPath(new URL('./main.js', import.meta.url));
const SYSTEM_PORTS = 500;

await runCommand(USAGE, main);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '4' },
      warmup: { type: 'string', default: '1' },
      operations: { type: 'string', default: 'getData,setData,create,mixed70' },
      connections: { type: 'string', default: '30' },
      window: { type: 'string', default: '32' },
      bytes: { type: 'string', default: '100' },
      only: { type: 'string' },
      'base-port': { type: 'string', default: '23181' },
      profile: { type: 'string' },
      keep: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const { connections, window, bytes, only } = values;
  const settings: Settings = {
    rounds: wholeOption('rounds', values.rounds, { min: 1, max: 100 }),
    seconds: numberOption('seconds', values.seconds, { min: 0.1, max: 3600 }),
    warmupSeconds: numberOption('warmup', values.warmup, { min: 0, max: 3600 }),
    operations: operationsOption(values.operations),
    systems: only === undefined ? SYSTEMS : [systemOption(only)],
    loadArguments: [
      ...['--connections', connections, '--window', window, '--bytes', bytes],
      ...['--seconds', values.seconds, '--warmup', values.warmup],
    ],
  };
  const basePort = wholeOption('base-port', values['base-port'], { min: 1024, max: 60_000 });
  const directory = mkdtempSync(join(tmpdir(), 'rookery-bench-'));
  const ensembles = new Map<SystemName, Ensemble>();
  let isKept = values.keep;
  // The exit hook of each process ends it; without a handler a signal would skip that.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  try {
    for (const [index, system] of settings.systems.entries()) {
      const ensemble = await Ensemble.start({
        system,
        directory: join(directory, system),
        basePort: basePort + index * SYSTEM_PORTS,
        profileDirectory: values.profile ?? null,
      });
      ensembles.set(system, ensemble);
    }
    const runs = await measureAll(settings, ensembles);
    process.stdout.write(values.json ? `${JSON.stringify(asRows(runs))}\n` : table(settings, runs));
  } catch (error) {
    // Whatever a member left behind is what tells why.
    isKept = true;
    throw error;
  } finally {
    for (const ensemble of ensembles.values()) {
      if (ensemble.obituary !== '') console.error(ensemble.obituary);
    }
    await Promise.all([...ensembles.values()].map((ensemble) => ensemble.stop()));
    if (isKept) console.error(`kept ${directory}`);
    else rmSync(directory, { recursive: true, force: true });
  }
}

function systemOption(text: string): SystemName {
  const known = SYSTEMS.find((system) => system === text);
  if (known === undefined) throw new UsageError(`--only ${text}: expected ${SYSTEMS.join(' or ')}`);
  return known;
}

/** By operation, then by system, one run per round. */
type Runs = Map<OperationName, Map<SystemName, Run[]>>;

async function measureAll(
  settings: Settings,
  ensembles: ReadonlyMap<SystemName, Ensemble>,
): Promise<Runs> {
  const runs: Runs = new Map();
  for (let round = WARM_UP_ROUND; round <= settings.rounds; round++) {
    for (const operation of settings.operations) {
      for (const [system, ensemble] of ensembles) {
        const run = await measure(ensemble, operation, settings);
        const label = round === WARM_UP_ROUND ? 'warm-up' : `round ${round}`;
        console.error(`${label} ${system.padEnd(9)} ${describe(run)}`);
        if (round === WARM_UP_ROUND) continue;
        const bySystem = runs.get(operation) ?? new Map<SystemName, Run[]>();
        runs.set(operation, bySystem);
        bySystem.set(system, [...(bySystem.get(system) ?? []), run]);
      }
    }
  }
  return runs;
}

type MeasuredRun = Run & { readonly before: EnsembleFacts; readonly after: EnsembleFacts };

async function measure(
  ensemble: Ensemble,
  operation: OperationName,
  settings: Settings,
): Promise<MeasuredRun> {
  const before = await ensemble.facts();
  const connect = ensemble.hosts.map(({ host, port }) => `${host}:${port}`).join(',');
  const result = await runLoadProcess([
    ...['--connect', connect, '--operation', operation],
    ...settings.loadArguments,
  ]);
  const after = await ensemble.facts();
  // The processor time holds setup and warm-up too; the operations are scaled to the same time.
  const operations = result.perSecond * (result.seconds + settings.warmupSeconds);
  const cpuUsPerOperation = ((after.cpuSeconds - before.cpuSeconds) * 1e6) / operations;
  return { result, cpuUsPerOperation, before, after };
}

function runLoadProcess(parameters: readonly string[]): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const load = spawn(process.execPath, [LOAD, '--json', ...parameters], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const kill = () => load.kill('SIGKILL');
    process.on('exit', kill);
    let output = '';
    load.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    load.on('error', reject);
    load.on('close', () => {
      process.off('exit', kill);
      try {
        resolve(JSON.parse(output) as LoadResult);
      } catch (error) {
        reject(new Error(`the load gave no result: ${output}`, { cause: error }));
      }
    });
  });
}

function describe({ result, cpuUsPerOperation, before, after }: MeasuredRun): string {
  const { latencyMs, generator } = result;
  const parts = [
    result.operation.padEnd(8),
    `${Math.round(result.perSecond)}/s`.padStart(10),
    `p50 ${latencyMs.p50.toFixed(1)} p99 ${latencyMs.p99.toFixed(1)}`,
    `p99.9 ${latencyMs.p999.toFixed(1)} max ${latencyMs.max.toFixed(0)} ms`,
    `silence ${result.longestSilenceMs.toFixed(0)} ms`,
    `server ${cpuUsPerOperation.toFixed(1)} us/op`,
    `generator ${Math.round(generator.cpuShare * 100)} %`,
    `rss ${after.residentBytes.map(megabytes).join('/')} MB`,
    `disk ${megabytes(after.diskBytes)} MB`,
  ];
  if (failuresOf(result) > 0) parts.push(`FAILURES ${JSON.stringify(result.errors)}`);
  if (result.lostConnections > 0) parts.push(`LOST ${result.lostConnections} connections`);
  if (isElectionBetween(before, after)) {
    parts.push(`ELECTION ${epochsOf(before)} -> ${epochsOf(after)}`);
  }
  return parts.join('  ');
}

function asRows(runs: Runs): object[] {
  return [...runs].map(([operation, bySystem]) => ({
    operation,
    ...Object.fromEntries(bySystem),
  }));
}

function table(settings: Settings, runs: Runs): string {
  const lines: string[] = [];
  for (const operation of settings.operations) {
    lines.push(operation);
    for (const system of settings.systems) {
      const summary = summarize(runs.get(operation)?.get(system) ?? []);
      lines.push(
        `  ${system.padEnd(10)}${String(Math.round(summary.perSecond)).padStart(9)}/s` +
          `  p50 ${summary.p50.toFixed(2)}  p99 ${summary.p99.toFixed(1)}` +
          `  p99.9 ${summary.p999.toFixed(1)}  max ${summary.max.toFixed(0)} ms` +
          `  longest silence ${summary.longestSilenceMs.toFixed(0)} ms` +
          `  ${summary.cpuUsPerOperation.toFixed(1)} us/op  failures ${summary.failures}`,
      );
    }
    const measured = runs.get(operation)?.get('rookery');
    const baseline = runs.get(operation)?.get('zookeeper');
    if (measured === undefined || baseline === undefined) continue;
    const ratio = ratioOf(measured, baseline);
    lines.push(
      `  ratio     ${ratio.ofMedians.toFixed(2)} (rounds ${ratio.lowest.toFixed(2)} to ` +
        `${ratio.highest.toFixed(2)})`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** A member shows epoch 0 until the first transaction reaches it: that is no election. */
function isElectionBetween(before: EnsembleFacts, after: EnsembleFacts): boolean {
  return after.members.some((member, index) => {
    const was = before.members[index];
    if (member === null || was === null || was === undefined) return true;
    return member.mode !== was.mode || (was.epoch !== 0 && member.epoch !== was.epoch);
  });
}

function epochsOf(facts: EnsembleFacts): string {
  return facts.members.map((member) => `${member?.mode ?? 'down'}@${member?.epoch ?? '?'}`).join();
}

function megabytes(bytes: number): number {
  return Math.round(bytes / (1 << 20));
}
